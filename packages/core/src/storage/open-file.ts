import SqliteDatabase from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { memoiseStatements } from './sqlite.ts'
import type { Tables } from './tables.ts'

const cacheKibibytes = 65_536

/** Opens an existing SQLite file read-only, without migration. Throws if it does not exist. */
export function openFileForReading(path: string): Kysely<Tables> {
  const database = new SqliteDatabase(path, { readonly: true, fileMustExist: true })
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
}

/** Opens an SQLite file without a journal, for filling a new file that is deleted if filling fails. */
export function openFileForFilling(path: string): Kysely<Tables> {
  const database = new SqliteDatabase(path)
  database.pragma('journal_mode = OFF')
  database.pragma('synchronous = OFF')
  database.pragma('foreign_keys = ON')
  database.pragma(`cache_size = -${cacheKibibytes}`)
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: memoiseStatements(database) }) })
}
