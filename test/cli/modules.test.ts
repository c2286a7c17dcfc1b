import { expect, it } from 'vitest'
import { commandTable } from '../../packages/cli/src/program/command-table.ts'
import { makeFolder, runFile } from '../support/cli-harness.ts'

/** These commands work on the files of a registry, or on the logs of its upstreams. */
const ofRegistries = new Set(
  'start serve examples import mirror bundle mcp backup restore export doctor gc blobs completion external'.split(' '),
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
  const database = /better-sqlite3|kysely|packages\/core\/src\/storage|cyclonedx/
  expect(stdout.split('\n').filter((line) => line.startsWith('file:') && database.test(line))).toEqual([])
})

/** Serves until the node listens, and prints the modules that it loaded. */
const serve = `const { run } = await import(process.env.RUN)
  const { processIo } = await import(process.env.IO)
  const ending = new AbortController()
  const stop = setInterval(() => ending.abort(), 50)
  await run(process.env.ARGS.split(' '), { ...processIo, interruption: () => ending.signal })
  clearInterval(stop)`

it('a node loads the sign-in by an identity provider, and the client of a bucket, only with their settings', async () => {
  const data = await makeFolder()
  const start = async (...settings: string[]) => {
    const ARGS = ['serve', '--port', '0', '--data', data, ...settings].join(' ')
    const programs = { RUN: `${source}run.ts`, IO: `${source}process-io.ts`, ARGS }
    const { stdout } = await runFile('--input-type=module', ['--eval', serve], { env: { ...env, ...programs } })
    expect(stdout).toContain('Skillstead listens on')
    expect(stdout, 'is loaded when a bill of materials is read').not.toContain('cyclonedx')
    return stdout
      .split('\n')
      .filter((line) =>
        /packages\/identity\/|storage\/bucket\/|node_modules\/(?:openid-client|oauth4webapi|aws4fetch)\//.test(line),
      )
  }
  expect(await start()).toEqual([])
  const settings = ['--sign-in-issuer', 'https://login.example.com', '--sign-in-client', 'skillstead']
  expect((await start(...settings)).length).toBeGreaterThan(3)
})
