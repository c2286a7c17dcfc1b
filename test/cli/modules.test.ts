import { expect, it } from 'vitest'
import { commandTable } from '../../packages/cli/src/program/command-table.ts'
import { skillsteadProcess } from '../support/cli-harness.ts'

/** These commands work on the files of a registry, or on the logs of its upstreams. */
const ofRegistries = new Set(
  'start serve examples import mirror bundle mcp backup restore export doctor gc completion external'.split(' '),
)
const listModules = `import { registerHooks } from 'node:module'
  registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })`
const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(listModules)}` }

it('a command that calls a node does not load database code, because loading it would take most of the time', async () => {
  const byModule = new Map(commandTable.map(({ name }) => [name.split(' ')[0]!, name]))
  const asking = [...byModule].filter(([word]) => !ofRegistries.has(word)).map(([, name]) => name)
  expect(asking).toContain('search')
  for (const name of asking) {
    const { stdout } = await skillsteadProcess([...name.split(' '), '--help'], { env })
    expect(stdout, name).toContain('packages/cli/src/commands/')
    expect(stdout, name).not.toMatch(/better-sqlite3|kysely|packages\/core\/src\/storage/)
  }
})
