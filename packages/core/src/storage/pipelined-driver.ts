import { type CompiledQuery, type DatabaseConnection, PostgresDriver, type QueryResult } from 'kysely'

/** A statement of a transaction whose result is not read. */
export interface QuietQuery<Row = unknown> extends CompiledQuery<Row> {
  readonly isQuiet: true
}

/** The statements that begin, and those after which no earlier failure counts. */
const quietTexts: ReadonlySet<string> = new Set(['begin', 'savepoint job'])
const endings: ReadonlySet<string> = new Set(['rollback', 'rollback to savepoint job'])

/**
 * A driver for connections in pipeline mode. In a transaction it sends {@link QuietQuery quiet} statements without
 * waiting for their results, which saves a round trip each. If one fails, PostgreSQL refuses all that follow, and the
 * next statement that is waited for rejects with the failure.
 */
export class PipelinedDriver extends PostgresDriver {
  readonly #pipelined = new WeakSet<DatabaseConnection>()
  #isDestroyed = false

  /** Throws a {@link ConnectionFailure} if no connection can be opened. */
  override async acquireConnection(...options: Parameters<PostgresDriver['acquireConnection']>) {
    const connection = await super.acquireConnection(...options).catch((error: unknown) => {
      throw this.#isDestroyed ? error : new ConnectionFailure(error)
    })
    if (!this.#pipelined.has(connection)) {
      this.#pipelined.add(connection)
      pipeline(connection)
    }
    return connection
  }

  override async destroy(): Promise<void> {
    this.#isDestroyed = true
    await super.destroy()
  }
}

/**
 * No connection could be opened. The codes of the causes have nothing in common: a host without an address or a route,
 * a certificate, a password, a database that is missing or accepts no connections.
 */
class ConnectionFailure extends Error {
  /** SQLSTATE `sqlclient_unable_to_establish_sqlconnection`. */
  readonly code = '08001'

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'ConnectionFailure'
  }
}

function pipeline(connection: DatabaseConnection): void {
  const send = connection.executeQuery.bind(connection)
  let isOpen = false
  /** The quiet statements since the last one that was waited for. */
  let quiet: Promise<unknown>[] = []

  async function sendAndWait<Row>(query: CompiledQuery, options: unknown[]): Promise<QueryResult<Row>> {
    const earlier = quiet
    quiet = []
    const [result, ...results] = await Promise.allSettled([send<Row>(query, ...(options as [])), ...earlier])
    const failed = results.find((one) => one.status === 'rejected')
    if (failed && !endings.has(query.sql)) throw failed.reason
    if (result.status === 'rejected') throw result.reason
    return result.value
  }

  connection.executeQuery = async <Row>(query: CompiledQuery, ...options: unknown[]): Promise<QueryResult<Row>> => {
    if (query.sql === 'begin') isOpen = true
    if (isOpen && ('isQuiet' in query || quietTexts.has(query.sql))) {
      const sent = send(query, ...(options as []))
      // The next statement that is waited for reports the failure.
      sent.catch(() => {})
      quiet.push(sent)
      return { rows: [] }
    }
    if (query.sql === 'commit' || query.sql === 'rollback') isOpen = false
    return sendAndWait(query, options)
  }
}
