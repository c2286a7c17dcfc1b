import { createHash } from 'node:crypto'
import {
  SqliteAdapter,
  type Compilable,
  type CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Insertable,
  type Kysely,
  type QueryResult,
  type Transaction,
} from 'kysely'
import type { QuietQuery } from './pipelined-driver.ts'
import type { Tables } from './tables.ts'

/** Marks the place of a named parameter in a statement while it is compiled. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Returns a {@link Placeholder} for every property. */
const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) })

/**
 * A query that is compiled once for each database and run with other parameters each time: on the hot path compiling
 * costs as much as running. `build` must put each parameter into the query unchanged.
 *
 * @example
 * const selectUser = compileQuery((db, user: { id: string }) => db.selectFrom('users').selectAll().where('id', '=', user.id))
 * const [row] = await selectUser(db, { id })
 */
export function compileQuery<Parameters extends object, Row>(
  build: (db: Kysely<Tables>, parameters: Parameters) => Compilable<Row>,
) {
  const getQuery = compileOnce((db) => build(db, placeholders as Parameters))
  return async (db: Kysely<Tables>, parameters: Parameters): Promise<Row[]> =>
    (await send(db, fill(getQuery(db), parameters))).rows
}

/** As {@link compileQuery}, for a write whose result is not read: a failure may reject a later statement instead. */
export function compileWrite<Parameters extends object>(
  build: (db: Kysely<Tables>, parameters: Parameters) => Compilable<unknown>,
) {
  const getQuery = compileOnce((db) => build(db, placeholders as Parameters))
  return async (db: Kysely<Tables>, parameters: Parameters): Promise<void> => {
    await send(db, toQuiet(fill(getQuery(db), parameters)))
  }
}

/** The connections of transactions to which compiled statements are sent directly. */
const connections = new WeakMap<Kysely<Tables>, DatabaseConnection>()

/**
 * Sends the compiled statements of a transaction directly to its connection until the work ends. Kysely would send each
 * when the one before is answered; sent at once, as with `Promise.all`, they share a round trip to PostgreSQL.
 */
export async function withConnection<T>(
  trx: Transaction<Tables>,
  work: (connection: DatabaseConnection) => Promise<T>,
): Promise<T> {
  const connection = await trx.getExecutor().provideConnection(async (one) => one)
  connections.set(trx, connection)
  try {
    return await work(connection)
  } finally {
    connections.delete(trx)
  }
}

function send<Row>(db: Kysely<Tables>, query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
  return (connections.get(db) ?? db).executeQuery<Row>(query)
}

/** A statement with values in its places. */
function fill<Row>(query: CompiledQuery<Row>, parameters: object): CompiledQuery<Row> {
  const values = query.parameters.map((value) =>
    value instanceof Placeholder ? parameters[value.name as keyof typeof parameters] : value,
  )
  return { ...query, parameters: values }
}

/** Marks a statement whose result is not read. */
export function toQuiet<Row>(query: CompiledQuery<Row>): QuietQuery<Row> {
  return { ...query, isQuiet: true }
}

/** Compiles a statement once for each adapter. All connections and transactions of a database have the same adapter. */
function compileOnce<Row>(build: (db: Kysely<Tables>) => Compilable<Row>) {
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<Row>>()
  return (db: Kysely<Tables>): CompiledQuery<Row> => {
    const { adapter } = db.getExecutor()
    const known = compiled.get(adapter)
    if (known) return known
    const built = build(db).compile()
    const isSqlite = adapter instanceof SqliteAdapter
    const query = isSqlite ? { ...built, sql: hideValues(built.sql) } : built
    if (!isSqlite) prepareText(query.sql)
    compiled.set(adapter, query)
    return query
  }
}

/** The names of compiled statements, by their text. */
const names = new Map<string, string>()

/** The name for preparing a compiled statement of PostgreSQL: its digest, since a pooler may share a connection. */
function prepareText(text: string): void {
  names.set(text, createHash('sha256').update(text).digest('base64url'))
}

/** The name under which PostgreSQL prepares a statement; undefined for one that is not compiled. */
export function findPreparedName(text: string): string | undefined {
  return names.get(text)
}

/**
 * Hides values from SQLite's planner with a function. The planner examines the values of a limit, and of comparisons in
 * a join, and prepares the statement again whenever they are bound, which takes ten times as long as such a query.
 */
function hideValues(sql: string): string {
  const limited = sql.replaceAll(/ (limit|offset) \?/g, ' $1 coalesce(?, null)')
  return sql.includes(' join ') ? limited.replaceAll(' = ?', ' = coalesce(?, null)') : limited
}

/**
 * A statement for columns that are only known at run time, {@link compileQuery compiled} once per list of columns.
 * `build` receives the columns with placeholder values. Other parameters follow them.
 *
 * @example
 * const update = compileForColumns((db, row: { value: string }) => db.updateTable('meta').set(row).where('key', '=', ''))
 * await update(db, { value: 'new' }, key)
 */
export function compileForColumns<Row extends object>(build: BuildForColumns<Row>) {
  const compiled = new Map<string, ReturnType<typeof compileOnce>>()
  return async (db: Kysely<Tables>, row: Row, ...parameters: unknown[]): Promise<void> => {
    const columns = Object.keys(row)
    const key = columns.join()
    let getQuery = compiled.get(key)
    if (!getQuery) {
      const places = Object.fromEntries(columns.map((column) => [column, ''])) as Row
      compiled.set(key, (getQuery = compileOnce((built) => build(built, places))))
    }
    await send(db, toQuiet({ ...getQuery(db), parameters: [...Object.values(row), ...parameters] }))
  }
}

type BuildForColumns<Row> = (db: Kysely<Tables>, places: Row) => Compilable<unknown>

/** Rows per insert statement: PostgreSQL accepts 65,535 parameters per statement, SQLite 32,766. */
const rowsMax = 100

/**
 * Inserts rows into a table. The statement for a single row, as on the hot path, is {@link compileForColumns compiled}
 * once. For a table of an extension, `All` must contain it.
 */
export function compileInsert<Table extends keyof All & string, All = Tables>(table: Table) {
  type Row = Insertable<All[Table]>
  const insert = (db: Kysely<Tables>, rows: Row | readonly Row[]) =>
    (db as unknown as Kysely<All>).insertInto(table).values(rows)
  const insertOne = compileForColumns(insert)
  return async (db: Kysely<Tables>, ...rows: readonly Row[]): Promise<void> => {
    const [row] = rows
    if (row && rows.length === 1) return insertOne(db, row)
    for (let i = 0; i < rows.length; i += rowsMax)
      await send(db, toQuiet(insert(db, rows.slice(i, i + rowsMax)).compile()))
  }
}
