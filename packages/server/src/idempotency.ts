import { createHash } from 'node:crypto'
import { RegistryError, toProblem, type EndpointName } from '@skillstead/protocol'
import type { UserCaller } from '@skillstead/core'
import { beginIdempotent, EncodedJson, finishIdempotent, SkillMoved } from '@skillstead/core/internal'
import { toAnswer, type Result } from './answers.ts'
import { withAddress } from './own-address.ts'
import type { Call } from './call.ts'
import type { NodeParts } from './gate.ts'
import type { Payload } from './input.ts'
import { reply, toRegistryError } from './replies.ts'
import type { Route } from './routes.ts'

/** Secrets that are shown once and never stored: a replayed response omits them. */
const secretFields = new Set(['key', 'agentToken', 'caseToken', 'token', 'secret', 'session'])
/** These tokens are not secret: an author publishes them to prove the ownership of an address. */
const shownAgain: ReadonlySet<EndpointName> = new Set(['verifyAuthor'])

interface KeptAnswer {
  readonly status: number
  readonly body: string | null
}

/**
 * The `Idempotency-Key` of a call; used for `POST` and `PUT` of signed-in callers only.
 * Throws `invalid_request` for a key that is not 1 to 255 visible ASCII characters.
 */
export function readIdempotencyKey(call: Call, route: Route): string | undefined {
  if (call.method !== 'POST' && call.method !== 'PUT') return undefined
  const key = call.header('idempotency-key')
  if (key === null || call.caller.kind !== 'user' || route.endpoint.kind === 'content') return undefined
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new RegistryError('invalid_request', 'An `Idempotency-Key` is 1 to 255 visible ASCII characters.')
  }
  return key
}

/** Runs the work on first use of a key, and replays the stored response afterwards. */
export async function answerOnce(
  node: NodeParts,
  route: Route,
  call: Call,
  { key, payload }: { key: string; payload: Payload | undefined },
  work: () => Promise<Result>,
): Promise<Response> {
  const { context } = node
  const caller = call.caller as UserCaller
  const begun = await beginIdempotent(context, caller, key, hashRequest(call, payload))
  if (begun.state === 'done') return replay(node, call, begun)
  let result: Result
  try {
    result = await work()
  } catch (thrown) {
    await finishIdempotent(context, caller, key, begun, keepError(call, thrown))
    throw thrown
  }
  await finishIdempotent(context, caller, key, begun, { status: result.status, body: keepBody(route, result.body) })
  return reply(call, toAnswer(node, call, route, result))
}

function replay(node: NodeParts, call: Call, { status, body }: KeptAnswer): Response {
  const type = status >= 400 ? 'application/problem+json' : 'application/json; charset=utf-8'
  return reply(call, {
    status,
    body: body === null ? null : withAddress(Buffer.from(body), call, node.addressOf),
    contentType: body === null ? undefined : type,
    headers: [['idempotency-replayed', 'true']],
  })
}

/** A hash of everything that identifies a request; also of its media type, which defines how the bytes are read. */
function hashRequest(call: Call, payload: Payload | undefined): string {
  const head = `${call.method} ${call.url?.pathname}${call.url?.search}\n${payload?.contentType ?? ''}\n`
  return createHash('sha256')
    .update(head)
    .update(payload?.bytes ?? '')
    .digest('base64url')
}

/** Null for errors that a retry may avoid: an invalid key, the rate limit, and failures of the node. */
function keepError(call: Call, thrown: unknown): KeptAnswer | null {
  if (thrown instanceof SkillMoved) return null
  const error = toRegistryError(thrown)
  if (error.status === 401 || error.status === 429 || error.status >= 500) return null
  return { status: error.status, body: JSON.stringify(toProblem(error, call.requestId)) }
}

function keepBody({ name }: Route, body: Result['body']): string | null {
  if (body === undefined || body === null) return null
  const value: unknown = body instanceof EncodedJson ? JSON.parse(Buffer.from(body.bytes).toString()) : body
  return JSON.stringify(value, function dropSecrets(this: unknown, field, inner: unknown) {
    return this === value && secretFields.has(field) && !shownAgain.has(name) ? undefined : inner
  })
}
