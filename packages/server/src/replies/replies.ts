import { ReadableStream } from 'node:stream/web'
import { FastResponse } from 'srvx'
import { toRegistryError } from '@skillstead/core/internal'
import type { Answer, GatewayRoute, Header } from '@skillstead/gateways'
import { allowances, isRegistryError, isResponseCode, RegistryError, toProblem } from '@skillstead/protocol'
import type { Call } from '../context/call.ts'
import { matchesEtag, toEtag } from './etags.ts'
import type { Quota } from '../context/quotas.ts'

/**
 * A response with a complete body. Programs that mount a node use it like any other response; our listener sends a
 * short one in one write.
 */
export class WholeResponse extends FastResponse {
  readonly head: readonly Header[]
  readonly content: Uint8Array | null

  constructor(content: Uint8Array | null, init: { readonly status: number; readonly headers: Header[] }) {
    super(content as BodyInit | null, init)
    this.head = init.headers
    this.content = content
  }
}

/** This header is sent only if the request has `Origin`, because only browsers with cross-origin requests read it. */
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
 * Builds a complete response. All headers are collected before the one `FastResponse` is created, because setting a
 * header later costs a fifth of the throughput. A native Response costs even more.
 */
export function reply(call: Call, answer: Answer): Response {
  const { status, body } = answer
  const reads = call.method === 'GET' || call.method === 'HEAD'
  const etag = status === 200 && reads ? etagOf(answer) : undefined
  const headers: Header[] = commonHeaders(call)
  if (isKnownToCaller(call, etag)) {
    cancelBody(body)
    headers.push(...cacheHeaders(answer, etag))
    return new WholeResponse(null, { status: 304, headers })
  }
  headers.push(...contentHeaders(answer, etag))
  if (call.method === 'HEAD') {
    cancelBody(body)
    return new WholeResponse(null, { status, headers })
  }
  if (body instanceof Uint8Array) return new WholeResponse(body, { status, headers })
  if (body !== null) return new FastResponse(ReadableStream.from(body) as BodyInit, { status, headers })
  if (status !== 204) headers.push(['content-length', '0'])
  return new WholeResponse(null, { status, headers })
}

/** The headers that are about the content of a response. */
export function contentHeaders(answer: Answer, etag: string | undefined): Header[] {
  const { contentType, body } = answer
  const headers = cacheHeaders(answer, etag)
  if (contentType) headers.push(['content-type', contentType])
  if (body instanceof Uint8Array) headers.push(['content-length', `${body.byteLength}`])
  return headers
}

/** The headers for caches, which a 304 response has, too (RFC 9110, section 15.4.5). */
export function cacheHeaders(
  { cacheControl = 'private, no-store', headers = [] }: Answer,
  etag: string | undefined,
): Header[] {
  const all: Header[] = [['cache-control', cacheControl]]
  if (etag) all.push(['etag', etag])
  return all.concat(headers)
}

/** The entity tag of a response: its own, or one computed from its bytes. */
export function etagOf({ etag, body }: Answer): string | undefined {
  return etag ?? (body instanceof Uint8Array ? toEtag(body) : undefined)
}

/** Whether the caller's cached copy has this entity tag. False if there is no tag. */
export function isKnownToCaller(call: Call, etag: string | undefined): boolean {
  const ifNoneMatch = etag && call.header('if-none-match')
  return Boolean(ifNoneMatch && matchesEtag(ifNoneMatch, etag))
}

/**
 * Builds an `application/problem+json` error (RFC 9457), with the headers of its status, or an error in the form of
 * another protocol.
 */
export function replyProblem(
  call: Call,
  error: RegistryError,
  headers: readonly Header[] = [],
  toFailure?: GatewayRoute['toFailure'],
): Response {
  const failure = toFailure?.(error)
  const own: Header[] = [...headers, ...(failure?.headers ?? [])]
  own.push(...toErrorHeaders(error, own))
  if (failure) return reply(call, { status: error.status, ...failure, headers: own })
  const body = Buffer.from(JSON.stringify(toProblem(error, call.requestId)))
  return reply(call, { status: error.status, contentType: 'application/problem+json', body, headers: own })
}

/**
 * The headers that tell a client how to sign in, and when to try again. `own`: the headers that the response already
 * has.
 */
export function toErrorHeaders(
  { status, code, retryAfterSeconds }: RegistryError,
  own: readonly Header[] = [],
): Header[] {
  // A response with `offline` has no `Retry-After`, because a retry does not help: the operator chose the offline mode.
  const passes = status === 503 && code !== 'offline'
  const retryAfter = retryAfterSeconds ?? (passes ? 5 : undefined)
  const headers: Header[] = retryAfter === undefined ? [] : [['retry-after', `${retryAfter}`]]
  if (status === 401 && !own.some(([name]) => name === 'www-authenticate')) headers.push(['www-authenticate', 'Bearer'])
  if (code === 'shutting_down') headers.push(['connection', 'close'])
  return headers
}

/** Responds to `OPTIONS` with the allowed methods and the CORS headers. */
export function replyOptions(call: Call, methods: readonly string[]): Response {
  const list = methods.join(', ')
  const headers: Header[] = [...preflight, ['allow', list], ['access-control-allow-methods', list]]
  return reply(call, { status: 204, body: null, headers })
}

/** The error for an unknown address; it does not repeat the address. */
export function nothingHere(): RegistryError {
  return new RegistryError('not_found', 'This node has no page or endpoint at this URL.')
}

/** Converts anything thrown to an error that a caller may see; unknown errors disclose nothing. */
export function toPublicError(thrown: unknown): RegistryError {
  // Converts errors of the database as well, which may be unavailable when the caller is looked up.
  const error = toRegistryError(thrown)
  if (error instanceof RegistryError && isResponseCode(error.code)) return error
  if (isRegistryError(error, 'read_only')) return new RegistryError('forbidden', error.message)
  if (isRegistryError(error, 'closed')) return new RegistryError('shutting_down', error.message)
  return new RegistryError(
    'internal',
    'The request failed because of an internal error. The node logged the error with the request id.',
    { cause: error },
  )
}

/** The headers of every response. */
export function commonHeaders(call: Call): Header[] {
  const headers: Header[] = [
    ['x-request-id', call.requestId],
    ...quotaHeaders(call.quota!, otherPolicies(call)),
    call.allowedOrigin !== '*' && call.header('origin') !== null ? varyByOrigin : vary,
    noSniff,
  ]
  if (call.crossOrigin && call.allowedOrigin !== undefined) {
    headers.push(['access-control-allow-origin', call.allowedOrigin])
    if (call.header('origin') !== null) headers.push(exposed)
  }
  return headers
}

/** The `RateLimit-Policy` items of the endpoint's abuse limits, without the limit that the other fields describe. */
function otherPolicies({ allowances: names, quota }: Call): string[] {
  const others = names.filter((name) => name !== quota!.policy)
  return others.map((name) => `"${name}";q=${allowances[name].limit};w=${allowances[name].windowSeconds}`)
}

/**
 * The headers about a rate limit: `X-RateLimit-*`, in which the reset is Unix time, and the two structured fields of
 * draft-ietf-httpapi-ratelimit-headers. `others` are further items of `RateLimit-Policy`.
 */
export function quotaHeaders(quota: Quota, others: readonly string[] = []): Header[] {
  const { limit, remaining, resetSeconds, windowSeconds, unit } = quota
  const policy = `"${quota.policy}";q=${limit}${unit ? `;qu="${unit}"` : ''};w=${windowSeconds}`
  return [
    ['x-ratelimit-limit', `${limit}`],
    ['x-ratelimit-remaining', `${remaining}`],
    ['x-ratelimit-reset', `${Math.ceil(Date.now() / 1000) + resetSeconds}`],
    ['ratelimit-policy', [policy, ...others].join(', ')],
    ['ratelimit', `"${quota.policy}";r=${remaining};t=${resetSeconds}`],
  ]
}

/** Cancels a stream that will not be read, so that it frees its resources. */
function cancelBody(body: Answer['body']): void {
  if (body === null || body instanceof Uint8Array) return
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined)
}
