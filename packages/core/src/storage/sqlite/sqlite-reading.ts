import { accessSync, closeSync, constants, openSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { RegistryError } from '@skillstead/protocol'
import type { Connections } from '../connections.ts'
import { configure, connect } from './sqlite.ts'

/**
 * The maximum size of a file that is read into memory. A larger file needs a folder that can be written, or has to be a
 * backup.
 */
const memoryBytesMax = 1024 * 1024 * 1024
/** Offset in the file's header of the two bytes that state its journal mode. */
const modeOffset = 18
const modes = { rollback: 1, writeAheadLog: 2 }

/**
 * Opens an existing SQLite file without changing it. A file with a write-ahead log needs the index of the log, the file
 * `-shm` next to it. If SQLite can create the index, other processes may write and their changes are seen. A file that
 * cannot be written, or whose folder cannot be written, is read into memory instead, and later changes are not seen:
 * better-sqlite3 is compiled without SQLite's URIs, so the option `immutable` is not available. A file with a rollback
 * journal, such as a backup, is always read in place.
 */
export function openSqliteForReading(path: string): Connections {
  // SQLite creates its files next to the target of a symbolic link.
  const file = realpathSync(path)
  const log = findFileSize(`${file}-wal`)
  const isInMemory = log === undefined && !canCreateNextTo(file) && hasWriteAheadLog(file)
  const database = isInMemory ? openInMemory(file) : openInPlace(file, log ?? 0)
  const db = connect(database)
  return {
    dialect: 'sqlite',
    main: db,
    read: db,
    async close() {
      await db.destroy()
      removeLog(file)
    },
  }
}

function openInPlace(file: string, logBytes: number): SqliteDatabase.Database {
  try {
    return configured(new SqliteDatabase(file, { readonly: true }))
  } catch (error) {
    if (!isCannotOpen(error)) throw error
    if (logBytes === 0) return openInMemory(file)
    throw new RegistryError(
      'needs_write',
      `${file} has changes in the file ${file}-wal that cannot be read, because its folder cannot be written. ` +
        "Open it once with the mode 'write' where the folder can be written, or use a backup.",
      { cause: error },
    )
  }
}

/**
 * Opens a copy of the file in memory. Throws `needs_write` for a file that is too large. Closing a file releases all
 * locks of this process on the file (POSIX), but no other connection of this process can have this file open, because
 * that connection would need the write-ahead log.
 */
function openInMemory(file: string): SqliteDatabase.Database {
  const before = statSync(file)
  if (before.size > memoryBytesMax) {
    throw new RegistryError(
      'needs_write',
      `${file} is in a folder that cannot be written and has more than ${memoryBytesMax} bytes. Open it where the ` +
        'folder can be written, or use a backup, which has no write-ahead log.',
    )
  }
  const bytes = readFileSync(file)
  const after = statSync(file)
  if (after.mtimeMs !== before.mtimeMs || after.size !== before.size || findFileSize(`${file}-wal`)) {
    throw Object.assign(new Error('another process wrote to the file while it was read'), { code: 'SQLITE_BUSY' })
  }
  // A database in memory cannot have a write-ahead log.
  bytes.fill(modes.rollback, modeOffset, modeOffset + 2)
  return configured(new SqliteDatabase(bytes, { readonly: true }))
}

function configured(database: SqliteDatabase.Database): SqliteDatabase.Database {
  try {
    configure(database)
    // The folder for temporary files may not be writable either.
    database.pragma('temp_store = memory')
    // SQLite opens the write-ahead log at the first read.
    database.prepare('select 1 from sqlite_schema').get()
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Removes an empty write-ahead log and its index, which a read-only connection creates but cannot remove. SQLite
 * removes them when a connection that can write is closed, unless another connection is open. A log with changes stays.
 */
function removeLog(file: string): void {
  if (findFileSize(`${file}-wal`) !== 0) return
  let database: SqliteDatabase.Database | undefined
  try {
    database = new SqliteDatabase(file, { fileMustExist: true, timeout: 0 })
    database.prepare('select 1 from sqlite_schema').get()
  } catch {
    // Ignore the failure: the files that remain contain no data.
  } finally {
    database?.close()
  }
}

function canCreateNextTo(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    accessSync(dirname(file), constants.W_OK)
    return true
  } catch {
    return false
  }
}

function hasWriteAheadLog(file: string): boolean {
  const [mode, descriptor] = [Buffer.alloc(1), openSync(file, 'r')]
  try {
    readSync(descriptor, mode, 0, 1, modeOffset)
  } finally {
    closeSync(descriptor)
  }
  return mode[0] === modes.writeAheadLog
}

function isCannotOpen(error: unknown): boolean {
  return error instanceof SqliteDatabase.SqliteError && error.code.startsWith('SQLITE_CANTOPEN')
}

/** The size of a file; undefined if it does not exist. */
function findFileSize(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size
}
