import type { Kysely } from 'kysely'
import type { Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'

/** Open connections to a database of one dialect. */
export interface Connections {
  readonly dialect: Dialect
  /** Connections for reads. On SQLite this is a separate connection, so that writes do not delay reads. */
  readonly read: Kysely<Tables>
  /** The one connection (on PostgreSQL the pool) that the writer uses. */
  readonly main: Kysely<Tables>
  /** Calls back when any process commits a change. Undefined if the caller has to poll for changes. */
  listen?(onNotice: () => void): Listener
  /** Rewrites an SQLite file without its free pages; every other writer waits. */
  compact?(): Promise<void>
  close(): Promise<void>
}

/** Receives notifications of commits while the connection is open. */
export interface Listener {
  /** Whether the listener is connected and receives notifications. */
  readonly isUp: boolean
  stop(): Promise<void>
}
