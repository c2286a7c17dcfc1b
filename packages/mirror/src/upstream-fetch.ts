import { setTimeout } from 'node:timers/promises'
import pRetry from 'p-retry'
import { RegistryError } from '@skillstead/protocol'
import type { Clock, OutgoingOptions } from '@skillstead/core'
import { acceptedEncodings, createHttpClient, followRedirects, type HttpRequest } from '@skillstead/core/internal'
import { estimateMs, readAllowance, readRetryAfterMs, toPauseMs, type Allowance } from './rate-allowance.ts'
import type { NetworkMode } from './types.ts'

/** Replacements for the network and for time. Tests pass them with a mirror's options, which do not declare them. */
export interface Replacements {
  /** Sends the requests in place of the HTTP client. */
  readonly fetch?: typeof fetch
  /** Waits for as long as an upstream asks; rejects with the signal's reason. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** Limits and dependencies of the requests to one upstream. */
export interface UpstreamFetchOptions extends Replacements {
  readonly mode: NetworkMode
  readonly clock: Clock
  /** Certificates (PEM) to trust in addition to the system's. */
  readonly ca?: readonly string[]
  readonly proxy?: OutgoingOptions['proxy']
  /** Cancels all requests in progress. */
  readonly signal?: AbortSignal
  /** Maximum size of a response body after decompression. Default: 256 MiB. */
  readonly bytesMax?: number
  /** Maximum time until a response starts, and between two parts of its body, in milliseconds. Default: 30 s. */
  readonly timeoutMs?: number
  /** Maximum number of retries after a transient failure. Default: 4. Use 0 if a caller waits for the response. */
  readonly retries?: number
  /** The longest pause that a server may request; a longer pause throws `rate_limited`. Default: 15 min. */
  readonly pauseMsMax?: number
}

/** Options of `createClient` over an `UpstreamFetch`, which itself retries and waits: no retries and no time limit. */
export const patience = { retries: 0, timeoutMs: 2 ** 31 - 1 } as const

const bytesMaxDefault = 256 * 1024 * 1024
const timeoutMsDefault = 30_000
const retriesDefault = 4
const pauseMsMaxDefault = 15 * 60_000
const backoffMs = 250
/** Maximum time for one response with its body: without it, a server that sends one byte at a time would never end. */
const responseMsMax = 10 * 60_000
const connectionsMax = 8
/** Statuses after which a retry may succeed. */
const transientStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])
/** Matches paths of POST requests that only read, so that they can be retried. */
const readingPath = /\/blobs\/batch$/

/** The rate limit of one kind of caller. */
interface Limiter {
  inFlight: number
  allowance: Allowance | undefined
}

/** A response with a transient status, as an error that `pRetry` retries. After the last retry it is returned. */
class TransientResponse extends Error {
  readonly response: Response

  constructor(response: Response) {
    super(`Status ${response.status}`)
    this.response = response
  }
}

/**
 * Sends requests to one upstream. Waits before the rate limit is used up, and for as long as `Retry-After` asks.
 * Retries transient failures, limits size and time, and follows redirects only to the same origin.
 */
export class UpstreamFetch {
  /**
   * A `fetch` that reads the whole body before it resolves. Throws `offline` before it opens a socket,
   * `upstream_failed` (no response, a redirect to another origin, a body that is too large or incomplete),
   * `upstream_timeout`, and `rate_limited` for a pause longer than `pauseMsMax`. Every other response is returned,
   * whatever its status.
   */
  readonly fetch: typeof fetch
  readonly #options: UpstreamFetchOptions
  readonly #client: ReturnType<typeof createHttpClient>
  /** The rate limits by kind of caller: servers count guests by address, and other callers by key. */
  readonly #limiters = { guest: createCallerLimiter(), key: createCallerLimiter() }
  #requests = 0
  #bytes = 0
  #requestMs = 0

  constructor(options: UpstreamFetchOptions) {
    this.#options = options
    this.#client = createHttpClient({ ca: options.ca, proxy: options.proxy, fetch: options.fetch, connectionsMax })
    this.fetch = this.within(options.bytesMax ?? bytesMaxDefault)
  }

  /** The same `fetch` with another maximum size of the response body. */
  within(bytesMax: number): typeof fetch {
    return (input, init = {}) => this.#retry(input, init, bytesMax)
  }

  /** Number of requests sent, including retries and redirects. */
  get requests(): number {
    return this.#requests
  }

  /** Number of bytes of response bodies received, after decompression. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Estimates how long N more requests take, from the duration of the last requests and from the rate limit of the
   * upstream. Requests with a key have another rate limit than requests without.
   */
  estimateSeconds(requests: number, withKey = false): number {
    const { allowance } = this.#limiters[withKey ? 'key' : 'guest']
    return Math.ceil(estimateMs(requests, this.#requestMs, allowance, this.#options.clock.now()) / 1000)
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #retry(input: string | URL | Request, init: RequestInit, bytesMax: number): Promise<Response> {
    const { mode, clock, retries = retriesDefault } = this.#options
    const url = new URL(input instanceof Request ? input.url : input)
    if (mode === 'offline') {
      throw new RegistryError('offline', `This node is in offline mode and sends no request to ${url.origin}.`)
    }
    const signals = [this.#options.signal, init.signal].filter((each) => each != null)
    const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0]
    const sent = toUpstreamRequest(init)
    const isReading = sent.method === 'GET' || sent.method === 'HEAD' || readingPath.test(url.pathname)
    const hasKey = sent.headers.authorization !== undefined
    const sendTo = (target: URL) => this.#send(target, sent, bytesMax, signal)
    const once = async () => {
      const response = isReading ? await followRedirects(url, { hasKey }, sendTo) : await sendTo(url)
      // After a 429, even a write can be retried, because the server has not processed the request.
      if (isReading ? transientStatuses.has(response.status) : response.status === 429)
        throw new TransientResponse(response)
      return response
    }
    try {
      return await pRetry(once, {
        retries,
        minTimeout: backoffMs,
        randomize: true,
        signal,
        onFailedAttempt: async ({ error, retriesLeft, retryDelay }) => {
          if (retriesLeft === 0 || !isTransientFailure(error, isReading)) throw error
          if (!(error instanceof TransientResponse)) return
          const ms = readRetryAfterMs(error.response.headers, clock.now()) ?? 0
          if (ms > retryDelay) await this.#pause(ms - retryDelay, url.origin, signal)
        },
      })
    } catch (error) {
      if (error instanceof TransientResponse) return error.response
      throw error
    }
  }

  /** Sends one request within the rate limit. */
  async #send(url: URL, request: HttpRequest, bytesMax: number, signal: AbortSignal | undefined): Promise<Response> {
    const { clock, timeoutMs: idleMs = timeoutMsDefault } = this.#options
    const limiter = this.#limiters[request.headers.authorization === undefined ? 'guest' : 'key']
    const pauseMs = toPauseMs(limiter.allowance, limiter.inFlight, clock.now())
    if (pauseMs > 0) await this.#pause(pauseMs, url.origin, signal)
    // Counted before the request is sent, so that no concurrent request takes the same last place of the allowance.
    limiter.inFlight += 1
    const startMs = performance.now()
    try {
      this.#requests += 1
      const response = await this.#client.send(url, request, { bytesMax, timeoutMs: responseMsMax, idleMs, signal })
      this.#bytes += response.bytes.length
      limiter.allowance = readAllowance(response.headers, clock.now()) ?? limiter.allowance
      const { status, headers } = response
      const answer = new Response(response.bytes.length > 0 ? response.bytes : null, { status, headers })
      // The URL is set, because errors about a response name its server.
      return Object.defineProperty(answer, 'url', { value: url.href })
    } finally {
      limiter.inFlight -= 1
      // A moving average, in which recent requests count most.
      const ms = performance.now() - startMs
      this.#requestMs = this.#requestMs === 0 ? ms : this.#requestMs * 0.8 + ms * 0.2
    }
  }

  async #pause(ms: number, origin: string, signal: AbortSignal | undefined): Promise<void> {
    const { sleep = waitForUpstream, pauseMsMax = pauseMsMaxDefault } = this.#options
    if (ms > pauseMsMax) {
      const seconds = Math.ceil(ms / 1000)
      const detail = `${origin} accepts no more requests for ${seconds} s. The next run continues from here.`
      throw new RegistryError('rate_limited', detail, { retryAfterSeconds: seconds })
    }
    await sleep(ms, signal)
  }
}

function createCallerLimiter(): Limiter {
  return { inFlight: 0, allowance: undefined }
}

function toUpstreamRequest({ method = 'GET', headers, body }: RequestInit): HttpRequest {
  const defaults = { 'user-agent': 'skillstead-mirror', accept: '*/*', 'accept-encoding': acceptedEncodings }
  return {
    method: method as HttpRequest['method'],
    headers: { ...defaults, ...Object.fromEntries(new Headers(headers)) },
    ...(body != null && { body: body as string | Uint8Array }),
  }
}

function isTransientFailure(error: unknown, isReading: boolean): boolean {
  if (error instanceof TransientResponse) return true
  if (!isReading || !(error instanceof RegistryError)) return false
  return error.cause !== undefined && error.code.startsWith('upstream_')
}

async function waitForUpstream(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted())
}
