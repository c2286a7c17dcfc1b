import { sql, type Compilable, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import { compileQuery, type Param } from './compiled-query.ts'
import type { Database } from './database.ts'
import type { Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'

/** The uses of a list that is a parameter of a compiled query. */
export interface Lists {
  /** Whether the column's text is in the list. */
  has(column: string, list: RawBuilder<Iterable<string>>): RawBuilder<SqlBool>
  /** Whether the column's whole number is in the list. */
  hasNumber(column: string, list: RawBuilder<Iterable<number>>): RawBuilder<SqlBool>
  /** Whether the column's text is not in the list. */
  lacks(column: string, list: RawBuilder<Iterable<string>>): RawBuilder<SqlBool>
  /** A list of lists as a table to select from: `value ->> 0` is the first item of each. */
  table(list: RawBuilder<Iterable<readonly unknown[]>>): RawBuilder<{ value: string }>
}

/**
 * Like {@link compileQuery}, with parameters that are texts or lists. A list is one JSON parameter, which the databases
 * unpack with their own functions. A list of ten items and a list of a thousand therefore have the same statement,
 * which is compiled and prepared once.
 */
export function compileListQuery<Parameters extends { readonly [Name in keyof Parameters]: Iterable<unknown> }, Row>(
  build: (db: Kysely<Tables>, param: Param<Parameters>, lists: Lists) => Compilable<Row>,
) {
  const compiled = {
    sqlite: compileQuery<Parameters, Row>((db, param) => build(db, param, lists.sqlite)),
    postgres: compileQuery<Parameters, Row>((db, param) => build(db, param, lists.postgres)),
  }
  return ({ dialect, read }: Pick<Database, 'dialect' | 'read'>, parameters: Parameters) => {
    const given = Object.entries<Iterable<unknown>>(parameters).map(([name, value]) => [name, toListParameter(value)])
    return compiled[dialect](read, Object.fromEntries(given))
  }
}

function toListParameter(value: Iterable<unknown>): string {
  return typeof value === 'string' ? value : JSON.stringify([...value])
}

/**
 * Whether a column's text is in a list. `in (...)` with a parameter per value would need another prepared statement for
 * each length.
 */
export function isInList(dialect: Dialect, column: string, values: Iterable<string>): RawBuilder<SqlBool> {
  return isInJson[dialect](column, JSON.stringify([...values]))
}

const isInJson: { [K in Dialect]: (column: string, json: unknown) => RawBuilder<SqlBool> } = {
  sqlite: (column, json) => sql`${sql.ref(column)} in (select value from json_each(${json}))`,
  // Not `in (select ...)`: the planner would expect many rows and scan the table instead of using the index.
  postgres: (column, json) => sql`${sql.ref(column)} = any(array(select json_array_elements_text(${json}::json)))`,
}

const lists: { [K in Dialect]: Lists } = {
  sqlite: {
    has: isInJson.sqlite,
    hasNumber: isInJson.sqlite,
    lacks: (column, json) => sql`${sql.ref(column)} not in (select value from json_each(${json}))`,
    table: (json) => sql`(select value from json_each(${json}))`,
  },
  postgres: {
    has: isInJson.postgres,
    hasNumber: (column, json) =>
      sql`${sql.ref(column)} = any(array(select json_array_elements_text(${json}::json)::bigint))`,
    lacks: (column, json) => sql`${sql.ref(column)} not in (select json_array_elements_text(${json}::json))`,
    table: (json) => sql`(select value from json_array_elements(${json}::json))`,
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
