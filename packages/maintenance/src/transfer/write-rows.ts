import { CompiledQuery, sql, type Kysely } from 'kysely'
import type { Dialect, Tables } from '@skillstead/core/internal'
import type { Column } from './portable-columns.ts'
import type { Row } from './read-rows.ts'

/** Maximum number of parameters per statement; SQLite and PostgreSQL allow several times as many. */
const parametersMax = 4000
const rowsMax = 250

/** Inserts rows unchanged. Almost all statements of a table have equally many rows: their text is built once. */
export async function insertRows(
  trx: Kysely<Tables>,
  dialect: Dialect,
  { table, columns, rows }: { table: string; columns: readonly Column[]; rows: readonly Row[] },
): Promise<void> {
  const batch = Math.max(1, Math.min(rowsMax, Math.floor(parametersMax / columns.length)))
  for (let i = 0; i < rows.length; i += batch) {
    const some = rows.slice(i, i + batch)
    await trx.executeQuery(CompiledQuery.raw(toInsert(dialect, table, columns, some.length), some.flat()))
  }
}

const inserts = new Map<string, string>()

function toInsert(dialect: Dialect, table: string, columns: readonly Column[], rows: number): string {
  const names = columns.map(({ name }) => `"${name}"`).join(', ')
  const id = `${dialect} ${table} ${rows} ${names}`
  const cached = inserts.get(id)
  if (cached !== undefined) return cached
  let parameter = 0
  const next = () => (dialect === 'sqlite' ? '?' : `$${(parameter += 1)}`)
  const values = Array.from({ length: rows }, () => `(${columns.map(next).join(', ')})`).join(', ')
  const made = `insert into "${table}" (${names}) values ${values}`
  inserts.set(id, made)
  return made
}

/** Advances the sequences of row numbers, because PostgreSQL does not do so when rows are inserted with numbers. */
export async function moveCounters(trx: Kysely<Tables>, dialect: Dialect): Promise<void> {
  if (dialect === 'sqlite') return
  const { rows } = await sql<{ name: string; column: string }>`select table_name as name, column_name as column
    from information_schema.columns
    where table_schema = current_schema() and column_default like 'nextval(%'`.execute(trx)
  for (const { name, column } of rows) {
    await sql`select setval(pg_get_serial_sequence(${name}, ${column}),
      (select coalesce(max(${sql.ref(column)}), 0) + 1 from ${sql.table(name)}), false)`.execute(trx)
  }
}
