import { expect, it } from 'vitest'
import { commandTable } from '../../packages/cli/src/program/command-table.ts'
import { runFile } from '../support/cli-harness.ts'

/** These commands work on the files of a registry, or on the logs of its upstreams. */
const ofRegistries = new Set(
  'start serve examples import mirror bundle mcp backup restore export doctor gc completion external'.split(' '),
)
const source = new URL('../../packages/cli/src/', import.meta.url).href
const listModules = `import { registerHooks } from 'node:module'
  registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })`
const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(listModules)}` }

/** Asks for the help of each command in turn, in one process: its modules are those of all of them. */
const showHelp = `const { run } = await import(process.env.RUN)
  const { processIo } = await import(process.env.IO)
  for (const name of process.env.NAMES.split(',')) await run([...name.split(' '), '--help'], processIo)`

it('the commands that call a node do not load database code, because loading it would take most of the time', async () => {
  const byModule = new Map(commandTable.map(({ name }) => [name.split(' ')[0]!, name]))
  const asking = [...byModule].filter(([word]) => !ofRegistries.has(word)).map(([, name]) => name)
  expect(asking).toContain('search')
  const programs = { RUN: `${source}run.ts`, IO: `${source}process-io.ts`, NAMES: asking.join(',') }
  const { stdout } = await runFile('--input-type=module', ['--eval', showHelp], { env: { ...env, ...programs } })
  for (const name of asking) expect(stdout).toMatch(new RegExp(`^Usage: skillstead ${name}\\b`, 'm'))
  expect(stdout).toContain(`${source}commands/`)
  const database = /better-sqlite3|kysely|packages\/core\/src\/storage/
  expect(stdout.split('\n').filter((line) => line.startsWith('file:') && database.test(line))).toEqual([])
})
