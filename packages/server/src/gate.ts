import type { H3Event } from 'h3'
import { RegistryError, allowances, type AllowanceName } from '@skillstead/protocol'
import { guest, type Caller, type Registry } from '@skillstead/core'
import { withShare, type CatalogueContext, type InFlight } from '@skillstead/core/internal'
import type { Admission, GatewayRoute, Header } from '@skillstead/gateways'
import { toLimitKey, type Addresses } from './addresses.ts'
import type { Call } from './call.ts'
import { foreignPage, judgeOrigin } from './cross-origin.ts'
import type { RequestLog } from './request-log.ts'
import type { Metrics } from './metrics.ts'
import type { AddressOf } from './own-address.ts'
import type { Quota, Quotas } from './quotas.ts'
import { replyOptions, replyProblem, toRegistryError } from './replies.ts'
import { readSessionToken } from './sessions.ts'

/** State shared by all requests; created once per node. */
export interface NodeParts {
  readonly registry: Registry
  /** The parts of the registry that the node uses. */
  readonly context: CatalogueContext
  readonly addresses: Addresses
  /** The origin of the node's own pages, if the operator configured it. */
  readonly publicOrigin: string | undefined
  readonly addressOf: AddressOf
  /** Other origins whose pages may call without a key. */
  readonly corsOrigins: ReadonlySet<string>
  readonly quotas: Quotas
  /** The request bodies that are being received or processed. */
  readonly bodies: InFlight
  readonly metrics: Metrics
  /** Throws `overloaded` while costly operations have to be refused. */
  readonly requireRoom: () => void
  readonly log: RequestLog
  readonly requireKey: boolean
  /** Set when the node shuts down: new requests are refused. */
  draining: boolean
}

/**
 * `page`, for static pages: a request of the address, whose credentials are not looked at. A user who needs a key must
 * reach the page to sign in, and a proxy may have asked for a password of its own. `probe`: admits everyone and spends
 * nothing, for health checks and metrics, which must answer during a flood.
 */
type EntryAdmission = Admission | 'page' | 'probe'

/** An error with additional headers, such as 405. */
class ErrorWithHeaders extends RegistryError {
  readonly headers: readonly Header[]

  constructor(code: 'method_not_allowed', detail: string, headers: readonly Header[]) {
    super(code, detail)
    this.headers = headers
  }
}

/** How requests to an address are handled. */
interface Entry {
  readonly admission: EntryAdmission
  /** The name of the endpoint in logs and metrics. Default: `unknown`. */
  readonly endpoint?: string
  /** The allowed methods; others get 405. Default: all. */
  readonly methods?: readonly string[]
  /** The methods that only read. Default: GET and HEAD. */
  readonly readMethods?: readonly string[] | undefined
  /** Whether pages of allowed other origins may read the response. Default: true. */
  readonly crossOrigin?: boolean
  /** The abuse limits of the endpoint. */
  readonly allowances?: readonly AllowanceName[] | undefined
  /** Whether the address itself is a credential, so that no key is needed and caches must not store the response. */
  readonly personal?: boolean
  /** The scheme of `Authorization`. Default: `bearer`. */
  readonly scheme?: GatewayRoute['scheme'] | undefined
  /** The form of errors. Default: problem documents. */
  readonly toFailure?: GatewayRoute['toFailure'] | undefined
  work(call: Call): Response | Promise<Response>
}

/**
 * Makes an h3 handler that admits a request, runs the work of the entry, and converts thrown errors to problem
 * responses. Every response of a node passes through such a handler, or through `createServeCached`, so that each has rate
 * headers, a request id, a log line and metrics.
 */
export function toHandler(node: NodeParts, entry: Entry) {
  const { admission, endpoint = 'unknown', methods, crossOrigin = true, personal = false, work } = entry
  const { readMethods = ['GET', 'HEAD'], scheme = 'bearer', toFailure } = entry
  return async function handle(event: Pick<H3Event, 'context'> & { readonly url?: URL }): Promise<Response> {
    const call = event.context as unknown as Call
    call.url = event.url
    call.endpoint = endpoint
    call.crossOrigin = crossOrigin
    call.personal = personal
    call.allowances = entry.allowances ?? []
    node.metrics.begin()
    let response: Response
    try {
      if (node.draining && !isOpen(admission)) {
        throw new RegistryError('shutting_down', 'The node is shutting down; try again in a moment.')
      }
      const needsKey = !isOpen(admission) && judgeOrigin(node, call, readMethods)
      const waiting = admit(node, call, { admission, scheme, needsKey })
      if (waiting) await waiting
      if (needsKey && call.caller.kind === 'guest') throw foreignPage()
      const isRefused = methods !== undefined && !methods.includes(call.method)
      response = isRefused ? refuseMethod(call, methods) : await work(call)
    } catch (thrown) {
      response = await replyThrown(node, call, thrown, toFailure)
    }
    finish(node, call, response.status)
    return response
  }
}

/** The response to what the handling of a request threw. */
export async function replyThrown(
  node: NodeParts,
  call: Call,
  thrown: unknown,
  toFailure?: GatewayRoute['toFailure'],
): Promise<Response> {
  const error = toRegistryError(thrown)
  if (error.status >= 500) node.log.failure(call, error)
  if (error.allowance) call.quota = toQuota(error.allowance, error.retryAfterSeconds)
  call.quota ??= await node.quotas.peek(call.caller, () => node.addresses.clientOf(call.request))
  return replyProblem(call, error, thrown instanceof ErrorWithHeaders ? thrown.headers : undefined, toFailure)
}

/** Counts and logs a request that was handled; `metrics.begin` must have been called. */
export function finish(node: NodeParts, call: Call, status: number): void {
  node.metrics.end(call, status)
  node.log.answered(call, status)
}

/** Responds to `OPTIONS`, and throws `method_not_allowed` for every other method. */
export function refuseMethod(call: Call, methods: readonly string[]): Response {
  const allowed = [...methods, 'OPTIONS']
  if (call.method === 'OPTIONS') return replyOptions(call, allowed)
  const list = allowed.join(', ')
  throw new ErrorWithHeaders('method_not_allowed', `This address allows ${list}.`, [['allow', list]])
}

interface Entrance {
  readonly admission: EntryAdmission
  readonly scheme: 'bearer' | 'basic'
  readonly needsKey: boolean
}

/** Finds the caller, and charges the request. Undefined on a node without limits if no key has to be looked up. */
function admit(node: NodeParts, call: Call, { admission, scheme, needsKey }: Entrance): Promise<void> | undefined {
  const isOfCaller = admission === 'api' || admission === 'guests' || admission === 'keyed'
  const looksAtKeys = isOfCaller || (admission === 'files' && (node.requireKey || needsKey))
  const authorization = looksAtKeys ? call.header('authorization') : null
  const hasKey = authorization !== null && !(scheme === 'basic' && emptyBasic.test(authorization))
  if (hasKey) return admitWithKey(node, call, admission, parseAuthorization(authorization, scheme))
  const session = looksAtKeys && admission !== 'keyed' ? readSessionToken(node, call) : undefined
  if (session !== undefined) return admitWithSession(node, call, admission, session)
  return count(node, call, admission)
}

/** Without user name and password, as containers/image (Skopeo, Podman) sends it for guests. */
const emptyBasic = /^Basic +Og== *$/i

async function admitWithKey(
  node: NodeParts,
  call: Call,
  admission: EntryAdmission,
  key: string | undefined,
): Promise<void> {
  call.personal = true
  try {
    call.caller = await findCaller(node, key)
  } catch (error) {
    // Limit the guessing of keys: a wrong key is charged to the address that sent it.
    if (error instanceof RegistryError && error.status === 401) await count(node, call, 'api')
    throw error
  }
  await count(node, call, admission)
}

/** The caller with an API key, or a guest with the token of a share link. Throws `unauthorized`. */
async function findCaller(node: NodeParts, key: string | undefined): Promise<Caller> {
  if (key === undefined) throw new RegistryError('unauthorized', 'Send the key as `Authorization: Bearer ssk_...`.')
  if (!key.startsWith('ssl_')) return node.registry.authenticate(key)
  try {
    return await withShare(node.context, guest, key)
  } catch (error) {
    if (!(error instanceof RegistryError && error.status === 404)) throw error
    throw new RegistryError('unauthorized', error.message)
  }
}

/**
 * Treat a caller with an expired session as a guest: public content stays available, and other content requires a key.
 */
async function admitWithSession(node: NodeParts, call: Call, admission: EntryAdmission, token: string): Promise<void> {
  call.crossOrigin = false
  try {
    call.caller = await node.registry.authenticateSession(token)
    call.personal = true
  } catch (error) {
    if (!(error instanceof RegistryError && error.status === 401)) throw error
  }
  await count(node, call, admission)
}

/** Whether every caller is admitted, a page of another site too. */
function isOpen(admission: EntryAdmission): boolean {
  return admission === 'open-files' || admission === 'probe'
}

function spendsRequest(admission: EntryAdmission): boolean {
  return admission === 'api' || admission === 'guests' || admission === 'keyed' || admission === 'page'
}

function count(node: NodeParts, call: Call, admission: EntryAdmission): Promise<void> | undefined {
  const spends = admission !== 'probe' && call.method !== 'OPTIONS'
  if (spends && !spendsRequest(admission)) return spendFile(node, call).then(() => requireKeyOf(node, call, admission))
  const address = () => node.addresses.clientOf(call.request)
  const quota = spends ? node.quotas.spend(call.caller, address) : node.quotas.peek(call.caller, address)
  const settle = (settled: typeof call.quota) => {
    call.quota = settled
    if (spends && settled!.exceeded) throw tooMany(node, 'Too many requests', settled!.resetSeconds)
    requireKeyOf(node, call, admission)
  }
  return quota instanceof Promise ? quota.then(settle) : settle(quota)!
}

/** Throws `unauthorized` for a guest of a private node, unless the address admits guests or is a credential itself. */
function requireKeyOf(node: NodeParts, { caller, personal, method }: Call, admission: EntryAdmission): void {
  const letsGuestsIn = isOpen(admission) || admission === 'guests' || admission === 'page'
  if (node.requireKey && !letsGuestsIn && caller.kind === 'guest' && !personal && method !== 'OPTIONS')
    throw keyNeeded()
}

/** Charges one request to the caller of a page that checks a secret or causes an upstream request. */
export function spendOne(node: NodeParts, call: Call): Promise<void> | undefined {
  return count(node, call, 'api')
}

/**
 * Charges files to the download allowance of the address, which is separate from its requests. Throws `rate_limited`.
 */
export async function spendFile(node: NodeParts, call: Call, files?: number): Promise<void> {
  call.quota = await node.quotas.spendFile(() => node.addresses.clientOf(call.request), files)
  if (call.quota.exceeded) throw tooMany(node, 'Too many downloads from this address', call.quota.resetSeconds)
}

/** Charges bytes to the download allowance of the address. Throws `rate_limited`. */
export async function spendBytes(node: NodeParts, call: Call, bytes: number): Promise<void> {
  const quota = await node.quotas.spendBytes(() => node.addresses.clientOf(call.request), bytes)
  if (!quota.exceeded) return
  call.quota = quota
  throw tooMany(node, 'Too many bytes downloaded from this address', quota.resetSeconds)
}

/** The key for limits of concurrent work: the user, or the address of a guest. */
export function limitKeyOf(node: NodeParts, { caller, request }: Call): string {
  return caller.kind === 'user' ? caller.userId : toLimitKey(node.addresses.clientOf(request))
}

/**
 * The key of `Bearer <key>` (RFC 6750, section 2.1), or the password of `Basic` (RFC 7617, section 2) where that is
 * allowed. Only there may it be the token of a share link. Undefined for other texts.
 */
function parseAuthorization(authorization: string, scheme: 'bearer' | 'basic'): string | undefined {
  const bearer = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1]
  if (scheme === 'bearer') return bearer?.startsWith('ssl_') ? undefined : bearer
  if (bearer !== undefined) return bearer
  const [, encoded] = /^Basic +([A-Za-z0-9+/_-]{1,1024}={0,2}) *$/i.exec(authorization) ?? []
  return encoded && /^[^:]*:([\x21-\x7e]+)$/.exec(Buffer.from(encoded, 'base64').toString('latin1'))?.[1]
}

function tooMany(node: NodeParts, what: string, retryAfterSeconds: number): RegistryError {
  node.metrics.limited()
  const seconds = Math.max(1, retryAfterSeconds)
  return new RegistryError('rate_limited', `${what}; try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
  })
}

/** The abuse limit that was hit, in place of the plan's allowance. */
function toQuota(policy: AllowanceName, resetSeconds = 0): Quota {
  const { limit, windowSeconds } = allowances[policy]
  return { policy, limit, windowSeconds, remaining: 0, resetSeconds, exceeded: true }
}

function keyNeeded(): RegistryError {
  return new RegistryError('unauthorized', 'This node is private: send an API key, `Authorization: Bearer ssk_...`.')
}
