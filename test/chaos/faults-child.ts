import { isMainThread, type Worker } from 'node:worker_threads'
import SqliteDatabase from 'better-sqlite3'
import pg from 'pg'
import { onInspectOrder } from '../support/inspect-threads.ts'
import { stateVariable, type MachineChanged, type MachineState } from './machine.ts'

/*
 * Loaded into the process of a node before the node's own code (`--import`). Simulates machine faults that another
 * process cannot cause: clock jumps, slow commits, a full database and threads that end. The node's code is unchanged.
 */

const pagesMax = 1_073_741_823
const state: { -readonly [Key in keyof MachineState]: MachineState[Key] } = {
  clockMs: 0,
  commitMs: 0,
  isFull: false,
  threadKills: 0,
  ...(JSON.parse(process.env[stateVariable] ?? '{}') as Partial<MachineState>),
}
const written = new Set<SqliteDatabase.Database>()

let killedThreads = 0

shiftClock()
slowDown()
onInspectOrder(endThread)
if (isMainThread && process.send) {
  process.on('message', (change: Partial<MachineState>) => {
    Object.assign(state, change)
    for (const database of written) limitPages(database)
    process.send!({ killedThreads } satisfies MachineChanged)
    killedThreads = 0
  })
  // The IPC channel does not keep the node alive, and the node exits when its parent process is gone.
  process.channel?.unref()
  process.once('disconnect', () => process.exit(1))
}

/** The thread ends before it can answer the order. */
function endThread(thread: Worker): void {
  if (state.threadKills === 0) return
  state.threadKills -= 1
  killedThreads += 1
  void thread.terminate()
}

function shiftClock(): void {
  const now = Date.now.bind(Date)
  Date.now = () => now() + state.clockMs
  globalThis.Date = new Proxy(Date, {
    construct: (target, given, newTarget) => {
      const time = given.length === 0 ? [target.now()] : given
      return Reflect.construct(target, time, newTarget) as object
    },
  })
}

function slowDown(): void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const prototype = SqliteDatabase.prototype as SqliteDatabase.Database
  const prepare = prototype.prepare
  prototype.prepare = function (this: SqliteDatabase.Database, sql: string) {
    remember(this)
    const statement = prepare.call(this, sql)
    if (sql !== 'commit') return statement
    const run = statement.run.bind(statement) as (...given: unknown[]) => SqliteDatabase.RunResult
    // Block the thread: SQLite's own sync blocks it too.
    statement.run = (...given: unknown[]) => {
      if (state.commitMs > 0) Atomics.wait(cell, 0, 0, state.commitMs)
      return run(...given)
    }
    return statement
  } as typeof prepare

  const client = pg.Client.prototype as unknown as { query: (...given: unknown[]) => unknown }
  const query = client.query
  client.query = function (...given: unknown[]) {
    if (given[0] !== 'commit' || state.commitMs === 0) return query.apply(this, given)
    return new Promise((resolve) => setTimeout(resolve, state.commitMs)).then(() => query.apply(this, given))
  }
}

function remember(database: SqliteDatabase.Database): void {
  if (database.readonly || database.memory || written.has(database)) return
  written.add(database)
  limitPages(database)
}

function limitPages(database: SqliteDatabase.Database): void {
  if (!database.open) return void written.delete(database)
  const pages = state.isFull ? Number(database.pragma('page_count', { simple: true })) : pagesMax
  database.pragma(`max_page_count = ${pages}`)
}
