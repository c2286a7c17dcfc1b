import pg from 'pg'
import { findPreparedName } from './compiled-query.ts'

/**
 * Codes of errors after which statements must not be prepared: unknown or duplicate name (a pooler that changes
 * connections between transactions), and a changed result type (another process migrated the schema).
 */
const unprepared: ReadonlySet<unknown> = new Set(['26000', '42P05', '0A000'])

type Send = (query: unknown, values?: unknown) => Promise<pg.QueryResult>

/**
 * A class of connections that prepare compiled statements once: PostgreSQL parses and plans others each time. After an
 * error that prepared statements cause, none of its connections prepares any more, and a statement outside a transaction
 * is repeated.
 */
export function createPreparingClient(): typeof pg.Client {
  let isPreparing = true
  return class PreparingClient extends pg.Client {
    /** Whether the last statement failed: in a failed transaction, the errors of others are consequences. */
    #hasFailed = false

    #isHolding = false

    override query(...given: unknown[]): never {
      const send = super.query.bind(this) as Send
      const [text, values] = given
      return (typeof text === 'string' && Array.isArray(values) ? this.#send(send, text, values) : send(text)) as never
    }

    async #send(send: Send, text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
      this.#holdBytes()
      const name = isPreparing ? findPreparedName(text) : undefined
      try {
        const result = await (name === undefined ? send(text, values) : send({ name, text, values }))
        this.#hasFailed = false
        return result
      } catch (error) {
        const isCause = name !== undefined && !this.#hasFailed && unprepared.has((error as pg.DatabaseError).code)
        this.#hasFailed = true
        if (!isCause) throw error
        isPreparing = false
        if (this.getTransactionStatus() !== 'I') throw error
        return send(text, values)
      }
    }

    /** Collects the statements that are sent until the next tick, for one write to the socket. */
    #holdBytes(): void {
      if (this.#isHolding) return
      const { stream } = this.connection
      this.#isHolding = true
      stream.cork()
      process.nextTick(() => {
        this.#isHolding = false
        stream.uncork()
      })
    }
  }
}
