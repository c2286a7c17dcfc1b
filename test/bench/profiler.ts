import { Session } from 'node:inspector/promises'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type Sqlite from 'better-sqlite3'

const intervalMicroseconds = 250

/** The time that a statement of SQLite took while a profile was recorded. */
export interface StatementTime {
  readonly sql: string
  readonly count: number
  readonly ms: number
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

/** Replaces the methods that run statements, for as long as they are timed. */
function timeStatements() {
  const requireFromCore = createRequire(new URL('../../packages/core/package.json', import.meta.url))
  const Database = requireFromCore('better-sqlite3') as typeof Sqlite
  const database = new Database(':memory:')
  const methods = Object.getPrototypeOf(database.prepare('select 1')) as Timed
  database.close()
  const { all, run } = methods
  const times = new Map<string, { count: number; ms: number }>()
  const timed = (method: Timed['all']): Timed['all'] =>
    function timedStatement(...parameters) {
      const startedMs = performance.now()
      try {
        return method.apply(this, parameters)
      } finally {
        const time = times.get(this.source) ?? { count: 0, ms: 0 }
        times.set(this.source, { count: time.count + 1, ms: time.ms + performance.now() - startedMs })
      }
    }
  Object.assign(methods, { all: timed(all), run: timed(run) })
  return {
    stop() {
      Object.assign(methods, { all, run })
      return [...times].map(([sql, time]) => ({ sql, ...time })).toSorted((a, b) => b.ms - a.ms)
    },
  }
}
