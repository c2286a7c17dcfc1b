import { Session } from 'node:inspector/promises'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type Sqlite from 'better-sqlite3'
import type pg from 'pg'

const intervalMicroseconds = 250

/** What a statement took while a profile was recorded. */
export interface StatementTime {
  readonly sql: string
  readonly count: number
  /**
   * With the time in which it waited for the disk or for the processor. On PostgreSQL from the result before it on the same
   * connection, or from when it was sent if that was later, to its own result.
   */
  readonly ms: number
  /** Of SQLite, which runs in the thread of its caller. */
  readonly cpuMs?: number
}

/** Records the CPU profile of this thread, and the time of each statement of SQLite and of PostgreSQL. */
export async function startProfile(): Promise<{ stop(file: string): Promise<StatementTime[]> }> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: intervalMicroseconds })
  const timers = [timeSqlite(), timePostgres()]
  await session.post('Profiler.start')
  return {
    async stop(file) {
      const { profile } = await session.post('Profiler.stop')
      session.disconnect()
      writeFileSync(file, JSON.stringify(profile))
      return timers.flatMap((timer) => timer.stop())
    },
  }
}

type Timed = Record<'all' | 'run', (this: Sqlite.Statement, ...parameters: unknown[]) => unknown>

const requireOfCore = createRequire(new URL('../../packages/core/package.json', import.meta.url))

/** The driver of SQLite that core has. */
export function requireSqlite(): typeof Sqlite {
  return requireOfCore('better-sqlite3') as typeof Sqlite
}

/** Replaces the methods that run statements, for as long as they are timed. */
function timeSqlite() {
  const Database = requireSqlite()
  const database = new Database(':memory:')
  const methods = Object.getPrototypeOf(database.prepare('select 1')) as Timed
  database.close()
  const { all, run } = methods
  const times = new Map<string, { count: number; ms: number; cpuMs: number }>()
  const timed = (method: Timed['all']): Timed['all'] =>
    function timedStatement(...parameters) {
      const [startedMs, startedCpuMs] = [performance.now(), readThreadCpuMs()]
      try {
        return method.apply(this, parameters)
      } finally {
        const { count, ms, cpuMs } = times.get(this.source) ?? { count: 0, ms: 0, cpuMs: 0 }
        const took = { ms: ms + performance.now() - startedMs, cpuMs: cpuMs + readThreadCpuMs() - startedCpuMs }
        times.set(this.source, { count: count + 1, ...took })
      }
    }
  Object.assign(methods, { all: timed(all), run: timed(run) })
  return {
    stop() {
      Object.assign(methods, { all, run })
      return [...times].map(([sql, time]) => ({ sql, ...time })).toSorted((a, b) => b.cpuMs - a.cpuMs)
    },
  }
}

type Query = (this: object, text: string | { text: string }, ...values: unknown[]) => Promise<unknown>

/** Replaces the method of a connection to PostgreSQL that sends a statement, for as long as statements are timed. */
function timePostgres() {
  const methods = (requireOfCore('pg') as typeof pg).Client.prototype as unknown as { query: Query }
  const { query } = methods
  const times = new Map<string, { count: number; ms: number }>()
  const answeredMs = new WeakMap<object, number>()
  methods.query = function timedQuery(text, ...values) {
    const sentMs = performance.now()
    const result = query.call(this, text, ...values)
    const record = () => {
      const nowMs = performance.now()
      const sql = typeof text === 'string' ? text : text.text
      const { count, ms } = times.get(sql) ?? { count: 0, ms: 0 }
      times.set(sql, { count: count + 1, ms: ms + nowMs - Math.max(sentMs, answeredMs.get(this) ?? 0) })
      answeredMs.set(this, nowMs)
    }
    result.then(record, record)
    return result
  }
  return {
    stop() {
      methods.query = query
      return [...times].map(([sql, time]) => ({ sql, ...time })).toSorted((a, b) => b.ms - a.ms)
    },
  }
}

/** The processor time of this thread in milliseconds. */
export function readThreadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
