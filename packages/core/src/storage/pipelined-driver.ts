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

  override async acquireConnection(...options: Parameters<PostgresDriver['acquireConnection']>) {
    const connection = await super.acquireConnection(...options)
    if (!this.#pipelined.has(connection)) {
      this.#pipelined.add(connection)
      pipeline(connection)
    }
    return connection
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
