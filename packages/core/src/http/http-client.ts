import { pipeline, Readable, type Transform } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import tls, { type SecureContext } from 'node:tls'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { RegistryError } from '@skillstead/protocol'
import { Cancellation } from './cancellation.ts'
import type { ConnectionPool, Guard, PooledRequest } from './connection-pool.ts'
import { requireProxies, type ProxySettings } from './proxy.ts'
import { toFailure, toRequestName, toUpstreamFailed, type RequestSubject } from './request-failures.ts'
import { parseTarget } from './request-target.ts'

export interface HttpClientOptions {
  /**
   * If set, connects only to allowed addresses, as URLs from users require. Default: any address is allowed, for
   * servers that the operator configured.
   */
  readonly guard?: Guard
  /** Certificates (PEM) to trust in addition to the system's. */
  readonly ca?: readonly string[] | undefined
  /** Maximum number of connections to one origin. Default: unlimited. */
  readonly connectionsMax?: number
  /** Default: no proxy. */
  readonly proxy?: ProxySettings | undefined
  /** Sends the requests of {@link HttpClient.send} in place of the connection pool. Only tests set it. */
  readonly fetch?: typeof fetch | undefined
}

/** Time limits in milliseconds. */
interface TimeLimits {
  /** Deadline for the whole exchange, including the DNS lookup and the body. */
  readonly timeoutMs: number
  /** Deadline for the start of the response and for each further part of its body. Default: `timeoutMs`. */
  readonly idleMs?: number
  /** Cancels the request; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export type HttpRequest = Omit<PooledRequest, 'cancellation'>

interface ReadLimits extends TimeLimits {
  /** A larger body is refused as soon as its size is known. */
  readonly bytesMax: number
}

/** A response with its whole body. */
interface HttpResponse {
  readonly url: URL
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer<ArrayBuffer>
}

/** Sends HTTP requests with limits on time and size. */
export interface HttpClient {
  /**
   * Sends one request and reads the response. Returns redirects as responses. Decompresses the body if the request has
   * an `accept-encoding` other than `identity`; otherwise refuses compressed bodies. Throws `upstream_failed`,
   * `upstream_timeout`, `shutting_down`, and `invalid_request` for hosts that the guard forbids.
   */
  send(url: URL, request: HttpRequest, limits: ReadLimits): Promise<HttpResponse>
  /** Sends one request and returns the status. Reads only as much of the body as is needed to reuse the connection. */
  sendForStatus(url: URL, request: HttpRequest, limits: TimeLimits): Promise<number>
  /**
   * Runs work with a deadline, such as a DNS lookup that cannot be cancelled. `subject` names the work in errors.
   * Throws like {@link send}.
   */
  within<T>(subject: RequestSubject, limits: TimeLimits, work: CancellableWork<T>): Promise<T>
  /** Cancels all requests and closes all connections. */
  close(): Promise<void>
}

/** Work that should stop when `cancellation` is cancelled. It calls `progress` to restart the idle deadline. */
type CancellableWork<T> = (cancellation: Cancellation, progress: () => void) => Promise<T>

/** A response whose body is not read yet. */
interface ResponseStart {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readable
}

const redirectsMax = 3
/** Status codes that redirect the client. */
export const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const decoders = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])
/** Value of `accept-encoding` for requests whose responses are decompressed. */
export const acceptedEncodings = [...decoders.keys()].join(', ')

/** Creates an HTTP client. Throws an error for certificates that cannot be parsed, and for invalid proxy URLs. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { guard, connectionsMax } = options
  const proxy = requireProxies(options.proxy)
  const secureContext = toSecureContext(options.ca ?? [])
  const running = new Set<Cancellation>()
  let opening: Promise<ConnectionPool> | undefined
  let isClosed = false

  async function openPool(cancellation: Cancellation): Promise<ConnectionPool> {
    // Loaded on first use: short commands make no outgoing requests.
    opening ??= import('./connection-pool.ts').then(
      ({ ConnectionPool }) => new ConnectionPool({ guard, secureContext, connectionsMax, proxy }),
    )
    const pool = await opening
    cancellation.throwIfCancelled()
    return pool
  }

  const within: HttpClient['within'] = async (subject, { timeoutMs, idleMs, signal }, work) => {
    const cancellation = new Cancellation()
    const expire = () => cancellation.cancel(toTimeoutError(subject))
    const abort = () => cancellation.cancel(signal!.reason)
    const deadline = setTimeout(expire, timeoutMs)
    const idle = idleMs === undefined ? undefined : setTimeout(expire, idleMs)
    signal?.addEventListener('abort', abort)
    running.add(cancellation)
    if (isClosed) cancellation.cancel(toClosedError())
    if (signal?.aborted) abort()
    try {
      cancellation.throwIfCancelled()
      // DNS queries cannot be cancelled, but the caller need not wait for them.
      return await new Promise((resolve, reject) => {
        cancellation.onCancel(reject)
        work(cancellation, () => idle?.refresh()).then(resolve, reject)
      })
    } catch (error) {
      if (cancellation.reason) throw cancellation.reason
      throw error instanceof RegistryError ? error : toUpstreamFailed(subject, error, !guard)
    } finally {
      clearTimeout(deadline)
      clearTimeout(idle)
      signal?.removeEventListener('abort', abort)
      running.delete(cancellation)
    }
  }

  return {
    within,
    send: (url, request, limits) =>
      within(url, limits, async (cancellation, progress) => {
        const sent = { ...request, cancellation }
        const response = options.fetch
          ? await startFetch(options.fetch, url, sent)
          : await (await openPool(cancellation)).request(url, sent)
        return readWholeResponse(url, request, response, limits.bytesMax, progress)
      }),
    async sendForStatus(url, request, limits) {
      const status = await within(url, limits, async (cancellation) =>
        (await openPool(cancellation)).requestStatus(url, { ...request, cancellation }),
      )
      // Undici can reuse the connection only in the next turn of the event loop: the next request begins after that.
      await setImmediate()
      return status
    },
    async close() {
      isClosed = true
      for (const cancellation of running) cancellation.cancel(toClosedError())
      await (await opening)?.close()
    },
  }
}

/**
 * Trusts the given certificates in addition to the system's. Returns undefined if none are given. Throws if a
 * certificate cannot be parsed.
 */
function toSecureContext(ca: readonly string[]): SecureContext | undefined {
  if (ca.length === 0) return undefined
  // Include the certificates of NODE_EXTRA_CA_CERTS and --use-system-ca, which Node.js before 22.15 cannot list.
  const known = tls.getCACertificates?.('default') ?? tls.rootCertificates
  return tls.createSecureContext({ ca: [...known, ...ca] })
}

function toTimeoutError(subject: RequestSubject): RegistryError {
  return new RegistryError('upstream_timeout', `${toRequestName(subject)} timed out.`, { cause: 'deadline' })
}

function toClosedError(): RegistryError {
  return new RegistryError('shutting_down', 'The node is shutting down.')
}

async function startFetch(send: typeof fetch, url: URL, request: PooledRequest): Promise<ResponseStart> {
  const { method, headers, body, cancellation } = request
  const signal = cancellation.toSignal()
  const response = await send(url, { method, headers, body: body as BodyInit, signal, redirect: 'manual' })
  // `fetch` has decompressed the body, so remove the headers that describe the compressed body.
  const { 'content-encoding': _encoding, 'content-length': _length, ...fields } = Object.fromEntries(response.headers)
  return { statusCode: response.status, headers: fields, body: Readable.from(response.body ?? []) }
}

async function readWholeResponse(
  url: URL,
  request: HttpRequest,
  { statusCode: status, headers: fields, body }: ResponseStart,
  bytesMax: number,
  progress: () => void,
): Promise<HttpResponse> {
  const pairs = Object.entries(fields).flatMap(([name, value = []]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  )
  const headers = new Headers(pairs)
  const tooLarge = () => toFailure(url, `the response is larger than ${bytesMax} bytes`)
  // Ignore errors of the unread rest of the body: without a listener they would end the process.
  body.on('error', () => {})
  try {
    const hasBody = request.method !== 'HEAD' && status !== 204 && status !== 304
    if (hasBody && Number(headers.get('content-length')) > bytesMax) throw tooLarge()
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of hasBody ? decompress(url, request, headers, body) : body) {
      progress()
      length += chunk.length
      if (length > bytesMax) throw tooLarge()
      chunks.push(chunk)
    }
    return { url, status, headers, bytes: Buffer.concat(chunks) }
  } finally {
    body.destroy()
  }
}

/**
 * The decompressed body. A small compressed body can expand to an enormous size, so it is refused unless the request
 * accepted compression.
 */
function decompress(url: URL, request: HttpRequest, headers: Headers, body: Readable): AsyncIterable<Uint8Array> {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() || 'identity'
  if (encoding === 'identity') return body
  const create = request.headers['accept-encoding'] === acceptedEncodings ? decoders.get(encoding) : undefined
  if (!create) throw toFailure(url, 'the response has a content encoding that the request did not accept')
  headers.delete('content-encoding')
  headers.delete('content-length')
  return pipeline(body, create(), () => {})
}

/**
 * Follows redirects to the same origin and, if no API key is sent, from http to https on the same host. A guarded
 * client also follows redirects to another port of the same host: it sends no key, and checks the URL of each redirect.
 * Clients without a guard do not follow that redirect, because the other port can belong to another user's program.
 * `send` sends one request.
 */
export async function followRedirects<Answer extends Pick<Response, 'status' | 'headers'>>(
  start: URL,
  { isGuarded = false, hasKey = false },
  send: (url: URL) => Promise<Answer>,
): Promise<Answer> {
  let url = start
  for (let redirects = 0; ; redirects++) {
    const answer = await send(url)
    const location = answer.headers.get('location')
    if (!redirectStatuses.has(answer.status) || location === null) return answer
    if (redirects === redirectsMax) throw toFailure(url, 'the server sent too many redirects')
    url = toRedirectTarget(url, location, isGuarded, hasKey)
  }
}

function toRedirectTarget(from: URL, location: string, isGuarded: boolean, hasKey: boolean): URL {
  const next = URL.canParse(location, from) ? new URL(location, from) : undefined
  const isSameHost = next?.hostname === from.hostname
  const isUpgrade = isSameHost && next.protocol === 'https:' && from.protocol === 'http:'
  const isFollowed = isGuarded ? isSameHost && next.protocol === from.protocol : next?.origin === from.origin
  if (!next || !(isFollowed || (isUpgrade && !hasKey))) {
    const advice = isGuarded ? '' : 'Configure that URL if it is the right one.'
    throw toFailure(
      toRequestName(from),
      `it was redirected to ${next?.origin ?? 'an invalid URL'}, which is not followed`,
      advice,
    )
  }
  if (isGuarded) return parseTarget(next.href, 'url')
  if (next.username || next.password) throw toFailure(from, 'it was redirected to a URL with credentials')
  return next
}
