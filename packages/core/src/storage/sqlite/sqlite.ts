import { closeSync, openSync } from 'node:fs'
import SqliteDatabase from 'better-sqlite3'
import { Kysely, sql as query } from 'kysely'
import { type Checkpoints, createCheckpoints } from './checkpoints.ts'
import type { Connections } from '../connections.ts'
import { createSqliteDialect } from './sqlite-driver.ts'
import type { Tables } from '../tables.ts'

/**
 * Waiting for another process's lock blocks the thread, so the timeout is short; the writer retries without blocking.
 */
const busyTimeoutMs = 50
const cacheKibibytes = 8_192
/**
 * Number of pages in the write-ahead log that trigger a checkpoint. A checkpoint delays the commit that runs it: a
 * lower number slows publishing down, a higher number makes each checkpoint longer. If a thread runs checkpoints,
 * commits only run one when the thread is too slow.
 */
const checkpointPages = { alone: 2000, withThread: 8000 }

/**
 * Size to which SQLite truncates the write-ahead log after a checkpoint: its normal size. The log grows as long as a
 * read transaction is open, and would otherwise keep the size that an export of a busy node caused.
 */
const journalBytesMax = 64 * 1024 * 1024

/** Opens an SQLite file, and creates it if it does not exist. `:memory:` is a database that ends with the process. */
export function openSqlite(path: string): Connections {
  if (path !== ':memory:') createFile(path)
  const database = openFile(path)
  // An in-memory database belongs to its connection: a second connection would open another database.
  const reading = path === ':memory:' ? undefined : openSecond(database)
  const checkpoints = reading && beginCheckpoints(database)
  const main = connect(database, checkpoints?.committed)
  const read = reading ? connect(reading) : main
  return {
    dialect: 'sqlite',
    main,
    read,
    async compact() {
      await checkpoints?.stop()
      await query`vacuum`.execute(main)
      // Move the rewritten pages from the write-ahead log to the file.
      await query`pragma wal_checkpoint(truncate)`.execute(main)
    },
    async close() {
      if (read !== main) await read.destroy()
      await checkpoints?.stop()
      await main.destroy()
    },
  }
}

/** Opens a second connection, for reading. If that fails, closes the first connection. */
function openSecond(database: SqliteDatabase.Database): SqliteDatabase.Database {
  try {
    return openFile(database.name, { readonly: true })
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Creates the file readable only by its owner: it contains private skills and secrets. SQLite gives the journal the
 * same mode.
 */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // The file exists already, or SQLite will report why it cannot be opened.
  }
}

function openFile(path: string, options: { readonly?: boolean } = {}): SqliteDatabase.Database {
  const database = new SqliteDatabase(path, options)
  try {
    configure(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Sets the options of a connection. Sets the options of the journal only on a connection that can write. */
export function configure(database: SqliteDatabase.Database): void {
  database.pragma(`busy_timeout = ${busyTimeoutMs}`)
  database.pragma(`cache_size = -${cacheKibibytes}`)
  if (database.readonly) return
  database.pragma('journal_mode = WAL')
  // FULL: a confirmed write survives a power failure, not only a crash of the process.
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma(`wal_autocheckpoint = ${checkpointPages.alone}`)
  database.pragma(`journal_size_limit = ${journalBytesMax}`)
}

function beginCheckpoints(database: SqliteDatabase.Database): Checkpoints {
  const share = (pages: number) => void database.pragma(`wal_autocheckpoint = ${pages}`)
  const checkpoints = createCheckpoints(database.name, () => share(checkpointPages.alone))
  share(checkpointPages.withThread)
  return checkpoints
}

/** A query builder over an open connection. */
export function connect(database: SqliteDatabase.Database, onCommit: () => void = () => {}): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: createSqliteDialect(database, onCommit) })
}

const fillCacheKibibytes = 65_536

/** Opens an SQLite file without a journal, for filling a new file that is deleted if filling fails. */
export function openFileForFilling(path: string): Kysely<Tables> {
  const database = new SqliteDatabase(path)
  database.pragma('journal_mode = OFF')
  database.pragma('synchronous = OFF')
  database.pragma('foreign_keys = ON')
  database.pragma(`cache_size = -${fillCacheKibibytes}`)
  return connect(database)
}
