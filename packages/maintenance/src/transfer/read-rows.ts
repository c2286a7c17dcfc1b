import { setImmediate } from 'node:timers/promises'
import { CompiledQuery, sql, type Kysely } from 'kysely'
import type { Dialect, TableRule, Tables } from '@skillstead/core/internal'
import type { Column } from './portable-columns.ts'

/** A value of a row, as the database driver returns it. */
export type Value = string | number | Uint8Array | null
export type Row = readonly Value[]

/** The columns and key of a table that is read. */
interface ReadTable {
  readonly table: string
  readonly rule: TableRule
  readonly columns: readonly Column[]
}

/** Maximum number of rows in memory; each row of a heavy table may have 10 MB. */
const batchRows = 500
const heavyBatchRows = 16

/**
 * The rows of a table in key order, as arrays of column values, in batches. Needs a transaction, so that all rows are
 * of one snapshot; its cursor occupies the connection until the end.
 */
export async function* readTableRows(
  trx: Kysely<Tables>,
  dialect: Dialect,
  { table, rule, columns }: ReadTable,
): AsyncGenerator<Row[]> {
  const read = dialect === 'sqlite' ? stepThrough : fetchAll
  const size = rule.isHeavy ? heavyBatchRows : batchRows
  for await (const rows of read(trx, toTableQuery(trx, dialect, { table, rule, columns }), size)) {
    yield rows.map((row) => columns.map(({ name }) => row[name] as Value))
  }
}

type Found = Readonly<Record<string, unknown>>

function toTableQuery(trx: Kysely<Tables>, dialect: Dialect, { table, rule, columns }: ReadTable) {
  const { key, where, instead = {} } = rule
  const typeOf = new Map(columns.map(({ name, type }) => [name, type]))
  const selected = columns.map(({ name }) => (instead[name] ? sql.raw(instead[name]) : sql.ref(name)).as(name))
  // Sorts PostgreSQL's texts by code points, as SQLite does: another order of the rows would change the digest.
  const order = key.map((name) =>
    dialect === 'postgres' && typeOf.get(name) === 'text' ? sql`${sql.ref(name)} collate "C"` : sql.ref(name),
  )
  const query = trx.selectFrom(table as 'meta').select(selected)
  const some = where === undefined ? query : query.where(sql.raw<boolean>(where))
  return order.reduce((ordered, part) => ordered.orderBy(part), some)
}

async function* stepThrough(
  _: Kysely<Tables>,
  query: ReturnType<typeof toTableQuery>,
  size: number,
): AsyncGenerator<Found[]> {
  let batch: Found[] = []
  for await (const row of query.stream()) {
    batch.push(row)
    if (batch.length < size) continue
    yield batch
    batch = []
    // Yield to the event loop, because SQLite reads on this thread.
    await setImmediate()
  }
  if (batch.length > 0) yield batch
}

async function* fetchAll(
  trx: Kysely<Tables>,
  query: ReturnType<typeof toTableQuery>,
  size: number,
): AsyncGenerator<Found[]> {
  await trx.executeQuery(CompiledQuery.raw(`declare export_rows no scroll cursor for ${query.compile().sql}`))
  for (;;) {
    const { rows } = await trx.executeQuery<Found>(CompiledQuery.raw(`fetch ${size} from export_rows`))
    if (rows.length > 0) yield rows
    if (rows.length < size) break
  }
  await trx.executeQuery(CompiledQuery.raw('close export_rows'))
}
