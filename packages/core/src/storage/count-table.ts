import { sql, type RawBuilder } from 'kysely'
import type { Dialect } from './database.ts'

/**
 * Numbers by id as a table of `id` and `n`, to change many rows with one statement whose text stays the same: one
 * parameter of JSON, which the two databases take apart by functions of their own.
 */
export function toCountTable(dialect: Dialect, counts: ReadonlyMap<string, number>): RawBuilder<unknown> {
  const json = JSON.stringify(Object.fromEntries(counts))
  return dialect === 'sqlite'
    ? sql`(select key as id, value as n from json_each(${json}))`
    : sql`(select key as id, value::bigint as n from json_each_text(${json}::json))`
}
