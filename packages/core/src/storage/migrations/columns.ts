import { sql, type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely } from 'kysely'
import type { Dialect } from '../database.ts'
import type { Tables } from '../tables.ts'

export const required = (column: ColumnDefinitionBuilder) => column.notNull()
export const primary = (column: ColumnDefinitionBuilder) => column.primaryKey().notNull()
/** A number that begins at 0, or a flag that begins unset. */
export const zero = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0)
export const unique = (column: ColumnDefinitionBuilder) => column.notNull().unique()
export const to = (reference: string) => (column: ColumnDefinitionBuilder) => column.notNull().references(reference)
export const maybeTo = (reference: string) => (column: ColumnDefinitionBuilder) => column.references(reference)

/** The names of types that the two databases call differently, and tables that hold to their columns' types. */
export function columnsOf(db: Kysely<Tables>, dialect: Dialect) {
  return {
    bytes: dialect === 'sqlite' ? ('blob' as const) : ('bytea' as const),
    // A time in milliseconds does not fit 32 bits, and PostgreSQL takes `integer` at its word.
    whole: dialect === 'sqlite' ? ('integer' as const) : ('bigint' as const),
    fraction: dialect === 'sqlite' ? ('real' as const) : ('double precision' as const),
    /** Text whose order is that of its code points, wherever the database is: lists in the order of names. */
    orderedText: dialect === 'sqlite' ? ('text' as const) : sql`text collate "C"`,
    table(name: string): CreateTableBuilder<string, string> {
      const builder = db.schema.createTable(name)
      return dialect === 'sqlite' ? builder.modifyEnd(sql`strict`) : builder
    },
    /** A table of short rows that are always reached by their key: kept in its order, without a second tree. */
    keyedTable(name: string): CreateTableBuilder<string, string> {
      const builder = db.schema.createTable(name)
      return dialect === 'sqlite' ? builder.modifyEnd(sql`strict, without rowid`) : builder
    },
  }
}
