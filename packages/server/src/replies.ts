import { ReadableStream } from 'node:stream/web'
import { FastResponse } from 'srvx'
import { toRegistryError as toKnownError } from '@skillstead/core'
import { allowances, RegistryError, errorTable, toProblem } from '@skillstead/protocol'
import type { Call } from './call.ts'
import { matchesEtag, toEtag } from './etags.ts'
import type { Quota } from './quotas.ts'

export type Header = [name: string, value: string]

/** What goes back to a caller, before it is known whether he has it already. */
export interface Answer {
  readonly status: number
  readonly contentType?: string
  /** A stream is sent as fast as the caller takes it. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | null
  /** Computed from the body of a `GET` where it is not given. */
  readonly etag?: string
  /** `private, no-store` where it is not said. */
  readonly cacheControl?: string
  readonly headers?: readonly Header[]
}

/** A response that is there in one piece. Whoever mounts a node reads it as any other; what listens need not. */
export class WholeResponse extends FastResponse {
  readonly head: readonly Header[]
  readonly content: Uint8Array | null

  constructor(content: Uint8Array | null, init: { readonly status: number; readonly headers: Header[] }) {
    super(content as BodyInit | null, init)
    this.head = init.headers
    this.content = content
  }
}

/** Only browsers that ask across origins read this, and they say so by `Origin`. */
const exposed: Header = [
  'access-control-expose-headers',
  'age, etag, idempotency-replayed, location, ratelimit, ratelimit-policy, retry-after, www-authenticate, ' +
    'x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-request-id, x-skillstead-stale',
]
const vary: Header = ['vary', 'Authorization, Cookie']
const varyByOrigin: Header = ['vary', 'Authorization, Cookie, Origin']
const noSniff: Header = ['x-content-type-options', 'nosniff']
const preflight: readonly Header[] = [
  [
    'access-control-allow-headers',
    'authorization, content-type, idempotency-key, if-none-match, x-agent-token, x-case-token, x-request-id, ' +
      'x-share-token, x-skillstead-client, x-skills-update-check',
  ],
  ['access-control-max-age', '86400'],
]

/**
 * Renders an answer in one piece. A header that is set afterwards costs a fifth of the throughput, and a native
 * Response more, so everything is known before the one `FastResponse` is made.
 */
export function reply(call: Call, answer: Answer): Response {
  const { status, contentType, body, cacheControl = 'private, no-store' } = answer
  const reads = call.method === 'GET' || call.method === 'HEAD'
  const bytes = body instanceof Uint8Array ? body : undefined
  const etag = status === 200 && reads ? etagOf(answer) : undefined
  const headers: Header[] = commonHeaders(call)
  headers.push(['cache-control', cacheControl])
  if (etag) headers.push(['etag', etag])
  if (answer.headers) headers.push(...answer.headers)

  if (isKnownToCaller(call, etag)) {
    abandon(body)
    return new WholeResponse(null, { status: 304, headers })
  }
  if (contentType) headers.push(['content-type', contentType])
  if (bytes) headers.push(['content-length', `${bytes.byteLength}`])
  if (call.method === 'HEAD') {
    abandon(body)
    return new WholeResponse(null, { status, headers })
  }
  if (bytes) return new WholeResponse(bytes, { status, headers })
  if (body !== null)
    return new FastResponse(toStream(body as AsyncIterable<Uint8Array>) as BodyInit, { status, headers })
  if (status !== 204) headers.push(['content-length', '0'])
  return new WholeResponse(null, { status, headers })
}

/** The entity tag of an answer: its own, or one made of its bytes. */
export function etagOf({ etag, body }: Answer): string | undefined {
  return etag ?? (body instanceof Uint8Array ? toEtag(body) : undefined)
}

/** Whether the caller said that he has the entity. */
export function isKnownToCaller(call: Call, etag: string | undefined): boolean {
  const ifNoneMatch = etag && call.header('if-none-match')
  return Boolean(ifNoneMatch && matchesEtag(ifNoneMatch, etag))
}

/** Renders an error as `application/problem+json` (RFC 9457), with what its status asks for. */
export function replyProblem(call: Call, error: RegistryError, headers: readonly Header[] = []): Response {
  const own: Header[] = [...headers]
  if (error.status === 401) own.push(['www-authenticate', 'Bearer'])
  // Offline is what the operator chose: waiting changes nothing.
  const passes = error.status === 503 && error.code !== 'offline'
  const retryAfter = error.retryAfterSeconds ?? (passes ? 5 : undefined)
  if (retryAfter !== undefined) own.push(['retry-after', `${retryAfter}`])
  if (error.code === 'shutting_down') own.push(['connection', 'close'])
  const body = Buffer.from(JSON.stringify(toProblem(error, call.requestId)))
  return reply(call, { status: error.status, contentType: 'application/problem+json', body, headers: own })
}

/** Answers `OPTIONS`: what an address takes, and that a browser may call it. */
export function replyOptions(call: Call, methods: readonly string[]): Response {
  const list = methods.join(', ')
  const headers: Header[] = [...preflight, ['allow', list], ['access-control-allow-methods', list]]
  return reply(call, { status: 204, body: null, headers })
}

/** The answer for an address that nothing is mounted on; it repeats nothing of the address. */
export function nothingHere(): RegistryError {
  return new RegistryError('not_found', 'There is nothing at this address.')
}

/** Anything thrown, as what a caller may see of it: unknown errors say nothing. */
export function toRegistryError(thrown: unknown): RegistryError {
  // Who asks is looked up before any operation, in a database that may be away.
  const error = toKnownError(thrown)
  if (error instanceof RegistryError && Object.hasOwn(errorTable, error.code)) return error
  return new RegistryError('internal', 'The node failed; its log has the request id.', { cause: error })
}

function commonHeaders(call: Call): Header[] {
  const [reset, policy, left] = quotaHeaders(call.quota!)
  const headers: Header[] = [
    ['x-request-id', call.requestId],
    ['x-ratelimit-limit', `${call.quota!.limit}`],
    ['x-ratelimit-remaining', `${call.quota!.remaining}`],
    ['x-ratelimit-reset', reset],
    ['ratelimit-policy', [policy, ...otherPolicies(call)].join(', ')],
    ['ratelimit', left],
    call.allowedOrigin !== '*' && call.header('origin') !== null ? varyByOrigin : vary,
    noSniff,
  ]
  if (call.crossOrigin && call.allowedOrigin !== undefined) {
    headers.push(['access-control-allow-origin', call.allowedOrigin])
    if (call.header('origin') !== null) headers.push(exposed)
  }
  return headers
}

/** The limits against abuse that an endpoint has beside the one that the other fields describe. */
function otherPolicies({ allowances: names, quota }: Call): string[] {
  const others = names.filter((name) => name !== quota!.policy)
  return others.map((name) => `"${name}";q=${allowances[name].limit};w=${allowances[name].windowSeconds}`)
}

/** The reset as Unix time, and the two fields of draft-ietf-httpapi-ratelimit-headers (structured fields). */
export function quotaHeaders(quota: Quota): [reset: string, policy: string, left: string] {
  const nowSeconds = Math.ceil(Date.now() / 1000)
  return [
    `${nowSeconds + quota.resetSeconds}`,
    `"${quota.policy}";q=${quota.limit}${quota.unit ? `;qu="${quota.unit}"` : ''};w=${quota.windowSeconds}`,
    `"${quota.policy}";r=${quota.remaining};t=${quota.resetSeconds}`,
  ]
}

function toStream(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return ReadableStream.from(body)
}

/** Tells a stream that nobody will read it, so that it lets go of what it holds. */
function abandon(body: Answer['body']): void {
  if (body === null || body instanceof Uint8Array) return
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined)
}
