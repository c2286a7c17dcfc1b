import { RegistryError } from '@skillstead/protocol'
import { guest, type Caller } from '@skillstead/core'
import { findSharedName, withShare } from '@skillstead/core/internal'
import type { Admission } from '@skillstead/gateways'
import { toLimitKey } from '../context/addresses.ts'
import type { Call } from '../context/call.ts'
import type { NodeParts } from '../context/node-parts.ts'
import { pageCallFiles } from '../context/page-visits.ts'
import type { Quota } from '../context/quotas.ts'
import { readPageSession, readSessionToken } from './sessions.ts'

/**
 * How requests to a route are admitted, in addition to {@link Admission}. `page`, for static pages: charges a request
 * to the address, and ignores credentials, because a user without a key must reach the page to sign in, and because the
 * credentials may be for a proxy. `documents`: as `files`, for documents that users open in a browser, so that its
 * session counts. `probe`: admits everyone and charges nothing, for health checks and metrics, which must answer during
 * a flood. `shared`: as `api`, but admits the holder of a share link on a private node; the route then calls {@link
 * requireShared}.
 */
export type EntryAdmission = Admission | 'page' | 'documents' | 'probe' | 'shared'

/** How a request is admitted. */
interface Entrance {
  readonly admission: EntryAdmission
  readonly scheme: 'bearer' | 'basic'
  readonly needsKey: boolean
}

/** Finds the caller, and charges the request; undefined if neither is awaited: no limits, and no key to look up. */
export function admitCall(
  node: NodeParts,
  call: Call,
  { admission: given, scheme, needsKey }: Entrance,
): Promise<void> | undefined {
  const admission = given === 'shared' ? 'api' : given
  const isKeyed = admission === 'keyed' || admission === 'continued' || admission === 'keyed-files'
  const isOfCaller = admission === 'api' || admission === 'guests' || isKeyed
  const looksAtKeys =
    isOfCaller || ((admission === 'files' || admission === 'documents') && (node.requireKey || needsKey))
  const authorization = looksAtKeys ? call.header('authorization') : null
  const hasKey = authorization !== null && !(scheme === 'basic' && emptyBasic.test(authorization))
  if (hasKey) return admitWithKey(node, call, admission, parseAuthorization(authorization, scheme))
  const opened = admission === 'documents' ? readPageSession(node, call) : undefined
  const session = looksAtKeys && !isKeyed ? (readSessionToken(node, call) ?? opened) : undefined
  if (session !== undefined) return admitWithSession(node, call, admission, session)
  const share = given === 'shared' && node.requireKey ? call.header('x-share-token') : null
  if (share !== null) return admitWithShare(node, call, share)
  return countPage(node, call, admission)
}

/** The header `Basic` without user name and password, which containers/image (Skopeo, Podman) sends for guests. */
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
    if (error instanceof RegistryError && error.status === 401) await countRequest(node, call, 'api')
    throw error
  }
  await countRequest(node, call, admission)
}

/** The user of an API key, or a guest with a share link's token. Throws `unauthorized` for an invalid key or token. */
async function findCaller(node: NodeParts, key: string | undefined): Promise<Caller> {
  if (key === undefined) throw new RegistryError('unauthorized', 'Send the key as `Authorization: Bearer ssk_...`.')
  if (!key.startsWith('ssl_')) return node.registry.authenticate(key)
  try {
    return await withShare(node.context, guest, key)
  } catch (error) {
    if (!(error instanceof RegistryError && error.status === 404)) throw error
    throw new RegistryError(
      'unauthorized',
      'The share link of this token does not exist or has expired. Ask the owner of the skill for a new one.',
    )
  }
}

/**
 * Admits a caller with a session. A caller whose session has expired counts as a guest: public content stays available,
 * and other content requires a key.
 */
async function admitWithSession(node: NodeParts, call: Call, admission: EntryAdmission, token: string): Promise<void> {
  call.crossOrigin = false
  try {
    call.caller = await node.registry.authenticateSession(token)
    call.personal = true
  } catch (error) {
    if (!(error instanceof RegistryError && error.status === 401)) throw error
  }
  await countPage(node, call, admission)
}

/** Admits the holder of a share link to a private node; {@link requireShared} then decides what the holder reads. */
async function admitWithShare(node: NodeParts, call: Call, token: string): Promise<void> {
  try {
    call.caller = await withShare(node.context, guest, token)
    call.personal = true
  } catch (error) {
    if (!(error instanceof RegistryError && error.status === 404)) throw error
  }
  await countPage(node, call, 'api')
}

/**
 * On a node that requires a key, lets the holder of a share link read only the shared skill, even if other skills are
 * public. `read` is the full name of the skill that a request reads. Throws `unauthorized` for every other skill,
 * whether it exists or not.
 */
export async function requireShared(
  node: NodeParts,
  { caller }: Call,
  read: 'nothing' | { readonly skill: string } | undefined,
): Promise<void> {
  if (caller.kind === 'user' || caller.sharedSkillId === undefined || read === 'nothing') return
  if (read === undefined || read.skill !== (await findSharedName(node.context, caller.sharedSkillId))) {
    throw new RegistryError('unauthorized', 'This share link is for another skill. Send an API key.')
  }
}

/** Whether every caller is admitted, even a page of another site. */
export function admitsEveryone(admission: EntryAdmission): boolean {
  return admission === 'open-files' || admission === 'probe'
}

function spendsRequest(admission: EntryAdmission): boolean {
  return admission === 'api' || admission === 'guests' || admission === 'keyed' || admission === 'page'
}

function countRequest(node: NodeParts, call: Call, admission: EntryAdmission): Promise<void> | undefined {
  const spends = admission !== 'probe' && admission !== 'continued' && call.method !== 'OPTIONS'
  if (spends && !spendsRequest(admission)) return spendFile(node, call).then(() => requireKeyOf(node, call, admission))
  return countSpending(node, call, admission, spends)
}

/** Charges a request to the caller; if `spends` is false, only reads the allowance. */
function countSpending(
  node: NodeParts,
  call: Call,
  admission: EntryAdmission,
  spends: boolean,
): Promise<void> | undefined {
  const address = () => node.addresses.clientOf(call.request)
  const quota = spends ? node.quotas.spend(call.caller, address) : node.quotas.peek(call.caller, address)
  const settle = (settled: Quota) => {
    call.quota = settled
    if (spends && settled.exceeded) throw tooMany(node, 'Too many requests', settled)
    if (admission === 'page' && call.method === 'GET') node.pages.load(toLimitKey(address()))
    requireKeyOf(node, call, admission)
  }
  return quota instanceof Promise ? quota.then(settle) : settle(quota)!
}

/**
 * Charges the request of a caller without a key. A call that names a page of the dashboard is charged as files to the
 * address, once the page has been charged as a request.
 */
function countPage(node: NodeParts, call: Call, admission: EntryAdmission): Promise<void> | undefined {
  const isRead = (admission === 'api' || admission === 'guests') && call.method === 'GET'
  const page = isRead ? call.header('x-skillstead-page') : null
  if (page === null || node.quotas.rates === undefined) return countRequest(node, call, admission)
  const [caller, address] = [limitKeyOf(node, call), toLimitKey(node.addresses.clientOf(call.request))]
  const pay = async () => countRequest(node, call, admission)
  const joined = node.pages.join(caller, address, page)
  if (joined !== undefined) return joined.then(() => countPageCall(node, call, admission), pay)
  const paid = pay()
  node.pages.open(caller, page, paid)
  return paid
}

async function countPageCall(node: NodeParts, call: Call, admission: EntryAdmission): Promise<void> {
  await spendFile(node, call, pageCallFiles)
  await countSpending(node, call, admission, false)
}

/** Throws `unauthorized` for a guest of a private node, unless the URL admits guests or is a credential itself. */
function requireKeyOf(node: NodeParts, { caller, personal, method }: Call, admission: EntryAdmission): void {
  const letsGuestsIn = admitsEveryone(admission) || admission === 'guests' || admission === 'page'
  if (node.requireKey && !letsGuestsIn && caller.kind === 'guest' && !personal && method !== 'OPTIONS')
    throw new RegistryError('unauthorized', 'This node is private: send an API key, `Authorization: Bearer ssk_...`.')
}

/** Charges one request to the caller of a page that checks a secret or causes an upstream request. */
export function spendOne(node: NodeParts, call: Call): Promise<void> | undefined {
  return countRequest(node, call, 'api')
}

/**
 * Charges files to the download allowance of the client's address, which is separate from its allowance of requests.
 * Throws `rate_limited`.
 */
export async function spendFile(node: NodeParts, call: Call, files?: number): Promise<void> {
  call.quota = await node.quotas.spendFile(() => node.addresses.clientOf(call.request), files)
  if (call.quota.exceeded) throw tooMany(node, 'Too many downloads from this address', call.quota)
}

/** Charges bytes to the download allowance of the client's address. Throws `rate_limited`. */
export async function spendBytes(node: NodeParts, call: Call, bytes: number): Promise<void> {
  const quota = await node.quotas.spendBytes(() => node.addresses.clientOf(call.request), bytes)
  if (!quota.exceeded) return
  call.quota = quota
  throw tooMany(node, 'Too many bytes downloaded from this address', quota)
}

/** The key for limits of concurrent work: the user, or the address of a guest. */
export function limitKeyOf(node: NodeParts, { caller, request }: Call): string {
  return caller.kind === 'user' ? caller.userId : toLimitKey(node.addresses.clientOf(request))
}

/**
 * The key of `Bearer <key>` (RFC 6750, section 2.1), or the password of `Basic` (RFC 7617, section 2) if the route has
 * this scheme. Only such a password may be the token of a share link. Undefined for other texts.
 */
function parseAuthorization(authorization: string, scheme: 'bearer' | 'basic'): string | undefined {
  const bearer = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1]
  if (scheme === 'bearer') return bearer?.startsWith('ssl_') ? undefined : bearer
  if (bearer !== undefined) return bearer
  const [, encoded] = /^Basic +([A-Za-z0-9+/_-]{1,1024}={0,2}) *$/i.exec(authorization) ?? []
  return encoded && /^[^:]*:([\x21-\x7e]+)$/.exec(Buffer.from(encoded, 'base64').toString('latin1'))?.[1]
}

function tooMany(node: NodeParts, what: string, { policy, resetSeconds }: Quota): RegistryError {
  node.metrics.limited()
  const seconds = Math.max(1, resetSeconds)
  const rate = policy === 'bytes' ? 'mebibytes' : policy
  const option = `The operator sets this limit with \`--rate-limits ${rate}=NUMBER\`.`
  return new RegistryError('rate_limited', `${what}; try again in ${seconds} s. ${option}`, {
    retryAfterSeconds: seconds,
  })
}
