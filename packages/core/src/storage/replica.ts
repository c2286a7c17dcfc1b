import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Connections } from './connections.ts'
import type { Database } from './database.ts'
import { toRegistryError } from './storage-error.ts'

/** How long a read waits for the replica to have what the primary has, in milliseconds. Then it reads the primary. */
const patienceMs = 100
const askAgainMs = 4
/** How long all reads use the primary after the replica was late, and after it failed, in milliseconds. */
const lateMs = 1_000
const failedMs = 5_000

/** The name of a database: a replica must have the same. */
interface Name {
  readonly origin: string
  readonly epoch: number
}

/**
 * A streaming replica of a PostgreSQL database, for lists and searches. They see all that was committed before they
 * began, as on the primary: each waits until the replica has replayed the current position of the primary's log, for a
 * moment at most.
 */
export class Replica {
  /** The database, of which the replica answers the reads. */
  readonly database: Database
  readonly #main: Database
  readonly #connections: Connections
  readonly #name: Name
  readonly #onError: (error: unknown) => void
  #pausedUntilMs = 0
  #running: Promise<boolean> | undefined
  #next: Promise<boolean> | undefined
  /** Reads of the replica, and those that used the primary because the replica was late or failed. */
  readonly counts = { used: 0, refused: 0 }

  constructor(main: Database, connections: Connections, name: Name, onError: (error: unknown) => void) {
    this.database = { ...main, read: connections.read }
    this.#main = main
    this.#connections = connections
    this.#name = name
    this.#onError = onError
  }

  /** Runs a read on the replica, or on the primary if the replica is late or fails. */
  async read<Output>(work: (database: Database) => Promise<Output>): Promise<Output> {
    if (!(await this.#isCurrent())) {
      this.counts.refused += 1
      return work(this.#main)
    }
    try {
      const output = await work(this.database)
      this.counts.used += 1
      return output
    } catch (error) {
      // Such as a lost connection, or a row version that the replica no longer has.
      if (toRegistryError(error) === error) throw error
      this.#fail(error)
      this.counts.refused += 1
      return work(this.#main)
    }
  }

  close(): Promise<void> {
    return this.#connections.close()
  }

  /** Calls that come while the databases are asked share the next question. */
  #isCurrent(): Promise<boolean> {
    if (performance.now() < this.#pausedUntilMs) return Promise.resolve(false)
    return (this.#next ??= this.#askAfter(this.#running))
  }

  async #askAfter(running: Promise<boolean> | undefined): Promise<boolean> {
    await running
    this.#running = this.#next
    this.#next = undefined
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
    const { rows: head } = await sql<{ at: string }>`select cast(pg_current_wal_flush_lsn() as text) as at`.execute(
      this.#main.read,
    )
    const { at } = head[0]!
    const deadline = performance.now() + patienceMs
    do {
      const { rows } = await sql<{ has: boolean | null; origin: string; epoch: string }>`select
        case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end
          >= cast(${at} as pg_lsn) as has,
        (select value from meta where key = 'origin') as origin,
        (select value from meta where key = 'epoch') as epoch`.execute(this.#connections.read)
      const { has, origin, epoch } = rows[0]!
      if (has) {
        if (origin === this.#name.origin && Number(epoch) === this.#name.epoch) return true
        throw new Error(
          `The database for reads has the log '${origin}', so it is no replica of '${this.#name.origin}'.`,
        )
      }
      await sleep(askAgainMs)
    } while (performance.now() < deadline)
    return false
  }

  #fail(error: unknown): void {
    this.#pausedUntilMs = performance.now() + failedMs
    this.#onError(error)
  }
}
