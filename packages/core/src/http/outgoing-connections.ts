import type { Client } from 'undici'
import { createConnector, type Connector, type Guard } from './connector.ts'
import { headerBytesMax } from './outgoing-request.ts'

/** Maximum number of idle connections. */
const idleMax = 256
/** How long an idle connection stays open, in milliseconds; a shorter keep-alive time from the server wins. */
const keepAliveMs = 4000

/** A connection to one origin, open or being opened. */
export interface Connection {
  readonly client: Client
  readonly connector: Connector
  readonly origin: string
  /** Whether a response was received on it. The server may then close it at any time. */
  wasUsed: boolean
}

/** Pool of keep-alive connections by origin. */
export class Connections {
  readonly #guard: Guard
  readonly #Client: typeof Client
  readonly #open = new Set<Connection>()
  /** Idle connections, the longest unused first. */
  readonly #idle = new Set<Connection>()
  readonly #idleOf = new Map<string, Connection[]>()

  constructor(guard: Guard, client: typeof Client) {
    this.#guard = guard
    this.#Client = client
  }

  /** Takes an idle connection that is still open as far as this side knows, or opens a new one. */
  take(origin: string): Connection {
    for (;;) {
      const idle = this.#idleOf.get(origin)?.at(-1)
      if (!idle) return this.open(origin)
      this.#forgetIdle(idle)
      if (idle.client.stats.connected) return idle
      void this.drop(idle)
    }
  }

  open(origin: string): Connection {
    const connector = createConnector(this.#guard)
    const client = new this.#Client(origin, {
      connect: connector.connect,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: headerBytesMax,
      // The sender's deadline covers the whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const connection = { client, connector, origin, wasUsed: false }
    client.on('disconnect', () => {
      // The next request uses a new connection.
      connection.wasUsed = false
      if (this.#idle.has(connection)) void this.drop(connection)
    })
    this.#open.add(connection)
    return connection
  }

  /** Returns a connection to the pool. */
  keep(connection: Connection): void {
    if (!this.#open.has(connection)) return
    connection.wasUsed = true
    this.#idle.add(connection)
    const ofOrigin = this.#idleOf.get(connection.origin)
    if (ofOrigin) ofOrigin.push(connection)
    else this.#idleOf.set(connection.origin, [connection])
    const [oldest] = this.#idle
    if (this.#idle.size > idleMax) void this.drop(oldest!)
  }

  /** Closes a connection, even in the middle of a request. */
  async drop(connection: Connection): Promise<void> {
    if (this.#idle.has(connection)) this.#forgetIdle(connection)
    this.#open.delete(connection)
    connection.connector.abort()
    await connection.client.destroy(new Error('The connection was closed by this side.'))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((connection) => this.drop(connection)))
  }

  #forgetIdle(connection: Connection): void {
    this.#idle.delete(connection)
    const ofOrigin = this.#idleOf.get(connection.origin)!
    ofOrigin.splice(ofOrigin.lastIndexOf(connection), 1)
    if (ofOrigin.length === 0) this.#idleOf.delete(connection.origin)
  }
}
