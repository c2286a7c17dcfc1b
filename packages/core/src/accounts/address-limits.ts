import { RegistryError, allowances, type AllowanceName } from '@skillstead/protocol'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { SharedLimits } from './shared-limits.ts'

/** What is limited by the address: all but what users do. */
type AddressLimit = Exclude<AllowanceName, 'verification'>

/**
 * What one network address may do in a window without saying who it is. Kept in memory; where nodes share a database, as
 * digests in a table that is swept.
 */
export interface AddressLimits {
  /** Takes one from the hour's allowance of an address for a subject. Tells whether there was any. */
  take(limit: AddressLimit, address: string | undefined, subject?: string): Promise<boolean>
  /** As `take`; throws `rate_limited`. */
  require(limit: AddressLimit, address: string | undefined, subject?: string): Promise<void>
}

/** Each node has a code of its own to guess, and a new one when it starts again: then there are new guesses too. */
const ofThisProcess: ReadonlySet<AddressLimit> = new Set(['setup', 'setups'])
/** An hour's allowance is small and seldom used, so that nobody holds more of it than he needs. */
const share = Number.MAX_SAFE_INTEGER

/** In memory, or with `shared` across all nodes on a database; while that does not answer, each node counts for itself. */
export function createAddressLimits(shared?: SharedLimits): AddressLimits {
  const limiters = new Map<AddressLimit, RateLimiterMemory>()
  for (const [name, { limit, windowSeconds }] of Object.entries(allowances))
    if (name !== 'verification')
      limiters.set(name as AddressLimit, new RateLimiterMemory({ points: limit, duration: windowSeconds }))

  /** Takes one, and tells for how long there is none: 0 where there was one. */
  async function consume(limit: AddressLimit, address: string | undefined, subject = ''): Promise<number> {
    // Who calls inside the process is the operator's own code.
    if (address === undefined) return 0
    const { limit: points, windowSeconds } = allowances[limit]
    if (shared && !ofThisProcess.has(limit)) {
      const allowance = { points, windowMs: windowSeconds * 1000, share }
      const state = await shared.take(`${limit} ${address} ${subject}`, allowance)
      if (state) return state.exceeded ? toSeconds(state.resetMs) : 0
    }
    return limiters
      .get(limit)!
      .consume(`${address} ${subject}`)
      .then(
        () => 0,
        ({ msBeforeNext }: RateLimiterRes) => toSeconds(msBeforeNext),
      )
  }

  return {
    take: async (limit, address, subject) => (await consume(limit, address, subject)) === 0,
    async require(limit, address, subject) {
      const retryAfterSeconds = await consume(limit, address, subject)
      if (retryAfterSeconds === 0) return
      const minutes = Math.ceil(retryAfterSeconds / 60)
      throw new RegistryError(
        'rate_limited',
        `This address has done that too often in the last hour. Try again in ${minutes} min.`,
        { retryAfterSeconds, allowance: limit },
      )
    },
  }
}

function toSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}
