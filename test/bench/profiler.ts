import { Session } from 'node:inspector/promises'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type Sqlite from 'better-sqlite3'

const intervalMicroseconds = 250

/** What a statement of SQLite took while a profile was recorded. */
export interface StatementTime {
  readonly sql: string
  readonly count: number
  /** With the time in which it waited for the disk or for the processor. */
  readonly ms: number
  readonly cpuMs: number
}

/** Records the CPU profile of this thread, and the time of each statement of SQLite. */
export async function startProfile(): Promise<{ stop(file: string): Promise<StatementTime[]> }> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: intervalMicroseconds })
  const statements = timeStatements()
  await session.post('Profiler.start')
  return {
    async stop(file) {
      const { profile } = await session.post('Profiler.stop')
      session.disconnect()
      writeFileSync(file, JSON.stringify(profile))
      return statements.stop()
    },
  }
}

type Timed = Record<'all' | 'run', (this: Sqlite.Statement, ...parameters: unknown[]) => unknown>

/** The driver of SQLite that core has. */
export function requireSqlite(): typeof Sqlite {
  return createRequire(new URL('../../packages/core/package.json', import.meta.url))('better-sqlite3') as typeof Sqlite
}

/** Replaces the methods that run statements, for as long as they are timed. */
function timeStatements() {
  const Database = requireSqlite()
  const database = new Database(':memory:')
  const methods = Object.getPrototypeOf(database.prepare('select 1')) as Timed
  database.close()
  const { all, run } = methods
  const times = new Map<string, Omit<StatementTime, 'sql'>>()
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

/** The processor time of this thread in milliseconds. */
export function readThreadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
