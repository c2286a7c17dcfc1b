import { sql } from 'kysely'
import type { Connections } from './connections.ts'
import type { Database } from './database.ts'
import { toRegistryError } from './storage-error.ts'
import { SilentError, withinMs } from './within-ms.ts'

const subject = 'The replica'

/** How long a read waits for the replica to have what the primary has, in milliseconds. Then it reads the primary. */
const patienceMs = 100
const askAgainMs = 4
/** How long a read of the replica may take, in milliseconds. Then it is repeated on the primary. */
const readMsMax = 5_000
/** How long all reads use the primary after the replica was late, and after it failed, in milliseconds. */
const lateMs = 1_000
const failedMs = 5_000
/** How long a stop waits for the connections of the replica, in milliseconds. */
const closeMsMax = 1_000

/**
 * A streaming replica of a PostgreSQL database, for lists and searches. Lists and searches see all that was committed
 * before they began, as on the primary: each waits, at most for `patienceMs`, until the replica has replayed the
 * current position of the primary's log.
 */
export class Replica {
  /** The database with `read` connected to the replica, and all other parts of the primary. */
  readonly database: Database
  readonly #main: Database
  readonly #connections: Connections
  readonly #onError: (error: unknown) => void
  #pausedUntilMs = 0
  #running: Promise<boolean> | undefined
  #next: Promise<boolean> | undefined
  /** Number of reads of the replica, and of reads that used the primary because the replica was late or failed. */
  readonly counts = { used: 0, refused: 0 }

  constructor(main: Database, connections: Connections, onError: (error: unknown) => void) {
    this.database = { ...main, read: connections.read }
    this.#main = main
    this.#connections = connections
    this.#onError = onError
  }

  /** Runs a read on the replica, or on the primary if the replica is late or fails. */
  async read<Output>(work: (database: Database) => Promise<Output>): Promise<Output> {
    if (!(await this.#isCurrent())) {
      this.counts.refused += 1
      return work(this.#main)
    }
    try {
      const output = await withinMs(subject, readMsMax, work(this.database))
      this.counts.used += 1
      return output
    } catch (error) {
      // Errors such as a lost connection, or a row version that the replica no longer has.
      if (!(error instanceof SilentError) && toRegistryError(error) === error) throw error
      this.#fail(error)
      this.counts.refused += 1
      return work(this.#main)
    }
  }

  async close(): Promise<void> {
    await withinMs(subject, closeMsMax, this.#connections.close()).catch(() => {})
  }

  /** Whether the replica may be read. Calls that come while the databases are asked share the next query. */
  #isCurrent(): Promise<boolean> {
    if (performance.now() < this.#pausedUntilMs) return Promise.resolve(false)
    return (this.#next ??= this.#askAfter(this.#running))
  }

  async #askAfter(running: Promise<boolean> | undefined): Promise<boolean> {
    await running
    this.#running = this.#next
    this.#next = undefined
    // The previous query may have found that the replica is late or unavailable.
    if (performance.now() < this.#pausedUntilMs) return false
    try {
      const isCurrent = await this.#ask()
      if (!isCurrent) this.#pausedUntilMs = performance.now() + lateMs
      return isCurrent
    } catch (error) {
      this.#fail(error)
      return false
    }
  }

  async #ask(): Promise<boolean> {
    const { rows: main } = await sql<Position>`select ${name} as name,
      cast(case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
        else pg_current_wal_flush_lsn() end as text) as at`.execute(this.#main.read)
    const { at, name: expected } = main[0]!
    const deadline = performance.now() + patienceMs
    do {
      const asked = sql<Position & { has: boolean | null }>`select ${name} as name,
        case when pg_is_in_recovery() then pg_last_wal_replay_lsn() >= cast(${at} as pg_lsn) end as has`
      const { rows } = await withinMs(subject, patienceMs, asked.execute(this.#connections.read))
      const { has, name: found } = rows[0]!
      if (found !== expected || has === null)
        throw new Error('The database for reads (--database-read-url) is no streaming replica of --database-url.')
      if (has) return true
      await new Promise((resolve) => setTimeout(resolve, askAgainMs))
    } while (performance.now() < deadline)
    return false
  }

  #fail(error: unknown): void {
    this.#pausedUntilMs = performance.now() + failedMs
    this.#onError(error)
  }
}

interface Position {
  /** The server identifier, equal on all replicas but not on a server with a copy, and the name of the database. */
  readonly name: string
  readonly at: string
}

const name = sql`(select system_identifier from pg_control_system()) || ' ' || current_database()`
