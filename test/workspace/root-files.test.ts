import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

it('.nvmrc names the Node that package.json pins', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: { node: string } }
  expect(read('.nvmrc').trim()).toBe(devDependencies.node)
})

it('the GitHub workflow runs .ci/run, as other CI services do', () => {
  expect(read('.github/workflows/ci.yml')).toMatch(/^ +- run: \.ci\/run$/m)
})
