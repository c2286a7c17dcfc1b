import SqliteDatabase from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { memoiseStatements } from './sqlite.ts'
import type { Tables } from './tables.ts'

const cacheKibibytes = 65_536

/** Opens an existing SQLite file for reading alone; it is not migrated. Throws when there is none. */
export function openFileForReading(path: string): Kysely<Tables> {
  const database = new SqliteDatabase(path, { readonly: true, fileMustExist: true })
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
}

/** Opens a SQLite file without a journal, for a new file that is thrown away when filling it fails. */
export function openFileForFilling(path: string): Kysely<Tables> {
  const database = new SqliteDatabase(path)
  database.pragma('journal_mode = OFF')
  database.pragma('synchronous = OFF')
  database.pragma('foreign_keys = ON')
  database.pragma(`cache_size = -${cacheKibibytes}`)
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: memoiseStatements(database) }) })
}
