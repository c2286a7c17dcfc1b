import { guestRequestsPerMinute, planNames, plans, toRecord, type PlanName } from '@skillstead/protocol'
import type { Caller } from '@skillstead/core'
import { RateLimit, type SharedLimits } from '@skillstead/core/internal'
import { toLimitKey } from './addresses.ts'
import type { NodeOptions, Rates } from './options.ts'

const windowSeconds = 60
const mebibyte = 1024 * 1024
/** The value of the rate headers on a node without limits: the headers must always exist and be whole numbers. */
const unlimitedRequests = 1_000_000_000
/** Number of allowances that the addresses beyond the maximum share. */
const sharedKeys = 1024
/** Maximum number of addresses that have their own rate limit at a time; further addresses share limits. */
const addressesMaxDefault = 100_000
/**
 * The part of the rest of a shared allowance that a node leases at a time: one eighth. With 6,000 requests, one request
 * in a hundred queries the database.
 */
const leaseShare = 8

/** The state of an allowance, for the rate headers. */
export interface Quota {
  readonly policy: string
  /** The unit, if it is not requests or files. */
  readonly unit?: 'content-bytes'
  readonly limit: number
  readonly windowSeconds: number
  readonly remaining: number
  /** Seconds until the allowance is full again. */
  readonly resetSeconds: number
  readonly exceeded: boolean
}

export interface Quotas {
  /** Requests per minute; undefined without limits. */
  readonly rates: Rates | undefined
  /** Spends one request of the caller, or of the address for a guest. Synchronous without limits. */
  spend(caller: Caller, address: () => string): Quota | Promise<Quota>
  /** Reads the allowance without spending. */
  peek(caller: Caller, address: () => string): Quota | Promise<Quota>
  /**
   * Spends files (default: 1) of the download allowance of an address, which all its callers share. A count above the
   * allowance is reduced: the request for the files costs 1 file, so at most the allowance less 1 is spent, and the
   * request can succeed.
   */
  spendFile(address: () => string, count?: number): Quota | Promise<Quota>
  /** Spends the bytes of a download from the allowance of an address. */
  spendBytes(address: () => string, bytes: number): Quota | Promise<Quota>
}

const unlimited: Quota = {
  policy: 'unlimited',
  limit: unlimitedRequests,
  windowSeconds,
  remaining: unlimitedRequests,
  resetSeconds: 0,
  exceeded: false,
}

/**
 * Counts requests per minute, in fixed windows that start with the first request: in memory, or across all nodes on one
 * database. While the database does not respond, each node counts for itself.
 */
export function createQuotas(
  options: Pick<NodeOptions, 'rates'>,
  shared?: SharedLimits,
  addressesMax = addressesMaxDefault,
): Quotas {
  if (options.rates === 'off') {
    const nothing = () => unlimited
    return { rates: undefined, spend: nothing, peek: nothing, spendFile: nothing, spendBytes: nothing }
  }
  const rates: Rates = { ...defaultRates(), ...options.rates }
  const requests = toRecord(requestPolicies, (policy) => createPolicyLimit({ policy, limit: rates[policy] }, shared))
  const files = createPolicyLimit({ policy: 'files', limit: rates.files }, shared)
  const bytes = createPolicyLimit({ policy: 'bytes', limit: rates.mebibytes * mebibyte, unit: 'content-bytes' }, shared)
  const keyOfCaller = createAddressKeys(requests.anonymous.limit, addressesMax)
  const keyOfDownloads = createAddressKeys(files.limit, addressesMax)

  const keyOf = (caller: Caller, address: () => string) =>
    caller.kind === 'user' ? caller.userId : keyOfCaller(toLimitKey(address()))

  return {
    rates,
    spend: async (caller, address) => requests[policyOf(caller)].take(await keyOf(caller, address)),
    peek: async (caller, address) => requests[policyOf(caller)].read(await keyOf(caller, address)),
    async spendFile(address, count = 1) {
      const cost = count === 1 ? 1 : Math.min(count, Math.max(rates.files - 1, 0))
      return files.take(await keyOfDownloads(toLimitKey(address())), cost)
    },
    spendBytes: async (address, count) => bytes.take(await keyOfDownloads(toLimitKey(address())), count),
  }
}

type Policy = Pick<Quota, 'policy' | 'limit' | 'unit'>

/** The allowances of one policy, by key. */
function createPolicyLimit(policy: Policy, shared?: SharedLimits) {
  const allowance = { points: policy.limit, windowMs: windowSeconds * 1000, share: leaseShare }
  const limit = new RateLimit(policy.policy, allowance, shared)
  return {
    limit,
    take: async (key: string, cost?: number) => toPolicyQuota(policy, await limit.take(key, cost)),
    read: async (key: string) => toPolicyQuota(policy, await limit.read(key)),
  }
}

type RequestPolicy = 'anonymous' | PlanName
const requestPolicies: readonly RequestPolicy[] = ['anonymous', ...planNames]

function policyOf(caller: Caller): RequestPolicy {
  return caller.kind === 'user' ? caller.plan : 'anonymous'
}

/** The default rates: for requests the plans'; for downloads enough for one run of an installer (hundreds of files). */
export function defaultRates(): Rates {
  const byPlan = toRecord(planNames, (name) => plans[name].requestsPerMinute)
  return { anonymous: guestRequestsPerMinute, ...byPlan, files: 5000, mebibytes: 1024 }
}

/**
 * Returns a function that finds the key of an address in a limit. During a flood from many addresses, each new
 * address would add an entry for a minute. So only a limited number of new addresses per window get their own
 * allowance; further new addresses share allowances, and no address loses its own.
 */
function createAddressKeys(limit: RateLimit, addressesMax: number) {
  let windowEndsAtMs = 0
  let fresh = 0
  return async function keyOfAddress(address: string): Promise<string> {
    const nowMs = performance.now()
    if (nowMs >= windowEndsAtMs) {
      windowEndsAtMs = nowMs + windowSeconds * 1000
      fresh = 0
    }
    if (await limit.read(address)) return address
    if (fresh >= addressesMax) return `shared ${hashFnv1a(address) % sharedKeys}`
    fresh += 1
    return address
  }
}

/** FNV-1a with 32 bits distributes well enough; an attacker who chooses addresses only affects a shared allowance. */
function hashFnv1a(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0
  }
  return value
}

function toPolicyQuota(policy: Policy, state: Awaited<ReturnType<RateLimit['read']>>): Quota {
  if (!state) return { ...policy, windowSeconds, remaining: policy.limit, resetSeconds: 0, exceeded: false }
  const { remaining, resetMs, exceeded } = state
  return { ...policy, windowSeconds, remaining, resetSeconds: Math.max(0, Math.ceil(resetMs / 1000)), exceeded }
}
