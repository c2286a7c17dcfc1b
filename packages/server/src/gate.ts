import { RegistryError, allowances, type AllowanceName } from '@skillstead/protocol'
import type { Registry } from '@skillstead/core'
import { toLimitKey, type Addresses } from './addresses.ts'
import type { Call } from './call.ts'
import { foreignPage, judgeOrigin } from './cross-origin.ts'
import type { InFlight } from './in-flight.ts'
import type { RequestLog } from './request-log.ts'
import type { Metrics } from './metrics.ts'
import type { AddressOf } from './own-address.ts'
import type { Quota, Quotas } from './quotas.ts'
import { replyProblem, toRegistryError, type Header } from './replies.ts'
import { readSessionToken } from './sessions.ts'

/** What the answering of requests shares: made once for a node. */
export interface NodeParts {
  readonly registry: Registry
  readonly addresses: Addresses
  /** The origin of the node's own pages, where the operator says it. */
  readonly publicOrigin: string | undefined
  readonly addressOf: AddressOf
  /** Other sites whose pages may call without a key. */
  readonly corsOrigins: ReadonlySet<string>
  readonly quotas: Quotas
  /** The bodies of requests that are being received and worked at. */
  readonly bodies: InFlight
  readonly metrics: Metrics
  readonly log: RequestLog
  readonly requireKey: boolean
  /** Set once the node shuts down: nothing new is begun. */
  draining: boolean
}

/**
 * How a request gets in: `api` looks at the key and spends, `guests` too and lets guests in where others need a key,
 * `keyed` looks at the key alone, never at a cookie, and spends, and `page` only looks at a key where all need one.
 */
export type Admission = 'api' | 'guests' | 'keyed' | 'page' | 'open'

/** An error that brings headers of its own, as 405 does. */
export class ErrorWithHeaders extends RegistryError {
  readonly headers: readonly Header[]

  constructor(code: 'method_not_allowed', detail: string, headers: readonly Header[]) {
    super(code, detail)
    this.headers = headers
  }
}

/**
 * Lets a request in, has it answered, and turns whatever is thrown into a problem. Every answer of a node leaves
 * through here, so that each has its rate headers, its request id, its line in the log and its place in the metrics.
 */
export async function handle(
  node: NodeParts,
  call: Call,
  admission: Admission,
  work: (call: Call) => Response | Promise<Response>,
): Promise<Response> {
  node.metrics.begin()
  let response: Response
  try {
    if (node.draining && admission !== 'open') {
      throw new RegistryError('shutting_down', 'The node is shutting down; try again in a moment.')
    }
    const needsKey = admission !== 'open' && judgeOrigin(node, call)
    const waiting = admit(node, call, admission, needsKey)
    if (waiting) await waiting
    if (needsKey && call.caller.kind === 'guest') throw foreignPage()
    response = await work(call)
  } catch (thrown) {
    const error = toRegistryError(thrown)
    if (error.status >= 500) node.log.failure(call, error)
    if (error.allowance) call.quota = toQuota(error.allowance, error.retryAfterSeconds)
    call.quota ??= await node.quotas.peek(call.caller, () => node.addresses.clientOf(call.request))
    response = replyProblem(call, error, thrown instanceof ErrorWithHeaders ? thrown.headers : undefined)
  }
  node.metrics.end(call, response.status)
  node.log.answered(call, response.status)
  return response
}

/** Nothing to wait for where there is no key to look up and nothing is limited. */
function admit(node: NodeParts, call: Call, admission: Admission, needsKey: boolean): Promise<void> | undefined {
  const looksAtKeys = isSpending(admission) || (admission === 'page' && (node.requireKey || needsKey))
  const authorization = looksAtKeys ? call.header('authorization') : null
  if (authorization !== null) return admitWithKey(node, call, admission, authorization)
  const session = looksAtKeys && admission !== 'keyed' ? readSessionToken(node, call) : undefined
  if (session !== undefined) return admitWithSession(node, call, admission, session)
  return count(node, call, admission)
}

async function admitWithKey(node: NodeParts, call: Call, admission: Admission, authorization: string): Promise<void> {
  call.personal = true
  try {
    call.caller = await node.registry.authenticate(parseBearer(authorization))
  } catch (error) {
    // Guessing costs: a wrong key spends from the address that sent it.
    if (error instanceof RegistryError && error.status === 401) await count(node, call, 'api')
    throw error
  }
  await count(node, call, admission)
}

/** Who holds a session that is over is a guest: what is public stays open, and the rest says that it needs a key. */
async function admitWithSession(node: NodeParts, call: Call, admission: Admission, token: string): Promise<void> {
  call.crossOrigin = false
  try {
    call.caller = await node.registry.authenticateSession(token)
    call.personal = true
  } catch (error) {
    if (!(error instanceof RegistryError && error.status === 401)) throw error
  }
  await count(node, call, admission)
}

function isSpending(admission: Admission): boolean {
  return admission !== 'page' && admission !== 'open'
}

function count(node: NodeParts, call: Call, admission: Admission): Promise<void> | undefined {
  const spends = isSpending(admission) && call.method !== 'OPTIONS'
  const address = () => node.addresses.clientOf(call.request)
  const quota = spends ? node.quotas.spend(call.caller, address) : node.quotas.peek(call.caller, address)
  const letsGuestsIn = admission === 'open' || admission === 'guests'
  const isGuestRefused = node.requireKey && !letsGuestsIn && call.caller.kind === 'guest'
  const settle = (settled: typeof call.quota) => {
    call.quota = settled
    if (spends && settled!.exceeded) throw tooMany(node, 'Too many requests', settled!.resetSeconds)
    if (isGuestRefused && !call.personal && call.method !== 'OPTIONS') throw keyNeeded()
  }
  return quota instanceof Promise ? quota.then(settle) : settle(quota)!
}

/** Takes a request from the allowance of who reads a page and makes it work: tries a secret, or has an upstream asked. */
export function spendOne(node: NodeParts, call: Call): Promise<void> | undefined {
  return count(node, call, 'api')
}

/** Takes one file from the downloads of the address, which have an allowance of their own. Throws `rate_limited`. */
export async function spendFile(node: NodeParts, call: Call): Promise<void> {
  call.quota = await node.quotas.spendFile(() => node.addresses.clientOf(call.request))
  if (call.quota.exceeded) throw tooMany(node, 'Too many downloads from this address', call.quota.resetSeconds)
}

/** Takes the bytes of a file from the downloads of the address. Throws `rate_limited`. */
export async function spendBytes(node: NodeParts, call: Call, bytes: number): Promise<void> {
  const quota = await node.quotas.spendBytes(() => node.addresses.clientOf(call.request), bytes)
  if (!quota.exceeded) return
  call.quota = quota
  throw tooMany(node, 'Too many bytes downloaded from this address', quota.resetSeconds)
}

/** What limits of work in progress are counted by: the user, or the address of a guest. */
export function limitKeyOf(node: NodeParts, { caller, request }: Call): string {
  return caller.kind === 'user' ? caller.userId : toLimitKey(node.addresses.clientOf(request))
}

/** Throws `unauthorized` for anything but `Bearer <key>` (RFC 6750, section 2.1). */
function parseBearer(authorization: string): string {
  const key = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1]
  if (!key) throw new RegistryError('unauthorized', 'Send the key as `Authorization: Bearer ssk_...`.')
  return key
}

function tooMany(node: NodeParts, what: string, retryAfterSeconds: number): RegistryError {
  node.metrics.limited()
  const seconds = Math.max(1, retryAfterSeconds)
  return new RegistryError('rate_limited', `${what}; try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
  })
}

/** A limit against abuse that was hit, in place of what the plan leaves. */
function toQuota(policy: AllowanceName, resetSeconds = 0): Quota {
  const { limit, windowSeconds } = allowances[policy]
  return { policy, limit, windowSeconds, remaining: 0, resetSeconds, exceeded: true }
}

function keyNeeded(): RegistryError {
  return new RegistryError('unauthorized', 'This node is private: send an API key, `Authorization: Bearer ssk_...`.')
}
