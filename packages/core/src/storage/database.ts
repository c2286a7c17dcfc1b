import type { Kysely } from 'kysely'
import pRetry from 'p-retry'
import type { Connections } from './connections.ts'
import type { Dialect } from './dialect.ts'
import type { Listener } from './listener.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import { isBusy } from './storage-error.ts'
import type { Tables } from './tables.ts'
import { createWriter, type Writer } from './writer.ts'

/** Where a registry keeps everything: one SQLite file, or a PostgreSQL database. */
export interface DatabaseLocation {
  /** An SQLite file, made where there is none; `:memory:` for one that ends with the process. */
  readonly path?: string
  /** `postgres://...`. One of the two is needed. */
  readonly databaseUrl?: string
}

export interface Database {
  readonly dialect: Dialect
  readonly read: Kysely<Tables>
  readonly writer: Writer
  /** The SQLite file; undefined for what is in memory alone, and on PostgreSQL. */
  readonly path?: string
  /** See {@link Connections.listen}. */
  listen?(onNotice: () => void): Listener
  /** See {@link Connections.compact}; to be called while nothing is written by this process. */
  compact?(): Promise<void>
  close(): Promise<void>
}

/** Opens the database and brings its schema up to date. Throws a sentence when it cannot be used. */
export async function openDatabase(location: DatabaseLocation): Promise<Database> {
  // Another process may be making or migrating the same file at this moment.
  const untilUnlocked = { retries: 40, minTimeout: 5, maxTimeout: 250 }
  return pRetry(() => openOnce(location), { ...untilUnlocked, shouldRetry: ({ error }) => isBusy(error) })
}

async function openOnce(location: DatabaseLocation): Promise<Database> {
  const connections = openConnections(location)
  try {
    await migrate(connections.main, connections.dialect)
  } catch (error) {
    await connections.close()
    throw error
  }
  const writer = createWriter(connections)
  return {
    dialect: connections.dialect,
    read: connections.read,
    writer,
    ...(connections.listen && { listen: connections.listen }),
    ...(connections.compact && { compact: connections.compact }),
    ...(location.path !== undefined && location.path !== ':memory:' && { path: location.path }),
    async close() {
      await writer.settle()
      await connections.close()
    },
  }
}

function openConnections({ path, databaseUrl }: DatabaseLocation): Connections {
  if (databaseUrl !== undefined && path === undefined) return openPostgres(databaseUrl)
  if (path !== undefined && databaseUrl === undefined) return openSqlite(path)
  throw new TypeError('A registry is opened on a `path` or on a `databaseUrl`, one of the two.')
}
