import { existsSync } from 'node:fs'
import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import pRetry from 'p-retry'
import type { Connections } from './connections.ts'
import type { Dialect } from './dialect.ts'
import type { Listener } from './postgres.ts'
import { migrate } from './migrate.ts'
import type { SchemaExtension } from './migrations/migration.ts'
import { openSqlite } from './sqlite.ts'
import { isBusy, toOpeningError } from './storage-error.ts'
import type { Tables } from './tables.ts'
import { createWriter, type Writer } from './writer.ts'

/** Where a registry is stored: in one SQLite file, or in a PostgreSQL database. */
export interface DatabaseLocation {
  /** An SQLite file; `:memory:` for one that ends with the process. */
  readonly path?: string
  /** What to do if the file does not exist: `create` it, or reject with `no_registry`. Default: `create`. */
  readonly mode?: 'create' | 'write'
  /** `postgres://...`. Exactly one of `path` and `databaseUrl` is required. */
  readonly databaseUrl?: string
}

export interface OpenDatabaseOptions extends DatabaseLocation {
  /** Packages that have tables of their own in the database. Default: none. */
  readonly extensions?: readonly SchemaExtension[]
}

export interface Database {
  readonly dialect: Dialect
  readonly read: Kysely<Tables>
  readonly writer: Writer
  /** Path of the SQLite file; undefined for an in-memory database and on PostgreSQL. */
  readonly path?: string
  /** See {@link Connections.listen}. */
  listen?(onNotice: () => void): Listener
  /** See {@link Connections.compact}. Call it only while this process is not writing. */
  compact?(): Promise<void>
  close(): Promise<void>
}

/** Opens the database and migrates its schema. Throws a `RegistryError` with a sentence if it cannot be used. */
export async function openDatabase(location: OpenDatabaseOptions): Promise<Database> {
  const { path, mode } = location
  if (path !== undefined && path !== ':memory:' && mode === 'write' && !existsSync(path)) {
    throw new RegistryError(
      'no_registry',
      `There is no registry at ${path}. Check the path; the mode 'create' creates a registry.`,
    )
  }
  // Another process may be creating or migrating the same file.
  const untilUnlocked = { retries: 40, minTimeout: 5, maxTimeout: 250 }
  try {
    return await pRetry(() => openOnce(location), { ...untilUnlocked, shouldRetry: ({ error }) => isBusy(error) })
  } catch (error) {
    throw toOpeningError(error, path)
  }
}

async function openOnce(location: OpenDatabaseOptions): Promise<Database> {
  const connections = await openConnections(location)
  try {
    await migrate(connections.main, connections.dialect, location.extensions)
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
      await writer.drain()
      await connections.close()
    },
  }
}

async function openConnections({ path, databaseUrl }: DatabaseLocation): Promise<Connections> {
  if (databaseUrl !== undefined && path === undefined) return connectPostgres(databaseUrl)
  if (path !== undefined && databaseUrl === undefined) return openSqlite(path)
  throw new TypeError('Pass exactly one of `path` and `databaseUrl`.')
}

/** Opens a PostgreSQL database. The driver is loaded on use: most registries are stored in an SQLite file. */
export async function connectPostgres(databaseUrl: string): Promise<Connections> {
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres(databaseUrl)
}
