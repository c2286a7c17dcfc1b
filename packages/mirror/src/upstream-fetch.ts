import { RegistryError } from '@skillstead/protocol'
import type { Clock } from '@skillstead/core'
import pRetry from 'p-retry'
import { estimateMs, readAllowance, readRetryAfterMs, toPauseMs, type Allowance } from './rate-allowance.ts'
import type { NetworkMode } from './types.ts'
import { createConnection, fail, readWhole, type Order } from './upstream-exchange.ts'

/** How one upstream is asked. */
export interface UpstreamFetchOptions {
  readonly mode: NetworkMode
  readonly clock: Clock
  /** Certificates to trust besides the system's, PEM. */
  readonly ca?: readonly string[]
  /** Waits; rejects with the signal's reason. Tests hand in one that moves their clock. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Ends everything that is under way when it is aborted. */
  readonly signal?: AbortSignal
  /** Lies below: the one that opens sockets. */
  readonly fetch?: typeof fetch
  /** Of one answer, unpacked. */
  readonly bytesMax?: number
  /** For the beginning of an answer, and for each further piece of it. */
  readonly timeoutMs?: number
  /** How often what passes is tried again; 0 where somebody waits. */
  readonly retries?: number
  /** The longest pause that a server may ask for; a longer one is `rate_limited`. 0 where somebody waits. */
  readonly pauseMsMax?: number
  /** Told of each pause as it begins. */
  readonly onPause?: (ms: number) => void
}

/** The way to one upstream. */
export interface UpstreamFetch {
  /**
   * A `fetch` whose answers are there whole. Throws `offline` before any socket, `upstream_failed` (no answer, a redirect
   * to another host, too large, broken off), `upstream_timeout`, `rate_limited` (a pause longer than may be). What the
   * upstream answers otherwise is an answer, whatever its status.
   */
  readonly fetch: typeof fetch
  /** The same for answers that are known to be small. */
  within(bytesMax: number): typeof fetch
  /** How many requests went out, repeated ones and redirects included. */
  readonly requests: number
  /** How many bytes of bodies came in. */
  readonly bytes: number
  /**
   * How long so many more requests take, by what the last ones took and by the allowance that the upstream told; those
   * with a key have another one.
   */
  estimateSeconds(requests: number, withKey?: boolean): number
  close(): Promise<void>
}

/** For `createClient` over such a fetch: it repeats and waits by itself, also for minutes. */
export const patience = { retries: 0, timeoutMs: 2 ** 31 - 1 } as const

const bytesMaxDefault = 256 * 1024 * 1024
const timeoutMsDefault = 30_000
const retriesDefault = 4
const pauseMsMaxDefault = 15 * 60_000
const backoffMs = 250
const redirectsMax = 3
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Answers that are other ones a moment later. */
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])
/** A question, though it is a POST. */
const askingPath = /\/blobs\/batch$/

/** What one kind of caller may still ask. */
interface Lane {
  inFlight: number
  allowance: Allowance | undefined
}

/** An answer that passes, kept in case no better one comes. */
class PassingAnswer extends Error {
  readonly response: Response

  constructor(response: Response) {
    super(`Status ${response.status}`)
    this.response = response
  }
}

/**
 * A `fetch` for one upstream: polite (it waits before the allowance of the rate headers is gone, and as long as
 * `Retry-After` says), patient with what passes, bounded in bytes and time, and never led to another host.
 */
export function createUpstreamFetch(options: UpstreamFetchOptions): UpstreamFetch {
  const { clock, sleep = wait, pauseMsMax = pauseMsMaxDefault } = options
  const connect = createConnection(options.fetch, options.ca)
  let requests = 0
  let bytes = 0
  let requestMs = 0
  /** Guests are counted by address, others by their key. */
  const lanes = { guest: createLane(), key: createLane() }

  async function pause(ms: number, who: string, signal: AbortSignal | undefined): Promise<void> {
    if (ms > pauseMsMax) {
      const seconds = Math.ceil(ms / 1000)
      const detail = `${who} takes no more requests for ${seconds} s; the next run goes on from here.`
      throw new RegistryError('rate_limited', detail, { retryAfterSeconds: seconds })
    }
    options.onPause?.(ms)
    await sleep(ms, signal)
  }

  async function exchange({ url, init, bytesMax, signal }: Order): Promise<Response> {
    const lane = lanes[new Headers(init.headers).has('authorization') ? 'key' : 'guest']
    const pauseMs = toPauseMs(lane.allowance, lane.inFlight, clock.now())
    if (pauseMs > 0) await pause(pauseMs, url.origin, signal)
    // At once, so that no other one takes the same last place of the allowance.
    lane.inFlight += 1
    const startMs = performance.now()
    try {
      const send = await connect()
      requests += 1
      const timeoutMs = options.timeoutMs ?? timeoutMsDefault
      const response = await readWhole(
        send,
        { url, init: { ...init, redirect: 'manual' }, bytesMax, signal },
        timeoutMs,
      )
      bytes += response.length
      lane.allowance = readAllowance(response.answer.headers, clock.now()) ?? lane.allowance
      return response.answer
    } finally {
      lane.inFlight -= 1
      // The last ones count most.
      const ms = performance.now() - startMs
      requestMs = requestMs === 0 ? ms : requestMs * 0.8 + ms * 0.2
    }
  }

  async function follow(order: Order): Promise<Response> {
    let { url } = order
    for (let redirects = 0; ; redirects++) {
      const response = await exchange({ ...order, url })
      const location = response.headers.get('location')
      if (!redirectStatuses.has(response.status) || location === null || !isAsking(order.init, url)) return response
      if (redirects === redirectsMax) throw fail(`${url.origin} answers with one redirect after another.`)
      url = toNext(url, location, new Headers(order.init.headers).has('authorization'))
    }
  }

  async function ask(input: string | URL | Request, init: RequestInit, bytesMax: number): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : input)
    if (options.mode === 'offline') {
      throw new RegistryError('offline', `This node is in offline mode and does not ask ${url.origin}.`)
    }
    const signal = joinSignals(options.signal, init.signal)
    const mayRepeat = isAsking(init, url)
    const once = async () => {
      const response = await follow({ url, init, bytesMax, signal })
      // Nothing was done where there were too many requests, so that even what writes may come again.
      const isPassing = mayRepeat ? passingStatuses.has(response.status) : response.status === 429
      if (isPassing) throw new PassingAnswer(response)
      return response
    }
    try {
      return await pRetry(once, {
        retries: options.retries ?? retriesDefault,
        minTimeout: backoffMs,
        randomize: true,
        signal,
        async onFailedAttempt({ error, retriesLeft, retryDelay }) {
          if (retriesLeft === 0 || !mayPass(error, mayRepeat)) throw error
          if (error instanceof PassingAnswer) {
            const ms = readRetryAfterMs(error.response.headers, clock.now()) ?? 0
            if (ms > retryDelay) await pause(ms - retryDelay, url.origin, signal)
          }
        },
      })
    } catch (error) {
      if (error instanceof PassingAnswer) return error.response
      throw error
    }
  }

  return {
    fetch: (input, init = {}) => ask(input, init, options.bytesMax ?? bytesMaxDefault),
    within:
      (bytesMax) =>
      (input, init = {}) =>
        ask(input, init, bytesMax),
    get requests() {
      return requests
    },
    get bytes() {
      return bytes
    },
    estimateSeconds(left, withKey = false) {
      const { allowance } = lanes[withKey ? 'key' : 'guest']
      return Math.ceil(estimateMs(left, requestMs, allowance, clock.now()) / 1000)
    },
    close: () => connect.close(),
  }
}

function createLane(): Lane {
  return { inFlight: 0, allowance: undefined }
}

/** Whether it changes nothing there, so that it may be asked again. */
function isAsking({ method = 'GET' }: RequestInit, url: URL): boolean {
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && askingPath.test(url.pathname))
}

function mayPass(error: Error, mayRepeat: boolean): boolean {
  if (error instanceof PassingAnswer) return true
  if (!(error instanceof RegistryError)) return false
  return mayRepeat && error.cause !== undefined && error.code.startsWith('upstream_')
}

/**
 * Where a redirect leads: the same origin or, without an API key, the same host over TLS. Another port may be another
 * user's program, and a key that went out in plain text is not worth a detour.
 */
function toNext(from: URL, location: string, withKey: boolean): URL {
  const next = URL.canParse(location, from) ? new URL(location, from) : undefined
  const isUpgrade = next?.hostname === from.hostname && from.protocol === 'http:' && next.protocol === 'https:'
  if (next && !next.username && !next.password) {
    if (next.origin === from.origin || (isUpgrade && !withKey)) return next
    if (isUpgrade)
      throw fail(
        `${from.origin} redirects to ${next.origin}, where no API key is sent. Change the address to that one.`,
      )
  }
  throw fail(`${from.origin} sends to another place, which is not followed; give that address if it is the right one.`)
}

function joinSignals(a: AbortSignal | undefined, b: AbortSignal | null | undefined): AbortSignal | undefined {
  return a && b ? AbortSignal.any([a, b]) : (a ?? b ?? undefined)
}

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}
