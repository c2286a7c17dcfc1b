import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toChildEnvironment } from '../support/child-environment.ts'
import { sample } from '../support/long.ts'
import { examplesFolder, findDifference, readShown } from '../support/embedding-page.ts'
import { install, nodes, packAll } from '../support/packages.ts'

const run = promisify(execFile)
const packed = ['protocol', 'skill-format', 'scanner', 'client', 'core', 'mirror', 'maintenance']
const started = readShown().filter(({ output }) => output !== undefined)

/** A program that runs the examples, and its arguments before the file of a program and of tests. */
interface Runtime {
  readonly name: string
  /** Undefined if this machine does not have it. */
  readonly path: string | undefined
  readonly program: readonly string[]
  readonly tests: readonly string[]
}

/** Bun and Deno take 200 MB, so the workspace does not install them. */
function findInPath(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
}

const runtimes: readonly Runtime[] = [
  ...nodes.map(({ major, path }) => ({
    name: `Node ${major}`,
    path: existsSync(path) ? path : undefined,
    program: [],
    tests: ['--test', '--test-reporter=spec'],
  })),
  { name: 'Bun', path: findInPath('bun'), program: [], tests: ['test'] },
  { name: 'Deno', path: findInPath('deno'), program: ['run', '-A'], tests: ['test', '-A'] },
]

/** Bun replaces the letters of other alphabets in regular expressions by escapes, which the scanner has to undo. */
const scanning = `import { scanInThread } from '@skillstead/scanner'
const text = '# Чай\\n\\nOpen tea.zip (пароль: a1b2c3d4).\\n'
const { verdict, findings, cut } = await scanInThread([{ path: 'SKILL.md', text }], 0)
console.log(JSON.stringify({ verdict, rules: findings.map(({ ruleId }) => ruleId), cut }))
process.exit()
`

let scratch: string
let consumer: string

beforeAll(async () => {
  scratch = await realpath(await mkdtemp(join(tmpdir(), 'skillstead-embedding-')))
  consumer = join(scratch, 'consumer')
  await install(await packAll(scratch, packed), consumer, packed)
  for (const name of ['better-sqlite3', 'esbuild', 'pg']) {
    const installed = join(import.meta.dirname, '../node_modules', name)
    await symlink(await realpath(installed), join(consumer, 'node_modules', name))
  }
  await mkdir(join(consumer, 'examples'))
  for (const folder of ['embedding', 'skills']) {
    await cp(join(examplesFolder, folder), join(consumer, 'examples', folder), { recursive: true })
  }
  await writeFile(join(consumer, 'scanning.mjs'), scanning)
}, 300_000)
afterAll(() => rm(scratch, { recursive: true, force: true }))

/** Runs a file of the consumer in a folder of its own, from which its packages are found. */
async function startFile(path: string, args: readonly string[], file: string): Promise<string> {
  const cwd = await mkdtemp(join(consumer, 'run-'))
  const env = toChildEnvironment({ HOME: scratch, NO_COLOR: '1' })
  const { stdout } = await run(path, [...args, join(consumer, file)], { cwd, env, timeout: 100_000 })
  return stdout
}

for (const { name, path, program, tests } of runtimes) {
  const reason = path === undefined ? ', which is not in the PATH of this machine' : ''
  describe.skipIf(path === undefined)(`the packed packages with ${name}${reason}`, () => {
    it.each(sample(started, 3))('run the example $name', async ({ name: file, output }) => {
      const isTests = file.endsWith('.test.ts')
      const stdout = await startFile(path!, isTests ? tests : program, `examples/embedding/${file}`)
      // Bun and Deno report tests in other words; they fail if a test does.
      const isComparable = !isTests || name.startsWith('Node')
      expect(isComparable ? findDifference(output, stdout) : undefined).toBeUndefined()
    })

    it('report the finding in a text with Cyrillic letters', async () => {
      const rules = ['password-archive']
      expect(JSON.parse(await startFile(path!, program, 'scanning.mjs'))).toEqual({
        verdict: 'caution',
        rules,
        cut: [],
      })
    })
  })
}
