import { RegistryError, allowances, type AllowanceName, entriesOf } from '@skillstead/protocol'
import { RateLimit, type SharedLimits } from '../storage/shared-limits.ts'

/** Names of the limits per network address. The limit of verifications is per user, and is counted elsewhere. */
type AddressLimit = Exclude<AllowanceName, 'verification'>

/**
 * Rate limits per network address. For evaluation results, callers pass a user id in place of an address. One node
 * counts in memory. Nodes that share a database count in a table, by digests of the addresses; rows are deleted after
 * the time window of their limit.
 */
export interface AddressLimits {
  /**
   * Counts a request of an address, separately for each `subject`, such as a skill. Returns false if the limit is
   * reached.
   */
  take(limit: AddressLimit, address: string | undefined, subject?: string): Promise<boolean>
  /** Like `take`, but throws `rate_limited`. */
  require(limit: AddressLimit, address: string | undefined, subject?: string): Promise<void>
}

/** Attempts at setup codes are counted per process: each node has its own code, and a new code after a restart. */
const ofThisProcess: ReadonlySet<AllowanceName> = new Set(['setup', 'setups'])
/** So large that a node leases only the points that a request needs: the limits are small and rarely used. */
const share = Number.MAX_SAFE_INTEGER

/**
 * Counts in memory, or with `shared` across all nodes on a database. While the database does not respond, each node
 * counts only its own requests.
 */
export function createAddressLimits(shared?: SharedLimits): AddressLimits {
  const limits = new Map(
    entriesOf(allowances).map(([name, { limit: points, windowSeconds }]) => {
      const allowance = { points, windowMs: windowSeconds * 1000, share }
      return [name, new RateLimit(name, allowance, ofThisProcess.has(name) ? undefined : shared)]
    }),
  )

  /** Takes one point. Returns 0, or, if no point is left, the seconds until the window of the limit ends. */
  async function consume(limit: AddressLimit, address: string | undefined, subject = ''): Promise<number> {
    // Calls without an address come from inside the process, and are not limited.
    if (address === undefined) return 0
    const { exceeded, resetMs } = await limits.get(limit)!.take(`${address} ${subject}`)
    return exceeded ? Math.max(1, Math.ceil(resetMs / 1000)) : 0
  }

  return {
    take: async (limit, address, subject) => (await consume(limit, address, subject)) === 0,
    async require(limit, address, subject) {
      const retryAfterSeconds = await consume(limit, address, subject)
      if (retryAfterSeconds === 0) return
      const minutes = Math.ceil(retryAfterSeconds / 60)
      throw new RegistryError(
        'rate_limited',
        `Too many requests of this kind in the last ${allowances[limit].windowSeconds > 3600 ? 'day' : 'hour'}. Try again in ${minutes} min.`,
        { retryAfterSeconds, allowance: limit },
      )
    },
  }
}
