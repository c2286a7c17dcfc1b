import { createHash } from 'node:crypto'
import {
  sql,
  SqliteAdapter,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Insertable,
  type Kysely,
  type LimitNode,
  type OffsetNode,
  type QueryResult,
  type RawBuilder,
  type SelectQueryNode,
  type Transaction,
} from 'kysely'
import { splitIntoBatches } from '../kernel/batches.ts'
import type { Tables } from './tables.ts'

/**
 * Statements that are compiled once for each database and run with other values each time: on the hot path Kysely takes
 * as long to compile a statement as the database to run it. A statement has named parameters, and a connection of
 * PostgreSQL prepares the statement under a name; one of SQLite prepares every statement once.
 */
export interface PreparedQuery<Row = unknown> extends CompiledQuery<Row> {
  /** The name for preparing on PostgreSQL. Undefined for statements that Kysely compiles for one use. */
  readonly name?: string
  /** Whether the result is not read: in a transaction a failure may reject a later statement instead. */
  readonly isQuiet?: boolean
  /** Whether the failures of earlier quiet statements no longer count, as after a rollback. */
  readonly isRecovery?: boolean
}

/** The place of a named parameter in a statement. */
export type Param<Parameters> = <Name extends keyof Parameters & string>(name: Name) => RawBuilder<Parameters[Name]>

/** A query of a builder, or of the tag `sql`, which compiles for a database. */
interface AnyQuery<Row> {
  compile(db: Kysely<Tables>): CompiledQuery<Row>
}

type Build<Parameters, Row> = (db: Kysely<Tables>, param: Param<Parameters>) => AnyQuery<Row>

/** The value of a {@link Param} while a statement is compiled. */
class ParameterPlace {
  readonly name: string
  /** The index of the row that has the value, in a statement of several rows. */
  readonly row: number

  constructor(name: string, row: number) {
    this.name = name
    this.row = row
  }
}

const toParameterPlace = (name: string, row = 0): RawBuilder<never> => sql<never>`${new ParameterPlace(name, row)}`

/**
 * A query with named parameters.
 *
 * @example
 * const selectUser = compileQuery((db, param: Param<{ id: string }>) =>
 *   db.selectFrom('users').selectAll().where('id', '=', param('id')),
 * )
 * const [row] = await selectUser(db, { id })
 */
export function compileQuery<Parameters extends object, Row>(build: Build<Parameters, Row>) {
  const fill = prepareOnce<Parameters, Row>((db) => build(db, toParameterPlace))
  return async (db: Kysely<Tables>, parameters: Parameters): Promise<Row[]> =>
    (await sendQuery<Row>(db, fill(db, [parameters]))).rows
}

/** As {@link compileQuery}, for a write whose result is not read: a failure may reject a later statement instead. */
export function compileWrite<Parameters extends object>(build: Build<Parameters, unknown>) {
  const fill = prepareOnce<Parameters, unknown>((db) => build(db, toParameterPlace))
  return async (db: Kysely<Tables>, parameters: Parameters): Promise<void> => {
    await sendQuery(db, toQuiet(fill(db, [parameters])))
  }
}

/**
 * A write of columns that are only known at run time, compiled once per list of columns. `build` receives the row with
 * a place for each value.
 *
 * @example
 * const update = compileForColumns((db, { key, ...columns }: { key: string; value: string }) =>
 *   db.updateTable('meta').set(columns).where('key', '=', key),
 * )
 * await update(db, { key, value: 'new' })
 */
export function compileForColumns<Row extends object>(build: (db: Kysely<Tables>, row: Row) => AnyQuery<unknown>) {
  const write = compileForRows<Row>((db, [row]) => build(db, row!))
  return (db: Kysely<Tables>, row: Row): Promise<void> => write(db, [row])
}

/** Maximum rows per statement. Each number of rows is a statement of its own, which each connection prepares. */
const rowsMax = 16
/** Maximum bytes of files and other binary values per statement, except in a statement for a single row. */
const statementBytesMax = 1024 * 1024

/**
 * As {@link compileForColumns} for rows that all have the same columns: one statement writes up to 16 rows. `build`
 * receives the rows with a place for each value. With small files on PostgreSQL, these statements of `values` take about
 * half the processor time of a statement per row, and less than arrays in `unnest`, whose bytes are sent as text.
 */
export function compileForRows<Row extends object>(
  build: (db: Kysely<Tables>, rows: readonly Row[]) => AnyQuery<unknown>,
) {
  const statements = new Map<string, Fill<Row, unknown>>()
  const toStatement = (rows: readonly Row[]): Fill<Row, unknown> => {
    const columns = Object.keys(rows[0]!)
    if (rows.some((row) => !hasColumns(row, columns))) throw new TypeError('Pass rows that have the same columns.')
    const key = `${rows.length} ${columns.join()}`
    let fill = statements.get(key)
    if (!fill) {
      // Kysely accepts an expression in place of each value of a row.
      const places = rows.map(
        (_, i) => Object.fromEntries(columns.map((column) => [column, toParameterPlace(column, i)])) as Row,
      )
      statements.set(key, (fill = prepareOnce((db) => build(db, places))))
    }
    return fill
  }
  return async (db: Kysely<Tables>, rows: readonly Row[]): Promise<void> => {
    const batches = splitIntoBatches(rows, { itemsMax: rowsMax, bytesMax: statementBytesMax }, countBytes)
    for (const batch of batches) await sendQuery(db, toQuiet(toStatement(batch)(db, batch)))
  }
}

function hasColumns(row: object, columns: readonly string[]): boolean {
  return Object.keys(row).length === columns.length && columns.every((column) => Object.hasOwn(row, column))
}

function countBytes(row: object): number {
  return Object.values(row).reduce((sum, value) => sum + (value instanceof Uint8Array ? value.length : 0), 0)
}

/**
 * Inserts rows that have the same columns into a table, as {@link compileForRows} does. For a table of an extension,
 * `All` must contain this table.
 */
export function compileInsert<Table extends keyof All & string, All = Tables>(table: Table) {
  type Row = Insertable<All[Table]>
  const insert = compileForRows<Row>((db, rows) => (db as unknown as Kysely<All>).insertInto(table).values(rows))
  return (db: Kysely<Tables>, ...rows: readonly Row[]): Promise<void> => insert(db, rows)
}

/** Marks a statement whose result is not read. */
export function toQuiet<Row>(query: PreparedQuery<Row>): PreparedQuery<Row> {
  return { ...query, isQuiet: true }
}

/** The connections of transactions to which compiled statements are sent directly. */
const connections = new WeakMap<Kysely<Tables>, DatabaseConnection>()

/**
 * Sends the compiled statements of a transaction directly to its connection until the work ends. Kysely would send each
 * statement after the answer to the previous one. Statements that are sent at once, as with `Promise.all`, share a
 * round trip to PostgreSQL.
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

function sendQuery<Row>(db: Kysely<Tables>, query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
  return (connections.get(db) ?? db).executeQuery<Row>(query)
}

/** Returns a compiled statement with values from rows; a statement without rows takes its parameters from the first. */
type Fill<Parameters, Row> = (db: Kysely<Tables>, rows: readonly Parameters[]) => PreparedQuery<Row>

/** Compiles a statement once for each adapter. All connections and transactions of a database have the same adapter. */
function prepareOnce<Parameters extends object, Row>(
  build: (db: Kysely<Tables>) => AnyQuery<Row>,
): Fill<Parameters, Row> {
  const prepared = new WeakMap<DialectAdapter, PreparedQuery<Row>>()
  return (db, rows) => {
    const { adapter } = db.getExecutor()
    let query = prepared.get(adapter)
    if (!query) prepared.set(adapter, (query = toPreparedQuery(build(db).compile(db), adapter)))
    const values = query.parameters.map((value) =>
      value instanceof ParameterPlace ? rows[value.row]![value.name as keyof Parameters] : value,
    )
    return { ...query, parameters: values }
  }
}

function toPreparedQuery<Row>(query: CompiledQuery<Row>, adapter: DialectAdapter): PreparedQuery<Row> {
  if (adapter instanceof SqliteAdapter) {
    return { ...query, sql: new HidingCompiler().compileQuery(query.query, query.queryId).sql }
  }
  // The digest is the same in all processes: a pooler may share a connection among them.
  return { ...query, name: createHash('sha256').update(query.sql).digest('base64url') }
}

/**
 * Hides values from SQLite's planner with a function. The planner examines the values of a limit, and of a query with a
 * join, and prepares the statement again whenever these values are bound, which takes ten times as long as running such
 * a query.
 */
class HidingCompiler extends SqliteQueryCompiler {
  #isHiding = false

  protected override visitSelectQuery(node: SelectQueryNode): void {
    this.#hide(this.#isHiding || node.joins !== undefined, () => super.visitSelectQuery(node))
  }

  protected override visitLimit(node: LimitNode): void {
    this.#hide(true, () => super.visitLimit(node))
  }

  protected override visitOffset(node: OffsetNode): void {
    this.#hide(true, () => super.visitOffset(node))
  }

  protected override appendValue(value: unknown): void {
    if (this.#isHiding) this.append('coalesce(')
    super.appendValue(value)
    if (this.#isHiding) this.append(', null)')
  }

  #hide(isHiding: boolean, visit: () => void): void {
    const before = this.#isHiding
    this.#isHiding = isHiding
    visit()
    this.#isHiding = before
  }
}
