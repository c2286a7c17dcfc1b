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

  constructor(name: string) {
    this.name = name
  }
}

const toParameterPlace = (name: string): RawBuilder<never> => sql<never>`${new ParameterPlace(name)}`

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
  const fill = prepareOnce(build)
  return async (db: Kysely<Tables>, parameters: Parameters): Promise<Row[]> =>
    (await sendQuery<Row>(db, fill(db, parameters))).rows
}

/** As {@link compileQuery}, for a write whose result is not read: a failure may reject a later statement instead. */
export function compileWrite<Parameters extends object>(build: Build<Parameters, unknown>) {
  const fill = prepareOnce(build)
  return async (db: Kysely<Tables>, parameters: Parameters): Promise<void> => {
    await sendQuery(db, toQuiet(fill(db, parameters)))
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
  const writes = new Map<string, (db: Kysely<Tables>, row: Row) => Promise<void>>()
  return async (db: Kysely<Tables>, row: Row): Promise<void> => {
    const columns = Object.keys(row)
    const key = columns.join()
    let write = writes.get(key)
    if (!write) {
      // Kysely accepts an expression in place of each value of a row.
      const places = Object.fromEntries(columns.map((column) => [column, toParameterPlace(column)])) as Row
      writes.set(key, (write = compileWrite<Row>((built) => build(built, places))))
    }
    await write(db, row)
  }
}

/** Rows per insert statement: PostgreSQL accepts 65,535 parameters per statement, SQLite 32,766. */
const rowsMax = 100

/**
 * Inserts rows into a table. The statement for a single row, as on the hot path, is {@link compileForColumns compiled}
 * once. For a table of an extension, `All` must contain this table.
 */
export function compileInsert<Table extends keyof All & string, All = Tables>(table: Table) {
  type Row = Insertable<All[Table]>
  const insert = (db: Kysely<Tables>, rows: Row | readonly Row[]) =>
    (db as unknown as Kysely<All>).insertInto(table).values(rows)
  const insertOne = compileForColumns<Row>(insert)
  return async (db: Kysely<Tables>, ...rows: readonly Row[]): Promise<void> => {
    const [row] = rows
    if (row && rows.length === 1) return insertOne(db, row)
    for (let i = 0; i < rows.length; i += rowsMax)
      await sendQuery(db, toQuiet(insert(db, rows.slice(i, i + rowsMax)).compile()))
  }
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

/** Compiles a statement once for each adapter. All connections and transactions of a database have the same adapter. */
function prepareOnce<Parameters extends object, Row>(build: Build<Parameters, Row>) {
  const prepared = new WeakMap<DialectAdapter, PreparedQuery<Row>>()
  return (db: Kysely<Tables>, parameters: Parameters): PreparedQuery<Row> => {
    const { adapter } = db.getExecutor()
    let query = prepared.get(adapter)
    if (!query) prepared.set(adapter, (query = toPreparedQuery(build(db, toParameterPlace).compile(db), adapter)))
    const values = query.parameters.map((value) =>
      value instanceof ParameterPlace ? parameters[value.name as keyof Parameters] : value,
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
