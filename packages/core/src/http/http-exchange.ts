import { RegistryError } from '@skillstead/protocol'
import type { Dispatcher } from 'undici'
import type { Connection, Connections } from './connections.ts'
import { isClosed } from './request-failures.ts'
import type { OutgoingPost } from './outgoing.ts'

/** So much of an answer is read, and waited for, that its connection can be used again; otherwise it is closed. */
const drainedBytesMax = 16 * 1024
const drainMs = 250
/** Interim answers (RFC 9110, section 15.2) before the one that counts. */
const interimMax = 16

/** One POST and its answer, of which nothing but the status is asked. */
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
      () => this.#end(new RegistryError('upstream_timeout', 'There was no answer in time.')),
      request.timeoutMs,
    )
  }

  /** Sends the request, and answers the status. */
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
      if (this.#interims > interimMax) controller.abort(new Error('Nothing but interim answers.'))
      return
    }
    this.#outcome.resolve(status)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#end(undefined), drainMs)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > drainedBytesMax) controller.abort(new Error('There is more of it than anybody reads.'))
  }

  onResponseEnd(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#connections.keep(this.#connection)
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#isStale(error)) this.#startAnew()
    else this.#end(error)
  }

  /**
   * Whether the other side closed a kept connection at the moment of its use, which says nothing of it. Undici connects
   * again by itself where nothing was sent yet; the connection counts as new then.
   */
  #isStale(error: Error): boolean {
    return !this.#isOver && this.#connection.isKept && this.#interims === 0 && isClosed(error)
  }

  #startAnew(): void {
    void this.#connections.drop(this.#connection)
    this.#connection = this.#connections.open(this.#url.origin)
    this.#dispatch()
  }

  /** Closes the connection. What is said after a status was there is said to nobody. */
  #end(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    void this.#connections.drop(this.#connection)
    this.#outcome.reject(error)
  }
}
