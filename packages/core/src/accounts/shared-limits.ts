import type { Database } from '../storage/database.ts'
import { sweepLeases, takeLeases, type LeaseGrant, type LeaseRequest } from '../storage/rate-leases.ts'

/** A rate limit: a number of points per window of time. A window begins with the first request. */
interface Allowance {
  readonly points: number
  readonly windowMs: number
  /** A node leases the points that it needs, or 1/`share` of the remaining points if that is more. */
  readonly share: number
  /** Whether a key is used only once, so that the node does not cache its lease. */
  readonly isOnce?: boolean
}

/** State of an allowance as far as this node knows. */
interface AllowanceState {
  readonly exceeded: boolean
  /** Points left, including those that this node leases; unused leases of other nodes do not count. */
  readonly remaining: number
  readonly resetMs: number
}

/** Allowances that are shared by all nodes on one database. */
export interface SharedLimits {
  /**
   * Takes `cost` points (default: 1), or no point if fewer are left. Synchronous while the node has leased enough
   * points. Undefined if the database does not respond.
   */
  take(key: string, allowance: Allowance, cost?: number): AllowanceState | Promise<AllowanceState | undefined>
  /** The locally known state of a key; undefined if there is none. */
  peek(key: string): AllowanceState | undefined
  /** Number of statements that the database answered, and of calls of `take` without an answer. */
  readonly counts: { readonly asked: number; readonly unanswered: number }
  stop(): void
}

/** Points that this node leases. */
interface Lease {
  left: number
  rest: number
  endsAt: number
  /**
   * End of the window on this process's clock, never later than on the database's clock, so that the lease is not used
   * in the next window.
   */
  endsAtMs: number
}

interface Ask extends Allowance {
  waiting: Waiting[]
}

interface Waiting {
  readonly cost: number
  resolve(state: AllowanceState | undefined): void
}

/**
 * Maximum number of parallel statements; the other connections stay free for reads. Later requests share the next
 * statement.
 */
const statementsMax = 2
const keysMax = 500
/**
 * Timeout of a statement in milliseconds, longer than a busy database needs. After a timeout the node counts only its
 * own requests for `pauseMs`, so that no further request waits.
 */
const patienceMs = 2_000
const pauseMs = 5_000
const sweepMs = 60_000

/**
 * Shares rate limits between nodes without a database query for each request. A node leases some of the remaining
 * points, uses them, and leases more: many points at first, single points near the limit. All nodes together never
 * exceed the limit, and few leased points stay unused. All requests of one turn of the event loop share one statement.
 *
 * `RateLimiterPostgres` of rate-limiter-flexible is exact too, but needs a statement and a round trip for each request,
 * which would make every read of a cached response a write in the database; it also uses the clocks of the nodes.
 */
export function createSharedLimits(database: Database, onError: (error: unknown) => void): SharedLimits | undefined {
  if (database.dialect !== 'postgres' || database.isReadOnly) return undefined
  const leases = new Map<string, Lease>()
  const counts = { asked: 0, unanswered: 0 }
  let asks = new Map<string, Ask>()
  let statements = 0
  let isPlanned = false
  let aloneUntilMs = 0

  function take(key: string, allowance: Allowance, cost = 1): AllowanceState | Promise<AllowanceState | undefined> {
    const lease = leases.get(key)
    const nowMs = performance.now()
    if (lease && nowMs < lease.endsAtMs) {
      if (lease.left >= cost) {
        lease.left -= cost
        return toState(lease, nowMs)
      }
      if (lease.rest === 0) return { ...toState(lease, nowMs), exceeded: true }
    }
    if (nowMs < aloneUntilMs) {
      counts.unanswered += 1
      return Promise.resolve(undefined)
    }
    return ask(key, allowance, cost)
  }

  function ask(key: string, allowance: Allowance, cost: number): Promise<AllowanceState | undefined> {
    return new Promise((resolve) => {
      const asked = asks.get(key)
      if (asked) asked.waiting.push({ cost, resolve })
      else asks.set(key, { ...allowance, waiting: [{ cost, resolve }] })
      plan()
    })
  }

  function plan(): void {
    if (isPlanned || statements >= statementsMax || asks.size === 0) return
    isPlanned = true
    setImmediate(() => {
      isPlanned = false
      const some = [...asks].slice(0, keysMax)
      asks = new Map([...asks].slice(keysMax))
      void send(some)
      plan()
    })
  }

  async function send(some: readonly (readonly [string, Ask])[]): Promise<void> {
    statements += 1
    const sentAtMs = performance.now()
    try {
      const grants = await within(patienceMs, takeLeases(database, some.map(toRequest)))
      counts.asked += 1
      for (const [i, [key, asked]] of some.entries()) resolveWaiting(key, asked, grants[i]!, sentAtMs)
    } catch (error) {
      onError(error)
      aloneUntilMs = performance.now() + pauseMs
      for (const [, { waiting }] of some) {
        counts.unanswered += waiting.length
        for (const { resolve } of waiting) resolve(undefined)
      }
    } finally {
      statements -= 1
      plan()
    }
  }

  function resolveWaiting(key: string, { waiting, isOnce }: Ask, grant: LeaseGrant, sentAtMs: number): void {
    const lease = addGrant(key, grant, sentAtMs)
    if (isOnce) leases.delete(key)
    for (const { cost, resolve } of waiting) {
      const isThere = lease.left >= cost
      if (isThere) lease.left -= cost
      resolve({ ...toState(lease, sentAtMs), exceeded: !isThere })
    }
  }

  /** Adds the granted points to this node's lease of the same window. */
  function addGrant(key: string, { granted, rest, endsAt, endsInMs }: LeaseGrant, sentAtMs: number): Lease {
    const known = leases.get(key)
    const isSame = known?.endsAt === endsAt
    const lease = { left: granted + (isSame ? known.left : 0), rest, endsAt, endsAtMs: sentAtMs + endsInMs }
    // A response for an earlier window may arrive after the response for the next one. It then serves only the requests
    // that waited for it.
    if (!known || known.endsAt <= endsAt) leases.set(key, lease)
    return lease
  }

  async function sweep(): Promise<void> {
    const nowMs = performance.now()
    for (const [key, { endsAtMs }] of leases) if (endsAtMs <= nowMs) leases.delete(key)
    if (nowMs >= aloneUntilMs) await sweepLeases(database).catch(() => {})
  }

  const timer = setInterval(() => void sweep(), sweepMs)
  timer.unref()
  return {
    take,
    peek(key) {
      const lease = leases.get(key)
      const nowMs = performance.now()
      return lease && nowMs < lease.endsAtMs ? toState(lease, nowMs) : undefined
    },
    counts,
    stop: () => clearInterval(timer),
  }
}

function toState({ left, rest, endsAtMs }: Lease, nowMs: number): AllowanceState {
  return { exceeded: false, remaining: left + rest, resetMs: Math.max(0, endsAtMs - nowMs) }
}

function toRequest([key, { points, windowMs, share, waiting }]: readonly [string, Ask]): LeaseRequest {
  return { key, points, windowMs, share, need: waiting.reduce((sum, { cost }) => sum + cost, 0) }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new Error(`The database did not answer within ${ms} ms.`))
    // If this process was paused, the response may be waiting in the socket; setImmediate lets it be read before the
    // timeout counts.
    timer = setTimeout(() => setImmediate(giveUp), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
