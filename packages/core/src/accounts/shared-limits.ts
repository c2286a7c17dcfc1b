import type { Database } from '../storage/database.ts'
import { sweepLeases, takeLeases, type LeaseGrant, type LeaseRequest } from '../storage/rate-leases.ts'

/** What an allowance gives in a window that begins with its first use. */
interface Allowance {
  readonly points: number
  readonly windowMs: number
  /** The part of what is left that a node may take beyond its need, as its divisor. */
  readonly share: number
  /** Whether a node asks once alone, so that it need not remember the answer. */
  readonly isOnce?: boolean
}

/** How an allowance stands, as far as this node knows. */
interface AllowanceState {
  readonly exceeded: boolean
  /** What is left, with what this node holds; what others hold unused is not counted. */
  readonly remaining: number
  readonly resetMs: number
}

/** Allowances that hold across all nodes on one database. */
export interface SharedLimits {
  /**
   * Takes `cost` points, by default one, or none where fewer are left; at once where the node holds them. Undefined where
   * the database does not answer.
   */
  take(key: string, allowance: Allowance, cost?: number): AllowanceState | Promise<AllowanceState | undefined>
  /** What is known of a key without asking; undefined where nothing is. */
  peek(key: string): AllowanceState | undefined
  /** How often the database was asked, and how many takes it did not answer. */
  readonly counts: { readonly asked: number; readonly unanswered: number }
  stop(): void
}

/** What this node holds of an allowance. */
interface Lease {
  left: number
  rest: number
  endsAt: number
  /** On this process's clock, never later than the database's end: what is held does not reach into the next window. */
  endsAtMs: number
}

interface Ask extends Allowance {
  waiting: Waiting[]
}

interface Waiting {
  readonly cost: number
  resolve(state: AllowanceState | undefined): void
}

/** Two at a time, so that reads find connections too; what is asked meanwhile goes together in the next. */
const statementsMax = 2
const keysMax = 500
/** Longer than a busy database takes; then the node counts alone for a while, so that nobody waits for it again. */
const patienceMs = 2_000
const pauseMs = 5_000
const sweepMs = 60_000

/**
 * Keeps allowances in the database, without asking it at every request. A node takes a lease of a part of what is left,
 * and asks again when it has used that up: large parts at first, single points in the end, so that the sum over all nodes
 * is never more than the allowance and little of it is stuck where it is not used. All that is asked in one turn of the
 * event loop is one statement.
 *
 * `RateLimiterPostgres` of rate-limiter-flexible counts exactly too, by one statement and one round trip for each request,
 * which would make every read of kept bytes a write in the database; and it goes by the clocks of the nodes.
 */
export function createSharedLimits(database: Database, onError: (error: unknown) => void): SharedLimits | undefined {
  if (database.dialect !== 'postgres') return undefined
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
      for (const [i, [key, asked]] of some.entries()) settle(key, asked, grants[i]!, sentAtMs)
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

  function settle(key: string, { waiting, isOnce }: Ask, grant: LeaseGrant, sentAtMs: number): void {
    const lease = hold(key, grant, sentAtMs)
    if (isOnce) leases.delete(key)
    for (const { cost, resolve } of waiting) {
      const isThere = lease.left >= cost
      if (isThere) lease.left -= cost
      resolve({ ...toState(lease, sentAtMs), exceeded: !isThere })
    }
  }

  /** Adds a grant to what is held of the same window. */
  function hold(key: string, { granted, rest, endsAt, endsInMs }: LeaseGrant, sentAtMs: number): Lease {
    const held = leases.get(key)
    const isSame = held?.endsAt === endsAt
    const lease = { left: granted + (isSame ? held.left : 0), rest, endsAt, endsAtMs: sentAtMs + endsInMs }
    // The answer of a window before may come after that of the next, and is only good for those who waited for it.
    if (!held || held.endsAt <= endsAt) leases.set(key, lease)
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
    // Where this process stood still meanwhile, the answer lies ready, and is read before that.
    timer = setTimeout(() => setImmediate(giveUp), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
