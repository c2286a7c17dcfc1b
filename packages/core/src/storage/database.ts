import { statSync } from 'node:fs'
import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import pRetry from 'p-retry'
import type { Bucket, MarkObject } from './bucket/bucket.ts'
import type { BucketOptions } from './bucket/s3-objects.ts'
import type { Connections, Listener } from './connections.ts'
import type { Dialect } from './dialect.ts'
import { migrate, requireCurrentSchema } from './migrate.ts'
import type { SchemaExtension } from './migrations/migration.ts'
import { openSqliteForReading } from './sqlite/sqlite-reading.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import { isRepeatable, toOpeningError } from './storage-error.ts'
import type { Tables } from './tables.ts'
import { BatchWriter, closedWriter, type WriteOptions, type Writer, type WriteTransaction } from './writer.ts'

/** Where a registry is stored: in one SQLite file, or in a PostgreSQL database. */
export interface DatabaseLocation {
  /** An SQLite file; `:memory:` for one that ends with the process. */
  readonly path?: string
  /**
   * `create` creates the database if it does not exist, and is the default: pass another mode where a mistyped path
   * must be an error. `write` rejects with `no_registry` if the file does not exist. `read` rejects in the same case,
   * and changes nothing: no schema is migrated, no job runs, and each write rejects with `read_only`. The mode `read`
   * also opens a file without write permission, in a folder that cannot be written or on a read-only disk; such a file
   * is read into memory, up to 1 GiB, and later changes of the file are not seen. A backup is read in place.
   */
  readonly mode?: 'create' | 'write' | 'read'
  /** `postgres://...`. Exactly one of `path` and `databaseUrl` is required. */
  readonly databaseUrl?: string
  /**
   * The bucket of the large files, of any service that speaks the S3 API. New large files are moved there soon after
   * they are stored; `skillstead blobs move` moves those that the database has. Every process needs the bucket once it
   * has files. Default: all files are in the database.
   */
  readonly blobs?: BucketOptions | undefined
}

export interface OpenDatabaseOptions extends DatabaseLocation {
  /** Packages that have tables of their own in the database. Default: none. */
  readonly extensions?: readonly SchemaExtension[]
}

export interface Database {
  readonly dialect: Dialect
  /** Whether the database was opened with the mode `read`: writes reject, and uses are not recorded. */
  readonly isReadOnly: boolean
  readonly read: Kysely<Tables>
  readonly writer: Writer
  /** Where large files are. Undefined if all are in the database. */
  readonly bucket?: Bucket
  /** Path of the SQLite file; undefined for an in-memory database and on PostgreSQL. */
  readonly path?: string
  /** See {@link Connections.listen}. */
  listen?(onNotice: () => void): Listener
  /** See {@link Connections.compact}. Call it only while this process is not writing. */
  compact?(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the database and, unless it is opened for reading, migrates its schema. Throws a `RegistryError` with a
 * sentence if the database cannot be used.
 */
export async function openDatabase(location: OpenDatabaseOptions): Promise<Database> {
  const { path, mode } = location
  if (path !== undefined) requireFile(path, mode)
  // Another process may be creating or migrating the same file.
  const untilUnlocked = { retries: 40, minTimeout: 5, maxTimeout: 250 }
  try {
    return await pRetry(() => openOnce(location), { ...untilUnlocked, shouldRetry: ({ error }) => isRepeatable(error) })
  } catch (error) {
    throw toOpeningError(error, path)
  }
}

/** Throws if the path cannot be that of a registry in this mode. */
function requireFile(path: string, mode: DatabaseLocation['mode']): void {
  if (path === ':memory:') {
    if (mode !== 'read') return
    throw new TypeError("A database in memory is empty, so it cannot be opened with the mode 'read'. Omit the mode.")
  }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) {
    throw new RegistryError('not_a_registry', `${path} is a folder, not a registry. Pass the path of a file.`)
  }
  if (found === undefined && (mode === 'write' || mode === 'read')) {
    throw new RegistryError(
      'no_registry',
      `There is no registry at ${path}. Check the path; the mode 'create' creates a registry.`,
    )
  }
}

/**
 * Runs one statement that changes rows on which no other write depends. On PostgreSQL the statement neither waits for
 * the lock that all writers of all nodes take, nor holds it.
 */
export function writeApart<T>(
  { dialect, isReadOnly, read, writer }: Database,
  statement: (db: Kysely<Tables>) => Promise<T>,
  options?: WriteOptions,
): Promise<T> {
  return dialect === 'postgres' && !isReadOnly ? statement(read) : writer.write(statement, options)
}

async function openOnce(location: OpenDatabaseOptions): Promise<Database> {
  const isReadOnly = location.mode === 'read'
  const connections = await openConnections(location)
  const writer = isReadOnly ? closedWriter : new BatchWriter(connections)
  let bucket: Bucket | undefined
  try {
    const prepare = isReadOnly ? requireCurrentSchema : migrate
    await prepare(connections.main, connections.dialect, location.extensions)
    bucket = location.blobs && (await openBucket(location.blobs, (digest, place) => markObject(writer, digest, place)))
  } catch (error) {
    await connections.close()
    throw error
  }
  return {
    dialect: connections.dialect,
    isReadOnly,
    read: connections.read,
    writer,
    ...(bucket && { bucket }),
    ...(connections.listen && { listen: connections.listen }),
    ...(connections.compact && { compact: connections.compact }),
    ...(location.path !== undefined && location.path !== ':memory:' && { path: location.path }),
    async close() {
      await writer.drain()
      await bucket?.objects.close()
      await connections.close()
    },
  }
}

async function openConnections({ path, databaseUrl, mode }: DatabaseLocation): Promise<Connections> {
  const isReadOnly = mode === 'read'
  if (databaseUrl !== undefined && path === undefined) return connectPostgres(databaseUrl, isReadOnly)
  if (path !== undefined && databaseUrl === undefined) return isReadOnly ? openSqliteForReading(path) : openSqlite(path)
  throw new TypeError('Pass exactly one of `path` and `databaseUrl`.')
}

/** Opens the bucket of large files. Its client is loaded on use: most registries have none. */
export async function openBucket(options: BucketOptions, mark?: MarkObject): Promise<Bucket> {
  const [{ Bucket: Opened }, { S3Objects }] = await Promise.all([
    import('./bucket/bucket.ts'),
    import('./bucket/s3-objects.ts'),
  ])
  return new Opened(new S3Objects(options), mark)
}

/**
 * Stores where an object is. Not awaited: readers do not wait for writes. If the write fails, the next reader of the
 * object repeats the write.
 */
function markObject(writer: Writer, digest: string, place: 'bucket' | 'lost'): void {
  const before = place === 'lost' ? 'bucket' : 'lost'
  const mark = (trx: WriteTransaction) =>
    trx.updateTable('blobs').set({ place }).where('digest', '=', digest).where('place', '=', before).execute()
  writer.write(mark, { bulk: true }).catch(() => {})
}

/** Opens a PostgreSQL database. The driver is loaded on use: most registries are stored in an SQLite file. */
export async function connectPostgres(databaseUrl: string, isReadOnly = false): Promise<Connections> {
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres(databaseUrl, isReadOnly)
}
