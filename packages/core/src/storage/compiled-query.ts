import {
  SqliteAdapter,
  type Compilable,
  type CompiledQuery,
  type DialectAdapter,
  type Insertable,
  type Kysely,
} from 'kysely'
import type { Tables } from './tables.ts'

/** What a statement is compiled for: the same for all connections and transactions of a database. */
type Kept<Row> = WeakMap<DialectAdapter, CompiledQuery<Row>>

/**
 * A query that is built once a database and run with other parameters each time: on the hot path building costs as much
 * as running. The parameters given while building only mark the places, in their order.
 */
export function keepCompiled<Row>(build: (db: Kysely<Tables>) => Compilable<Row>) {
  const kept: Kept<Row> = new WeakMap()
  return async (db: Kysely<Tables>, ...parameters: unknown[]): Promise<Row[]> => {
    const { adapter } = db.getExecutor()
    let query = kept.get(adapter)
    if (!query) {
      query = build(db).compile()
      if (adapter instanceof SqliteAdapter) query = { ...query, sql: hideValues(query.sql) }
      kept.set(adapter, query)
    }
    const { rows } = await db.executeQuery<Row>({ ...query, parameters })
    return rows
  }
}

/**
 * SQLite looks at the values of a limit, and of comparisons beside a join, when it makes its plan; so it makes the plan
 * anew whenever they are bound, which takes ten times as long as such a query. What a function gives is not looked at.
 */
function hideValues(sql: string): string {
  const limited = sql.replaceAll(/ (limit|offset) \?/g, ' $1 coalesce(?, null)')
  return sql.includes(' join ') ? limited.replaceAll(' = ?', ' = coalesce(?, null)') : limited
}

/**
 * A statement about columns that are only known when it runs, {@link keepCompiled kept} for each list of them: `build` is
 * given the columns with values that mark the places. Other parameters come after those.
 */
export function keepForColumns(build: (db: Kysely<Tables>, places: Record<string, never>) => Compilable<unknown>) {
  const kept = new Map<string, ReturnType<typeof keepCompiled>>()
  return async (db: Kysely<Tables>, row: object, ...parameters: unknown[]): Promise<void> => {
    const columns = Object.keys(row)
    const key = columns.join()
    let run = kept.get(key)
    if (!run) {
      const places = Object.fromEntries(columns.map((column) => [column, '' as never]))
      kept.set(key, (run = keepCompiled((built) => build(built, places))))
    }
    await run(db, ...Object.values(row), ...parameters)
  }
}

/** Of many rows so many are inserted at once: PostgreSQL takes 65,535 parameters a statement, SQLite 32,766. */
const rowsMax = 100

/** Inserts rows into a table: a single one, as on the hot path, by a statement that is {@link keepForColumns kept}. */
export function keepInsert<Table extends keyof Tables & string>(table: Table) {
  const insertOne = keepForColumns((db, places) => db.insertInto(table).values(places as never))
  return async (db: Kysely<Tables>, ...rows: readonly Insertable<Tables[Table]>[]): Promise<void> => {
    const [row] = rows
    if (row && rows.length === 1) return insertOne(db, row)
    for (let i = 0; i < rows.length; i += rowsMax) {
      const some = rows.slice(i, i + rowsMax)
      await db
        .insertInto(table)
        .values(some as never)
        .execute()
    }
  }
}
