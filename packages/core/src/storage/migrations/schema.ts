import { sql, type CreateTableBuilder, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { Dialect } from '../dialect.ts'
import type { Tables } from '../tables.ts'

/** Builds tables and indexes in a database of either dialect, with one set of names for the types of columns. */
export type Schema = ReturnType<typeof createSchema>

type NewTable = CreateTableBuilder<string, string>

export function createSchema(db: Kysely<Tables>, dialect: Dialect) {
  const isSqlite = dialect === 'sqlite'
  return {
    bytes: isSqlite ? ('blob' as const) : ('bytea' as const),
    /** The default of a column of bytes that starts empty. */
    empty: isSqlite ? sql`x''` : sql`''`,
    fraction: isSqlite ? ('real' as const) : ('double precision' as const),
    /** A primary key that the database counts up by itself. */
    number: isSqlite ? ('integer' as const) : ('bigserial' as const),
    /** Text in the order of its code points, whatever the locale of the database: for lists in the order of names. */
    orderedText: isSqlite ? ('text' as const) : sql`text collate "C"`,
    /** A time in milliseconds needs more than the 32 bits of PostgreSQL's `integer`. */
    whole: isSqlite ? ('integer' as const) : ('bigint' as const),
    /** SQLite checks the types of values in strict tables only. */
    table(name: string): NewTable {
      const builder = db.schema.createTable(name)
      return isSqlite ? builder.modifyEnd(sql`strict`) : builder
    },
    /** A table of short rows that are always reached by their key: SQLite stores them in the tree of the key. */
    keyedTable(name: string): NewTable {
      const builder = db.schema.createTable(name)
      return isSqlite ? builder.modifyEnd(sql`strict, without rowid`) : builder
    },
    /** An index of all rows, or of those that match `where`. */
    async index(name: string, table: string, columns: string[], where?: Expression<SqlBool>): Promise<void> {
      const builder = db.schema.createIndex(name).on(table).columns(columns)
      await (where ? builder.where(where) : builder).execute()
    },
  }
}
