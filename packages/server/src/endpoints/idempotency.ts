import { createHash } from 'node:crypto'
import { RegistryError, toProblem, type EndpointName } from '@skillstead/protocol'
import type { UserCaller } from '@skillstead/core'
import {
  beginIdempotent,
  EncodedJson,
  finishIdempotent,
  type IdempotentEnd,
  noteWrites,
  type OperatorContext,
  SkillMoved,
} from '@skillstead/core/internal'
import type { Result } from './answers.ts'
import { encodeJson, jsonType } from '../replies/encode-json.ts'
import type { Call } from '../context/call.ts'
import type { NodeParts } from '../context/node-parts.ts'
import type { Payload } from './input.ts'
import { reply, toPublicError } from '../replies/replies.ts'
import type { Route } from './routes.ts'

/** Secrets that are shown once and never stored: a replayed response omits them. */
const secretFields = new Set(['key', 'agentToken', 'caseToken', 'token', 'secret', 'session'])
/** Endpoints whose tokens may be replayed: authors publish them, to prove the ownership of a domain or account. */
const shownAgain: ReadonlySet<EndpointName> = new Set(['verifyAuthor'])

type StoredAnswer = Exclude<IdempotentEnd, string>

/**
 * The `Idempotency-Key` of a call. Undefined unless a signed-in caller sends it with a `POST` or `PUT` that writes.
 * Throws `invalid_request` for a key that is not 1 to 255 visible ASCII characters.
 */
function readIdempotencyKey(call: Call, route: Route): string | undefined {
  if (!takesIdempotencyKey(route)) return undefined
  const key = call.header('idempotency-key')
  if (key === null || call.caller.kind !== 'user') return undefined
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new RegistryError('invalid_request', 'An `Idempotency-Key` is 1 to 255 visible ASCII characters.')
  }
  return key
}

/** Whether requests to an endpoint may have an `Idempotency-Key`. A request that only reads can be repeated anyway. */
export function takesIdempotencyKey({ endpoint: { method, kind, reads } }: Route): boolean {
  return (method === 'POST' || method === 'PUT') && !reads && kind !== 'content'
}

/** A request with an `Idempotency-Key`: the first one runs, and a later one gets the response of the first. */
interface Claim {
  /** The stored response of the first request. */
  readonly replayed?: Response
  /** The parts of the registry that run the request. */
  readonly context: OperatorContext
  /** Stores the result under the key. */
  finish(result: Result): Promise<void>
  /** Stores the error under the key, or releases the key if a retry may succeed and cannot store anything twice. */
  fail(thrown: unknown): Promise<void>
}

/** Claims the `Idempotency-Key` of a call. Returns undefined for a call without a key. */
export async function claimKey(
  node: NodeParts,
  route: Route,
  call: Call,
  payload: Payload | undefined,
): Promise<Claim | undefined> {
  const key = readIdempotencyKey(call, route)
  if (key === undefined) return undefined
  const caller = call.caller as UserCaller
  const begun = await beginIdempotent(node.context, caller, key, hashRequest(call, payload))
  const store = async (end: IdempotentEnd) => {
    if (begun.state !== 'done') await finishIdempotent(node.context, caller, key, begun, end)
  }
  // The writes of a PUT are not noted: a repeated PUT stores the same content again.
  const isNoted = begun.state !== 'done' && route.endpoint.method === 'POST'
  return {
    context: isNoted ? { ...node.context, ...noteWrites(node.context, caller, key, begun) } : node.context,
    ...(begun.state === 'done' && { replayed: replayResponse(node, call, begun) }),
    finish: ({ status, body }) => store({ status, body: keepBody(route, body) }),
    fail: (thrown) => store(toIdempotentEnd(call, thrown)),
  }
}

function replayResponse(node: NodeParts, call: Call, { status, body }: StoredAnswer): Response {
  const type = status >= 400 ? 'application/problem+json' : jsonType
  return reply(call, {
    status,
    body: body === null ? null : encodeJson(body, node.addressOf(call)),
    contentType: body === null ? undefined : type,
    headers: [['idempotency-replayed', 'true']],
  })
}

/** A hash of everything that identifies a request, including its media type, which defines how the bytes are read. */
function hashRequest(call: Call, payload: Payload | undefined): string {
  const head = `${call.method} ${call.url?.pathname}${call.url?.search}\n${payload?.contentType ?? ''}\n`
  return createHash('sha256')
    .update(head)
    .update(payload?.bytes ?? '')
    .digest('base64url')
}

/** What to store for an error: nothing if a retry may avoid it (invalid key, rate limit, failure of the node). */
function toIdempotentEnd(call: Call, thrown: unknown): IdempotentEnd {
  if (thrown instanceof SkillMoved) return 'refused'
  const error = toPublicError(thrown)
  if (error.status >= 500) return 'failed'
  if (error.status === 401 || error.status === 429) return 'refused'
  return { status: error.status, body: JSON.stringify(toProblem(error, call.requestId)) }
}

function keepBody({ name }: Route, body: Result['body']): string | null {
  if (body === undefined || body === null) return null
  const value: unknown = body instanceof EncodedJson ? JSON.parse(body.json) : body
  return JSON.stringify(value, function dropSecrets(this: unknown, field, inner: unknown) {
    return this === value && secretFields.has(field) && !shownAgain.has(name) ? undefined : inner
  })
}
