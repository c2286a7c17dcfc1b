import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { planNames, plans } from '@skillstead/protocol'
import type { Caller, Registry } from '@skillstead/core'
import { toLimitKey } from './addresses.ts'
import type { NodeOptions, Rates } from './options.ts'

const windowSeconds = 60
/** What an answer says where nothing is limited: the fields are always there, and always whole numbers. */
const unlimitedRequests = 1_000_000_000
/** Addresses above the bound share this many allowances. */
const sharedKeys = 1024
/** A node takes an eighth of what is left of a shared allowance at a time: of 6,000 requests one in a hundred asks. */
const leaseShare = 8

/** What is left of an allowance, as the rate headers tell it. */
export interface Quota {
  readonly policy: string
  readonly limit: number
  readonly remaining: number
  /** Until the whole allowance is there again. */
  readonly resetSeconds: number
  readonly exceeded: boolean
}

export interface Quotas {
  /** Requests a minute; undefined where nothing is limited. */
  readonly rates: Rates | undefined
  /** Takes one request from the allowance of the caller, or of the address for a guest; at once where nothing is limited. */
  spend(caller: Caller, address: () => string): Quota | Promise<Quota>
  /** What is left, taking nothing. */
  peek(caller: Caller, address: () => string): Quota | Promise<Quota>
}

const unlimited: Quota = {
  policy: 'unlimited',
  limit: unlimitedRequests,
  remaining: unlimitedRequests,
  resetSeconds: 0,
  exceeded: false,
}

/**
 * Requests a minute, in fixed windows that start with the first request: kept in memory, or across the nodes on one
 * database, where each counts for itself as long as that does not answer.
 */
export function createQuotas(
  options: Pick<NodeOptions, 'rates' | 'addressesMax'>,
  shared?: Registry['sharedLimits'],
): Quotas {
  if (options.rates === 'off') return { rates: undefined, spend: () => unlimited, peek: () => unlimited }
  const rates: Rates = { ...defaultRates(), ...options.rates }
  const limiters = Object.fromEntries(
    Object.entries(rates).map(([name, points]) => [name, createLimiter(name, points, shared)]),
  ) as unknown as Record<keyof Rates, Limiter>
  const keyOfAddress = createAddressKeys(limiters.anonymous, options.addressesMax ?? 100_000)

  const keyOf = (caller: Caller, address: () => string) =>
    caller.kind === 'user' ? caller.userId : keyOfAddress(toLimitKey(address()))

  return {
    rates,
    async spend(caller, address) {
      const policy = policyOf(caller)
      const state = await limiters[policy].take(await keyOf(caller, address))
      return toQuota(policy, rates[policy], state)
    },
    async peek(caller, address) {
      const policy = policyOf(caller)
      const state = await limiters[policy].look(await keyOf(caller, address))
      return toQuota(policy, rates[policy], state)
    },
  }
}

/** The allowances of one plan, by key. */
interface Limiter {
  take(key: string): Promise<Standing>
  /** Undefined for a key that has an allowance untouched. */
  look(key: string): Promise<Standing | undefined>
}

type Standing = Pick<Quota, 'remaining' | 'exceeded'> & { readonly resetMs: number }

function createLimiter(policy: string, points: number, shared: Registry['sharedLimits']): Limiter {
  const memory = createMemoryLimiter(points)
  if (!shared) return memory
  const allowance = { points, windowMs: windowSeconds * 1000, share: leaseShare }
  return {
    take: async (key) => (await shared.take(`${policy} ${key}`, allowance)) ?? memory.take(key),
    look: async (key) => shared.peek(`${policy} ${key}`) ?? memory.look(key),
  }
}

function createMemoryLimiter(points: number): Limiter {
  const limiter = new RateLimiterMemory({ points, duration: windowSeconds })
  const toStanding = ({ consumedPoints, msBeforeNext }: RateLimiterRes): Standing => ({
    remaining: Math.max(0, points - consumedPoints),
    resetMs: msBeforeNext,
    exceeded: consumedPoints > points,
  })
  return {
    take: async (key) => toStanding(await limiter.consume(key).catch(toState)),
    async look(key) {
      const state = await limiter.get(key)
      return state === null ? undefined : toStanding(state)
    },
  }
}

function policyOf(caller: Caller): keyof Rates {
  return caller.kind === 'user' ? caller.plan : 'anonymous'
}

/** The plans' rates as they are where nothing else is said. */
export function defaultRates(): Rates {
  const byPlan = Object.fromEntries(planNames.map((name) => [name, plans[name].requestsPerMinute]))
  return { anonymous: plans.free.requestsPerMinute, ...byPlan } as Rates
}

/**
 * Under a flood of addresses every new one would be an entry for a minute. In one window only so many new addresses
 * get an allowance of their own; the rest share some, and nobody who has one loses it.
 */
function createAddressKeys(limiter: Limiter, addressesMax: number) {
  let windowEndsAtMs = 0
  let fresh = 0
  return async function keyOfAddress(address: string): Promise<string> {
    const nowMs = performance.now()
    if (nowMs >= windowEndsAtMs) {
      windowEndsAtMs = nowMs + windowSeconds * 1000
      fresh = 0
    }
    if ((await limiter.look(address)) !== undefined) return address
    if (fresh >= addressesMax) return `shared ${hash(address) % sharedKeys}`
    fresh += 1
    return address
  }
}

/** FNV-1a, 32 bits: spreads well enough, and an attacker who steers it only shares with himself. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0
  }
  return value
}

/** The limiter rejects with its state when an allowance is used up, and with an Error when it fails. */
function toState(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason
  throw reason
}

function toQuota(policy: string, limit: number, standing: Standing | undefined): Quota {
  if (!standing) return { policy, limit, remaining: limit, resetSeconds: 0, exceeded: false }
  const { remaining, resetMs, exceeded } = standing
  return { policy, limit, remaining, resetSeconds: Math.max(0, Math.ceil(resetMs / 1000)), exceeded }
}
