import type { Client } from 'undici'
import { createConnector, type Connector, type Guard } from './connector.ts'
import { headerBytesMax } from './outgoing-request.ts'

/** Connections that are kept though nothing goes over them. */
const idleMax = 256
/** How long one is kept so; what the other side says of it counts where it is shorter. */
const keepAliveMs = 4000

/** A connection to one origin, or one that is being made. */
export interface Connection {
  readonly client: Client
  readonly connector: Connector
  readonly origin: string
  /** Whether something was answered over it, so that the other side may close it at any time. */
  isKept: boolean
}

/** Connections that are kept for the next request to their origin. */
export class Connections {
  readonly #guard: Guard
  readonly #Client: typeof Client
  readonly #open = new Set<Connection>()
  /** Those that nothing goes over, the longest unused first. */
  readonly #idle = new Set<Connection>()
  readonly #idleOf = new Map<string, Connection[]>()

  constructor(guard: Guard, client: typeof Client) {
    this.#guard = guard
    this.#Client = client
  }

  /** One that is kept, and stands as far as this side knows; a new one where there is none. */
  take(origin: string): Connection {
    for (;;) {
      const kept = this.#idleOf.get(origin)?.at(-1)
      if (!kept) return this.open(origin)
      this.#forgetIdle(kept)
      if (kept.client.stats.connected) return kept
      void this.drop(kept)
    }
  }

  open(origin: string): Connection {
    const connector = createConnector(this.#guard)
    const client = new this.#Client(origin, {
      connect: connector.connect,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: headerBytesMax,
      // Whoever sends has a deadline for all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const connection = { client, connector, origin, isKept: false }
    client.on('disconnect', () => {
      // What is sent next goes over a new one.
      connection.isKept = false
      if (this.#idle.has(connection)) void this.drop(connection)
    })
    this.#open.add(connection)
    return connection
  }

  /** Keeps one for the next request. */
  keep(connection: Connection): void {
    if (!this.#open.has(connection)) return
    connection.isKept = true
    this.#idle.add(connection)
    const ofOrigin = this.#idleOf.get(connection.origin)
    if (ofOrigin) ofOrigin.push(connection)
    else this.#idleOf.set(connection.origin, [connection])
    const [oldest] = this.#idle
    if (this.#idle.size > idleMax) void this.drop(oldest!)
  }

  /** Closes one, whatever goes over it. */
  async drop(connection: Connection): Promise<void> {
    if (this.#idle.has(connection)) this.#forgetIdle(connection)
    this.#open.delete(connection)
    connection.connector.abort()
    await connection.client.destroy(new Error('The connection was given up.'))
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
