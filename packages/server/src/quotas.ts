import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { planNames, plans } from '@skillstead/protocol'
import type { Caller } from '@skillstead/core'
import { toLimitKey } from './addresses.ts'
import type { NodeOptions, Rates } from './options.ts'

const windowSeconds = 60
/** What an answer says where nothing is limited: the fields are always there, and always whole numbers. */
const unlimitedRequests = 1_000_000_000
/** Addresses above the bound share this many allowances. */
const sharedKeys = 1024

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

/** Requests a minute, in fixed windows that start with the first request, kept in memory. */
export function createQuotas(options: Pick<NodeOptions, 'rates' | 'addressesMax'>): Quotas {
  if (options.rates === 'off') return { rates: undefined, spend: () => unlimited, peek: () => unlimited }
  const rates: Rates = { ...defaultRates(), ...options.rates }
  const limiters = Object.fromEntries(
    Object.entries(rates).map(([name, points]) => [name, new RateLimiterMemory({ points, duration: windowSeconds })]),
  ) as unknown as Record<keyof Rates, RateLimiterMemory>
  const keyOfAddress = createAddressKeys(limiters.anonymous, options.addressesMax ?? 100_000)

  const keyOf = (caller: Caller, address: () => string) =>
    caller.kind === 'user' ? caller.userId : keyOfAddress(toLimitKey(address()))

  return {
    rates,
    async spend(caller, address) {
      const policy = policyOf(caller)
      const state = await limiters[policy].consume(await keyOf(caller, address)).catch(toState)
      return toQuota(policy, rates[policy], state)
    },
    async peek(caller, address) {
      const policy = policyOf(caller)
      const state = await limiters[policy].get(await keyOf(caller, address))
      return toQuota(policy, rates[policy], state)
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
function createAddressKeys(limiter: RateLimiterMemory, addressesMax: number) {
  let windowEndsAtMs = 0
  let fresh = 0
  return async function keyOfAddress(address: string): Promise<string> {
    const nowMs = performance.now()
    if (nowMs >= windowEndsAtMs) {
      windowEndsAtMs = nowMs + windowSeconds * 1000
      fresh = 0
    }
    if ((await limiter.get(address)) !== null) return address
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

function toQuota(policy: string, limit: number, state: RateLimiterRes | null): Quota {
  if (!state) return { policy, limit, remaining: limit, resetSeconds: 0, exceeded: false }
  return {
    policy,
    limit,
    remaining: Math.max(0, limit - state.consumedPoints),
    resetSeconds: Math.max(0, Math.ceil(state.msBeforeNext / 1000)),
    exceeded: state.consumedPoints > limit,
  }
}
