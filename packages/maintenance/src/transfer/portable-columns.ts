import { sql, type Kysely } from 'kysely'
import type { Dialect, Tables } from '@skillstead/core/internal'

/** Value types that exist in SQLite and in PostgreSQL. */
export type ColumnType = 'integer' | 'real' | 'text' | 'bytes'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly isNullable: boolean
}

/** The type of each column type of SQLite and PostgreSQL. */
const types: Readonly<Record<string, ColumnType>> = {
  integer: 'integer',
  bigint: 'integer',
  real: 'real',
  'double precision': 'real',
  text: 'text',
  blob: 'bytes',
  bytea: 'bytes',
}

/** The columns of a table in the order of their creation; empty if there is no such table. */
export async function readColumns(db: Kysely<Tables>, dialect: Dialect, table: string): Promise<Column[]> {
  const { rows } = await (dialect === 'sqlite' ? selectSqlite(table) : selectPostgres(table)).execute(db)
  return rows.map(({ name, type, required }) => {
    const known = types[type.toLowerCase()]
    if (!known) throw new TypeError(`The column ${table}.${name} has the type ${type}, which cannot be exported.`)
    return { name, type: known, isNullable: !required }
  })
}

interface FoundColumn {
  readonly name: string
  readonly type: string
  readonly required: number | boolean
}

function selectSqlite(table: string) {
  // An integer primary key is never null, even if it is not declared as `not null`.
  return sql<FoundColumn>`select name, type, max("notnull", pk > 0) as required from pragma_table_info(${table})
    order by cid`
}

function selectPostgres(table: string) {
  return sql<FoundColumn>`select column_name as name, data_type as type, is_nullable = 'NO' as required
    from information_schema.columns where table_schema = current_schema() and table_name = ${table}
    order by ordinal_position`
}
