import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { makeFolder, runFile, startServerProcess } from '../support/cli-harness.ts'
import { finishFile } from '../support/file-end.ts'
import { toCommand } from '../support/line-reporter.ts'
import { runSql, takeDatabase } from '../support/postgres-databases.ts'
import { makeRunFolder } from '../support/run-folder.ts'

/** A temporary folder that several runs share. */
async function makeParent(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'skillstead-parent-'))
  onTestFinished(() => rm(parent, { recursive: true, force: true }))
  return parent
}

/** A child process of the run that owns the folder. */
async function startChild(folder: string): Promise<ChildProcess> {
  const child = spawn('sleep', ['600'], { env: { PATH: process.env.PATH, TMPDIR: folder } })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child
}

describe.skipIf(!existsSync('/proc/self/stat'))('the temporary folder of a test run', () => {
  it('replaces the folders and processes of ended runs, and keeps those of active runs', async () => {
    const [namespace, pid, start] = basename(await makeRunFolder(await makeParent()))
      .split('-')
      .slice(2)
    const parent = await makeParent()
    const own = `skillstead-run-${namespace}-${pid}-${start}`
    // The process of the ended run had the same id earlier.
    const ended = `skillstead-run-${namespace}-${pid}-${Number(start) - 1}`
    const thisRun = basename(tmpdir())
    const others = [thisRun, `skillstead-run-1-${pid}-1`, 'skillstead-run-notes', 'skillstead-data']
    for (const name of [ended, ...others]) await mkdir(join(parent, name))
    await writeFile(join(parent, ended, 'skills.db'), '')
    const orphan = await startChild(join(parent, ended))
    const orphanExit = once(orphan, 'exit')
    const child = await startChild(join(parent, thisRun))

    expect(await makeRunFolder(parent)).toBe(join(parent, own))

    expect(await orphanExit).toEqual([null, 'SIGTERM'])
    expect((await readdir(parent)).toSorted()).toEqual([own, ...others].toSorted())
    expect([child.exitCode, child.signalCode]).toEqual([null, null])
  })
})

describe('processes that tests start', () => {
  it('write to the temporary folder of the run', async () => {
    const folder = await makeFolder()
    const file = join(folder, 'print.ts')
    await writeFile(file, "import { tmpdir } from 'node:os'\nprocess.stdout.write(tmpdir())\n")
    expect(await runFile(file, [])).toEqual({ code: 0, stdout: tmpdir(), stderr: '' })
  })

  it('end with the test file that started them', async () => {
    const folder = await makeFolder()
    const { url, stop } = await startServerProcess(['serve', '--port', '0', '--data', join(folder, 'data')])
    onTestFinished(() => void stop('SIGKILL'))
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await finishFile()
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed')
  })
})

const isMissing = inject('postgresUrl') === null
describe.skipIf(isMissing)(`a PostgreSQL database${isMissing ? ': skipped, for it could not be started' : ''}`, () => {
  it.each([
    ['a type', 'alter table users alter column created_at type numeric'],
    ['a column that may be null', 'alter table users alter column username drop not null'],
    ['a default', "alter table users alter column username set default 'x'"],
    ['an index', 'drop index skills_starred; create index skills_starred on skills (stars, full_name) where stars > 1'],
    ['a constraint', 'alter table users add constraint extra check (created_at > 0)'],
    ['a function', "create function extra() returns int language sql as 'select 1'"],
  ])('is not reused if its schema was changed: %s', async (_, change) => {
    const server = inject('postgresUrl')!
    const taken = await takeDatabase(server)
    await runSql(taken.databaseUrl, change)
    await taken.giveBack()
    const next = await takeDatabase(server)
    expect(next.databaseUrl).not.toBe(taken.databaseUrl)
    await next.giveBack()
    expect((await takeDatabase(server)).databaseUrl, 'unchanged').toBe(next.databaseUrl)
    await next.giveBack()
  })
})

describe('the command that repeats a failed test', () => {
  it.each(['rejects $HOME, "x" and `y` (a\\b)', 'übernimmt [1, 2] 🎉', 'two\nlines'])(
    'selects the test %j',
    (title) => {
      const name = `API > ${title}`
      const [, file, pattern] =
        /^SKILLSTEAD_TEST_SEED=\d+ (?:SKILLSTEAD_TEST_SAMPLE=\d+ )?npx --yes pnpm@12 \S+ (\S+) -t "([^"$`]+)"$/.exec(
          toCommand('test/x.test.ts', name),
        )!
      expect(file).toBe('test/x.test.ts')
      expect(name).toMatch(new RegExp(`^${pattern}$`))
    },
  )
})
