import {
  sql,
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  type Generated,
  type SchemaModule,
  type SqlBool,
} from 'kysely'
import type { Dialect } from '../dialect.ts'

/** A column of a table; `Value` is the type of its values in a row, the same on both databases. */
export interface Column<Value> {
  readonly type: keyof typeof types
  readonly isOptional?: boolean
  readonly isPrimary?: boolean
  readonly isUnique?: boolean
  /** The default value for rows that are inserted without one. */
  readonly initially?: string | number
  /** The column that a foreign key refers to, such as `skills.id`. */
  readonly target?: string
  /** Whether deleting the referenced row also deletes this row. */
  readonly isCascading?: boolean
  /** Carries the type of the column's values, and is never set. */
  readonly value?: Value
}

type Columns = Readonly<Record<string, Column<unknown>>>

/** The type of the column of each kind on both databases. */
const types = {
  text: { sqlite: 'text', postgres: 'text' },
  orderedText: { sqlite: 'text', postgres: sql`text collate "C"` },
  whole: { sqlite: 'integer', postgres: 'bigint' },
  fraction: { sqlite: 'real', postgres: 'double precision' },
  bytes: { sqlite: 'blob', postgres: 'bytea' },
  serial: { sqlite: 'integer', postgres: 'bigserial' },
} as const

export const text: Column<string> = { type: 'text' }
/** Text in the order of its code points, whatever the locale of the database: for lists in the order of names. */
export const orderedText: Column<string> = { type: 'orderedText' }
/** A whole number. A time in milliseconds needs more than the 32 bits of PostgreSQL's `integer`. */
export const whole: Column<number> = { type: 'whole' }
export const fraction: Column<number> = { type: 'fraction' }
export const bytes: Column<Uint8Array> = { type: 'bytes' }
/** A primary key that the database counts up by itself. */
export const serial: Column<Generated<number>> = { type: 'serial', isPrimary: true }
/** A count that starts at 0, or a flag that is not set. */
export const zero = startsAs(0, whole)

/** Text that is one of a few words; only the compiler checks that. */
export function oneOf<Word extends string>(): Column<Word> {
  return { type: 'text' }
}

/** A foreign key that refers to a column of text, such as `skills.id`. */
export function to(target: string, options: { readonly isCascading?: true } = {}): Column<string> {
  return { type: 'text', target, ...options }
}

/** A column that may be null. */
export function optional<Value>(column: Column<Value>): Column<Value | null> {
  return { ...column, isOptional: true } as Column<Value | null>
}

export function primary<Value>(column: Column<Value>): Column<Value> {
  return { ...column, isPrimary: true }
}

export function unique<Value>(column: Column<Value>): Column<Value> {
  return { ...column, isUnique: true }
}

/** A column with a default value. The default of bytes is `no bytes`. */
export function startsAs<Value>(initially: string | number, column: Column<Value>): Column<Value> {
  return { ...column, initially }
}

/** A column with a default whose value an insert may omit. */
export function generated<Value>(column: Column<Value>): Column<Generated<Value>> {
  return column as Column<Generated<Value>>
}

/** A table with its keys and indexes: the source of both the database's table and the type of its rows. */
export class Table<C extends Columns> {
  readonly columns: C
  readonly isKeyed: boolean
  primaryKey?: string[]
  uniqueKey?: { readonly name: string; readonly columns: string[] }
  readonly indexes: { readonly name: string; readonly columns: string[]; readonly where?: string }[] = []

  constructor(columns: C, isKeyed = false) {
    this.columns = columns
    this.isKeyed = isKeyed
  }

  /** Sets a primary key of several columns. */
  key(columns: Name<C>[]): this {
    this.primaryKey = columns
    return this
  }

  unique(name: string, columns: Name<C>[]): this {
    this.uniqueKey = { name, columns }
    return this
  }

  /** Adds an index of all rows, or of those that match `where`, which is SQL. */
  index(name: string, columns: (Name<C> | `${Name<C>} desc`)[], where?: string): this {
    this.indexes.push({ name, columns, ...(where !== undefined && { where }) })
    return this
  }
}

type Name<C> = keyof C & string

export function table<C extends Columns>(columns: C): Table<C> {
  return new Table(columns)
}

/** A table of short rows that are always read by their key: SQLite stores them in the tree of the key. */
export function keyedTable<C extends Columns>(columns: C): Table<C> {
  return new Table(columns, true)
}

type TableSet = Readonly<Record<string, Table<Columns>>>

/** The types of the rows of tables. */
export type RowsOf<Set> = {
  [T in keyof Set]: Set[T] extends Table<infer C>
    ? { -readonly [K in keyof C]: Exclude<C[K]['value'], undefined> }
    : never
}

interface Db {
  readonly schema: SchemaModule
}

/** Creates tables with their indexes, in their order: PostgreSQL needs a table before the tables that refer to it. */
export async function createTables({ schema }: Db, dialect: Dialect, tables: TableSet): Promise<void> {
  for (const [name, added] of Object.entries(tables)) {
    let builder: CreateTableBuilder<string, string> = schema.createTable(name)
    for (const [columnName, column] of Object.entries(added.columns)) {
      builder = builder.addColumn(columnName, types[column.type][dialect], (built) => define(built, column, dialect))
    }
    const { primaryKey, uniqueKey } = added
    if (primaryKey) builder = builder.addPrimaryKeyConstraint(`${name}_key`, primaryKey)
    if (uniqueKey) builder = builder.addUniqueConstraint(uniqueKey.name, uniqueKey.columns)
    // SQLite checks the types of values in strict tables only.
    if (dialect === 'sqlite') builder = builder.modifyEnd(added.isKeyed ? sql`strict, without rowid` : sql`strict`)
    await builder.execute()
    for (const { name: indexName, columns, where } of added.indexes) {
      const index = schema.createIndex(indexName).on(name).columns(columns)
      await (where === undefined ? index : index.where(sql.raw<SqlBool>(where))).execute()
    }
  }
}

function define(built: ColumnDefinitionBuilder, column: Column<unknown>, dialect: Dialect): ColumnDefinitionBuilder {
  const { type, isOptional, isPrimary, isUnique, target, isCascading, initially } = column
  // The two databases write empty bytes differently.
  const initial = initially === 'no bytes' ? sql.raw(dialect === 'sqlite' ? "x''" : "''") : initially
  if (isPrimary) built = built.primaryKey()
  if (!isOptional && type !== 'serial') built = built.notNull()
  if (isUnique) built = built.unique()
  if (initial !== undefined) built = built.defaultTo(initial)
  if (target !== undefined) built = built.references(target)
  return isCascading ? built.onDelete('cascade') : built
}
