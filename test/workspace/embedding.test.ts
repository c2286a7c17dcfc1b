import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFolder, runFile } from '../support/cli-harness.ts'
import { examplesFolder, findDifference, readExample, readShown } from '../support/embedding-page.ts'

const shown = readShown()
/** `bundled.ts` needs the built threads of the published package: `embedding.long.test.ts` runs it. */
const started = shown.filter(({ name, output }) => output !== undefined && name !== 'bundled.ts')

/** The programs share compiled sources, which saves a third of their time. */
const env = { NODE_COMPILE_CACHE: join(tmpdir(), 'compiled-examples') }

describe('the page about embedding', () => {
  it('shows the exact code of every program of examples/embedding', () => {
    expect(Object.fromEntries(shown.map(({ name, code }) => [name, code]))).toEqual(
      Object.fromEntries(shown.map(({ name }) => [name, readExample(name)])),
    )
    const files = readdirSync(join(examplesFolder, 'embedding'))
    expect(shown.map(({ name }) => name).toSorted()).toEqual(files.toSorted())
  })

  // Each takes one or two seconds of processor time, most of it to load the sources.
  it.each(started)('shows the output of $name', async ({ name, output }) => {
    const file = join(examplesFolder, 'embedding', name)
    const options = name.endsWith('.test.ts') ? ['--test', '--test-reporter=spec'] : []
    const [first, ...rest] = [...options, file]
    const { code, stdout, stderr } = await runFile(first!, rest, { cwd: await makeFolder(), env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(findDifference(output, stdout)).toBeUndefined()
  })
})
