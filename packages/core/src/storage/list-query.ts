import { sql, type Compilable, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import { compilePositional } from './compiled-query.ts'
import type { Database } from './database.ts'
import type { Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'

/** Placeholders for lists in a query that is compiled before the lists are known, in the order of its parameters. */
export interface Lists {
  /** Whether the column's text is in a list. */
  has(column: string): RawBuilder<SqlBool>
  /** Whether the column's text is not in a list. */
  lacks(column: string): RawBuilder<SqlBool>
  /** A list of lists as a table to select from: `value ->> 0` is the first item of each. */
  table(): RawBuilder<{ value: string }>
}

/**
 * Like {@link compilePositional}, for queries with lists. A list is one JSON parameter, which the databases unpack with
 * their own functions. A list of ten items and a list of a thousand therefore have the same statement, which is
 * compiled and prepared once.
 */
export function keepListQuery<Row>(build: (db: Kysely<Tables>, lists: Lists) => Compilable<Row>) {
  const compiled = {
    sqlite: compilePositional<Row>((db) => build(db, lists.sqlite)),
    postgres: compilePositional<Row>((db) => build(db, lists.postgres)),
  }
  return ({ dialect, read }: Pick<Database, 'dialect' | 'read'>, ...parameters: (string | Iterable<unknown>)[]) =>
    compiled[dialect](
      read,
      ...parameters.map((value) => (typeof value === 'string' ? value : JSON.stringify([...value]))),
    )
}

/**
 * Whether a column's text is in a list. `in (...)` with a parameter per value would need another prepared statement for
 * each length.
 */
export function isInList(dialect: Dialect, column: string, values: Iterable<string>): RawBuilder<SqlBool> {
  const json = JSON.stringify([...values])
  return dialect === 'sqlite'
    ? sql`${sql.ref(column)} in (select value from json_each(${json}))`
    : // For a set the planner expects many rows and would scan the table instead of using the index.
      sql`${sql.ref(column)} = any(array(select json_array_elements_text(${json}::json)))`
}

const list = '[]'

const lists: { [K in Dialect]: Lists } = {
  sqlite: {
    has: (column) => isInList('sqlite', column, []),
    lacks: (column) => sql`${sql.ref(column)} not in (select value from json_each(${list}))`,
    table: () => sql`(select value from json_each(${list}))`,
  },
  postgres: {
    has: (column) => isInList('postgres', column, []),
    lacks: (column) => sql`${sql.ref(column)} not in (select json_array_elements_text(${list}::json))`,
    table: () => sql`(select value from json_array_elements(${list}::json))`,
  },
}

/**
 * Numbers by id as a table of `id` and `n`, to update many rows with one statement of constant text: one JSON parameter
 * that the database unpacks.
 */
export function toCountTable(dialect: Dialect, counts: ReadonlyMap<string, number>): RawBuilder<unknown> {
  const json = JSON.stringify(Object.fromEntries(counts))
  return dialect === 'sqlite'
    ? sql`(select key as id, value as n from json_each(${json}))`
    : sql`(select key as id, value::bigint as n from json_each_text(${json}::json))`
}

/**
 * Rows as a table with named columns, for one statement that inserts or updates many; see {@link toCountTable}. Missing
 * fields are null.
 */
export function toRowTable<Name extends string>(
  dialect: Dialect,
  columns: Readonly<Record<Name, 'text' | 'whole'>>,
  rows: readonly Readonly<Record<Name, string | number | null>>[],
): RawBuilder<unknown> {
  const json = JSON.stringify(rows)
  const fields = Object.entries(columns).map(([name, type]) => {
    const field = sql`value ->> ${sql.lit(name)}`
    return sql`${dialect === 'postgres' && type === 'whole' ? sql`(${field})::bigint` : field} as ${sql.ref(name)}`
  })
  return dialect === 'sqlite'
    ? sql`(select ${sql.join(fields)} from json_each(${json}))`
    : sql`(select ${sql.join(fields)} from json_array_elements(${json}::json))`
}
