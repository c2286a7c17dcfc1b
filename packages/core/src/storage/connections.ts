import type { Kysely } from 'kysely'
import type { Dialect } from './dialect.ts'
import type { Listener } from './postgres.ts'
import type { Tables } from './tables.ts'

/** Open connections to a database of one dialect. */
export interface Connections {
  readonly dialect: Dialect
  /** For reads; on SQLite a connection of its own, so that writes do not delay them. */
  readonly read: Kysely<Tables>
  /** The one connection (on PostgreSQL the pool) that the writer uses. */
  readonly main: Kysely<Tables>
  /** Calls back when any process committed a change. Where it is missing, changes have to be polled. */
  listen?(onNotice: () => void): Listener
  /** Rewrites an SQLite file without its free pages; every other writer waits. */
  compact?(): Promise<void>
  close(): Promise<void>
}
