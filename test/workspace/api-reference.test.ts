import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const main = join(import.meta.dirname, '../reference/main.ts')

it('the API reference has a docstring for each exported name and each method', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--check'])
  expect(stdout).toBe('')
})
