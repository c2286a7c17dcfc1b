import { readErrorCode } from '@skillstead/protocol'
import {
  AbortedTransactionError,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type pg from 'pg'
import type { PreparedQuery } from './compiled-query.ts'

/** Kysely's dialect for PostgreSQL, with a driver that prepares statements by name and sends without waiting. */
export function createPostgresDialect(pool: pg.Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresPoolDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

class PostgresPoolDriver implements Driver {
  readonly #pool: pg.Pool
  readonly #connections = new WeakMap<pg.PoolClient, PostgresConnection>()
  readonly #preparing: Preparing = { isOn: true }
  #isDestroyed = false

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  /** Throws a {@link ConnectionFailure} if no connection can be opened. */
  async acquireConnection(): Promise<PostgresConnection> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw this.#isDestroyed ? error : new ConnectionFailure(error)
    })
    let connection = this.#connections.get(client)
    if (!connection) this.#connections.set(client, (connection = new PostgresConnection(client, this.#preparing)))
    return connection
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    requireOwnConnection(connection).release()
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await requireOwnConnection(connection).begin(settings)
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await requireOwnConnection(connection).commit()
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await requireOwnConnection(connection).rollBack()
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true
    await this.#pool.end()
  }
}

function requireOwnConnection(connection: DatabaseConnection): PostgresConnection {
  if (connection instanceof PostgresConnection) return connection
  throw new TypeError("This connection has another driver. Pass one that this driver's `acquireConnection` returned.")
}

/**
 * No connection could be opened. Has one code for all causes, whose own codes have nothing in common: a host without an
 * address or a route, a certificate, a password, a database that is missing or accepts no connections.
 */
class ConnectionFailure extends Error {
  /** SQLSTATE `sqlclient_unable_to_establish_sqlconnection`. */
  readonly code = '08001'

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'ConnectionFailure'
  }
}

/** Whether the connections of a pool prepare statements. */
interface Preparing {
  isOn: boolean
}

/**
 * Codes of errors after which statements must not be prepared: unknown or duplicate statement name (a pooler that
 * changes connections between transactions), and a changed result type (another process migrated the schema).
 */
const unprepared: ReadonlySet<unknown> = new Set(['26000', '42P05', '0A000'])

/**
 * A connection in pipeline mode. In a transaction it sends quiet statements without waiting for their results, which
 * saves a round trip each. If a quiet statement fails, PostgreSQL refuses all later statements of the transaction, and
 * the next statement that is waited for rejects with the failure.
 *
 * Statements with a name are prepared; PostgreSQL parses and plans statements without a name each time. After an error
 * that prepared statements cause, no connection of the pool prepares any more, and a statement outside a transaction is
 * repeated.
 */
class PostgresConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  readonly #preparing: Preparing
  /** Whether a transaction is open in which statements need not be waited for. */
  #isPipelining = false
  /** The quiet statements since the last one that was waited for. */
  #quiet: Promise<unknown>[] = []
  /** Whether the last statement failed: in a failed transaction, errors of later statements are only consequences. */
  #hasFailed = false
  #isHolding = false
  #isBroken = false

  constructor(client: pg.PoolClient, preparing: Preparing) {
    this.#client = client
    this.#preparing = preparing
  }

  async executeQuery<Row>(query: PreparedQuery): Promise<QueryResult<Row>> {
    if (query.isQuiet && this.#isPipelining) {
      this.#sendQuietly(query)
      return { rows: [] }
    }
    const { command, rowCount, rows } = await this.#sendAndWait(query)
    const isWrite = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
    return { ...(isWrite && { numAffectedRows: BigInt(rowCount ?? 0) }), rows: rows ?? [] }
  }

  // oxlint-disable-next-line require-yield -- the interface of Kysely requires the method
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new TypeError('This driver does not stream rows. Read them with a cursor.')
  }

  async begin({ isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    if (!isolationLevel && !accessMode) {
      this.#isPipelining = true
      this.#sendQuietly({ sql: 'begin' })
      return
    }
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
    await this.#sendAndWait({ sql: `start transaction${level}${accessMode ? ` ${accessMode}` : ''}` })
  }

  /** Commits. Throws if the server rolled the transaction back instead. */
  async commit(): Promise<void> {
    this.#isPipelining = false
    const { command } = await this.#sendAndWait({ sql: 'commit' })
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollBack(): Promise<void> {
    this.#isPipelining = false
    try {
      await this.#sendAndWait({ sql: 'rollback', isRecovery: true })
    } catch (error) {
      this.#isBroken = true
      throw error
    }
  }

  /** Returns the client to the pool. The pool closes the client if its transaction could not be rolled back. */
  release(): void {
    this.#client.release(this.#isBroken)
  }

  #sendQuietly(query: Statement): void {
    const sent = this.#send(query)
    // The next statement that is waited for reports the failure.
    sent.catch(() => {})
    this.#quiet.push(sent)
  }

  async #sendAndWait(query: Statement): Promise<pg.QueryResult> {
    const earlier = this.#quiet
    this.#quiet = []
    const [result, ...results] = await Promise.allSettled([this.#send(query), ...earlier])
    const failed = results.find((one) => one.status === 'rejected')
    if (failed && !query.isRecovery) throw failed.reason
    if (result.status === 'rejected') throw result.reason
    return result.value
  }

  async #send({ sql, parameters = [], name }: Statement): Promise<pg.QueryResult> {
    this.#holdBytes()
    const values = [...parameters]
    const isPrepared = name !== undefined && this.#preparing.isOn
    try {
      const result = await (isPrepared
        ? this.#client.query({ name, text: sql, values })
        : this.#client.query(sql, values))
      this.#hasFailed = false
      return result
    } catch (error) {
      const isCause = isPrepared && !this.#hasFailed && unprepared.has(readErrorCode(error))
      this.#hasFailed = true
      if (!isCause) throw error
      this.#preparing.isOn = false
      if (this.#client.getTransactionStatus() !== 'I') throw error
      return this.#client.query(sql, values)
    }
  }

  /** Collects the statements that are sent until the next tick, for one write to the socket. */
  #holdBytes(): void {
    if (this.#isHolding) return
    const { stream } = this.#client.connection
    this.#isHolding = true
    stream.cork()
    process.nextTick(() => {
      this.#isHolding = false
      stream.uncork()
    })
  }
}

type Statement = Pick<PreparedQuery, 'sql' | 'name' | 'isRecovery'> & Partial<Pick<PreparedQuery, 'parameters'>>
