import { RegistryError } from '@skillstead/protocol'
import type { Dispatcher } from 'undici'
import type { Connection, Connections } from './outgoing-connections.ts'
import { isClosed } from './request-failures.ts'
import type { OutgoingPost } from './outgoing.ts'

/**
 * A response of up to this size and duration is drained, so that its connection can be used again; otherwise it is
 * closed.
 */
const drainedBytesMax = 16 * 1024
const drainMs = 250
/** Maximum number of interim responses (RFC 9110, section 15.2) before the final one. */
const interimMax = 16

/** One POST and its response, of which only the status is used. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #connections: Connections
  readonly #url: URL
  readonly #request: OutgoingPost
  readonly #outcome = Promise.withResolvers<number>()
  #connection: Connection
  #timer: NodeJS.Timeout
  #interims = 0
  #bytes = 0
  #isOver = false

  constructor(connections: Connections, url: URL, request: OutgoingPost) {
    this.#connections = connections
    this.#url = url
    this.#request = request
    this.#connection = connections.take(url.origin)
    this.#timer = setTimeout(
      () => this.#end(new RegistryError('upstream_timeout', 'The host did not respond in time.')),
      request.timeoutMs,
    )
  }

  /** Sends the request and returns the status. */
  run(): Promise<number> {
    this.#dispatch()
    return this.#outcome.promise
  }

  #dispatch(): void {
    const { pathname, search } = this.#url
    const { headers, body } = this.#request
    this.#connection.client.dispatch({ path: pathname + search, method: 'POST', headers, body }, this)
  }

  onRequestStart(): void {}

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) {
      this.#interims += 1
      if (this.#interims > interimMax) controller.abort(new Error('Too many interim responses.'))
      return
    }
    this.#outcome.resolve(status)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#end(undefined), drainMs)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > drainedBytesMax) controller.abort(new Error('The response body is too long to drain.'))
  }

  onResponseEnd(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#connections.keep(this.#connection)
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#isStale(error)) this.#reconnect()
    else this.#end(error)
  }

  /**
   * Whether the server closed a reused connection just as the request was sent, which is no failure of the server.
   * Undici reconnects by itself if nothing was sent yet; the connection then counts as new.
   */
  #isStale(error: Error): boolean {
    return !this.#isOver && this.#connection.wasUsed && this.#interims === 0 && isClosed(error)
  }

  #reconnect(): void {
    void this.#connections.drop(this.#connection)
    this.#connection = this.#connections.open(this.#url.origin)
    this.#dispatch()
  }

  /** Closes the connection. Errors after the status was received are ignored. */
  #end(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    void this.#connections.drop(this.#connection)
    this.#outcome.reject(error)
  }
}
