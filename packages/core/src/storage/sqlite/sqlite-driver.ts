import type SqliteDatabase from 'better-sqlite3'
import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'

const statementsKeptMax = 500

/** Kysely's dialect for SQLite, with a driver that prepares each statement once. */
export function createSqliteDialect(database: SqliteDatabase.Database, onCommit: () => void): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteStatementDriver(database, onCommit),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** A driver with one connection, which Kysely gives to one caller at a time. */
class SqliteStatementDriver implements Driver {
  readonly #database: SqliteDatabase.Database
  readonly #connection: SqliteConnection
  readonly #onCommit: () => void

  constructor(database: SqliteDatabase.Database, onCommit: () => void) {
    this.#database = database
    this.#connection = new SqliteConnection(database)
    this.#onCommit = onCommit
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async releaseConnection(): Promise<void> {}

  async beginTransaction(): Promise<void> {
    this.#connection.begin()
  }

  async commitTransaction(): Promise<void> {
    this.#onCommit()
    this.#connection.commit()
  }

  async rollbackTransaction(): Promise<void> {
    this.#connection.rollBack()
  }

  async destroy(): Promise<void> {
    this.#connection.clear()
    this.#database.close()
  }
}

/**
 * Caches prepared statements by their text: Kysely's own driver prepares every query again, which costs six times as
 * much as running it.
 */
class SqliteConnection implements DatabaseConnection {
  readonly #database: SqliteDatabase.Database
  readonly #statements = new Map<string, SqliteDatabase.Statement>()
  #isInTransaction = false
  /** The error after which SQLite rolled the transaction back by itself. */
  #lost: { readonly cause: unknown } | undefined

  constructor(database: SqliteDatabase.Database) {
    this.#database = database
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const statement = this.#prepare(sql)
    return this.#guard(() => {
      if (statement.reader) return { rows: statement.all(parameters) as Row[] }
      const { changes, lastInsertRowid } = statement.run(parameters)
      return { insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes), rows: [] }
    })
  }

  async *streamQuery<Row>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
    for (const row of this.#prepare(sql).iterate(parameters)) yield { rows: [row as Row] }
  }

  /** `begin immediate` takes the write lock at once: after a plain `begin`, the first write takes it and can fail. */
  begin(): void {
    this.#lost = undefined
    this.#prepare(this.#database.readonly ? 'begin' : 'begin immediate').run()
    this.#isInTransaction = true
  }

  commit(): void {
    this.#guard(() => this.#prepare('commit').run())
    this.#isInTransaction = false
  }

  /** On a full disk SQLite rolls back by itself; another rollback would fail and hide the original error. */
  rollBack(): void {
    this.#lost = undefined
    this.#isInTransaction = false
    if (this.#database.inTransaction) this.#prepare('rollback').run()
  }

  clear(): void {
    this.#statements.clear()
  }

  #prepare(sql: string): SqliteDatabase.Statement {
    let statement = this.#statements.get(sql)
    if (!statement) {
      if (this.#statements.size >= statementsKeptMax) this.#statements.clear()
      this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    }
    return statement
  }

  /**
   * On a full disk SQLite rolls back by itself. Statements that were sent together with the failed statement then fail
   * with the same error: otherwise each of them would be a transaction of its own.
   */
  #guard<T>(work: () => T): T {
    if (this.#lost) throw this.#lost.cause
    try {
      return work()
    } catch (cause) {
      if (this.#isInTransaction && !this.#database.inTransaction) this.#lost = { cause }
      throw cause
    }
  }
}
