import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { skewMs } from '../kernel/clock.ts'
import type { Database } from './database.ts'
import { toRowTable } from './list-query.ts'
import { withinMs } from './within-ms.ts'

/** A rate limit: a number of points per window of time. A window begins with the first request. */
interface SharedAllowance {
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

/** Points that this node leases. */
interface PointLease {
  left: number
  /** Points that no node leases yet. */
  readonly rest: number
  /** End of the window on the database's clock; it also identifies the window. */
  readonly endsAt: number
  /**
   * End of the window on this process's clock, never later than on the database's clock, so that the lease is not used
   * in the next window.
   */
  readonly endsAtMs: number
}

/** Requests of one key that wait for points. */
interface LeaseAsk extends SharedAllowance {
  readonly waiting: WaitingRequest[]
}

interface WaitingRequest {
  readonly cost: number
  resolve(state: AllowanceState | undefined): void
}

/**
 * Maximum number of parallel statements; the other connections of the pool stay free for reads. Requests that arrive
 * meanwhile share the next statement.
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
/** Maximum rows deleted by one statement. */
const sweptMax = 10_000

/** Limits that the nodes on one database share; undefined for SQLite, which one node uses, and without write access. */
export function createSharedLimits(database: Database, onError: (error: unknown) => void): SharedLimits | undefined {
  return database.dialect !== 'postgres' || database.isReadOnly ? undefined : new SharedLimits(database, onError)
}

/**
 * Shares rate limits between nodes without a database query for each request. A node leases some of the remaining
 * points, uses them, and leases more: many points at first, single points near the limit. All nodes together never
 * exceed the limit, and few leased points stay unused. All requests of one turn of the event loop share one statement.
 *
 * `RateLimiterPostgres` of rate-limiter-flexible is exact too, but needs a statement and a round trip for each request,
 * which would make every read of a cached response a write in the database; it also uses the clocks of the nodes.
 */
export class SharedLimits {
  /** Number of statements that the database answered, and of calls of `take` without an answer. */
  readonly counts = { asked: 0, unanswered: 0 }
  readonly #database: Pick<Database, 'read'>
  readonly #onError: (error: unknown) => void
  readonly #leases = new Map<string, PointLease>()
  #asks = new Map<string, LeaseAsk>()
  #statements = 0
  #isPlanned = false
  #aloneUntilMs = 0
  readonly #timer: NodeJS.Timeout

  constructor(database: Pick<Database, 'read'>, onError: (error: unknown) => void) {
    this.#database = database
    this.#onError = onError
    this.#timer = setInterval(() => void this.#sweep(), sweepMs).unref()
  }

  /**
   * Takes `cost` points (default: 1), or no point if fewer are left. Synchronous while the node has leased enough
   * points. Undefined if the database does not respond.
   */
  take(key: string, allowance: SharedAllowance, cost = 1): AllowanceState | Promise<AllowanceState | undefined> {
    const lease = this.#leases.get(key)
    const nowMs = performance.now()
    if (lease && nowMs < lease.endsAtMs) {
      if (lease.left >= cost) {
        lease.left -= cost
        return toAllowanceState(lease, nowMs)
      }
      if (lease.rest === 0) return { ...toAllowanceState(lease, nowMs), exceeded: true }
    }
    if (nowMs < this.#aloneUntilMs) {
      this.counts.unanswered += 1
      return Promise.resolve(undefined)
    }
    return new Promise((resolve) => {
      const asked = this.#asks.get(key)
      if (asked) asked.waiting.push({ cost, resolve })
      else this.#asks.set(key, { ...allowance, waiting: [{ cost, resolve }] })
      this.#plan()
    })
  }

  /** The locally known state of a key; undefined if there is none. */
  peek(key: string): AllowanceState | undefined {
    const lease = this.#leases.get(key)
    const nowMs = performance.now()
    return lease && nowMs < lease.endsAtMs ? toAllowanceState(lease, nowMs) : undefined
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #plan(): void {
    if (this.#isPlanned || this.#statements >= statementsMax || this.#asks.size === 0) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      const asks = [...this.#asks]
      this.#asks = new Map(asks.slice(keysMax))
      void this.#send(asks.slice(0, keysMax))
      this.#plan()
    })
  }

  async #send(asks: readonly (readonly [string, LeaseAsk])[]): Promise<void> {
    this.#statements += 1
    const sentAtMs = performance.now()
    try {
      const grants = await withinMs('The database', patienceMs, takeLeases(this.#database, asks.map(toLeaseRequest)))
      this.counts.asked += 1
      for (const [i, [key, asked]] of asks.entries()) this.#resolve(key, asked, grants[i]!, sentAtMs)
    } catch (error) {
      this.#onError(error)
      this.#aloneUntilMs = performance.now() + pauseMs
      for (const { resolve } of asks.flatMap(([, { waiting }]) => waiting)) {
        this.counts.unanswered += 1
        resolve(undefined)
      }
    } finally {
      this.#statements -= 1
      this.#plan()
    }
  }

  #resolve(key: string, { waiting, isOnce }: LeaseAsk, grant: LeaseGrant, sentAtMs: number): void {
    const lease = this.#addGrant(key, grant, sentAtMs)
    if (isOnce) this.#leases.delete(key)
    for (const { cost, resolve } of waiting) {
      const isThere = lease.left >= cost
      if (isThere) lease.left -= cost
      resolve({ ...toAllowanceState(lease, sentAtMs), exceeded: !isThere })
    }
  }

  /** Adds the granted points to this node's lease of the same window. */
  #addGrant(key: string, { granted, rest, endsAt, endsInMs }: LeaseGrant, sentAtMs: number): PointLease {
    const known = this.#leases.get(key)
    const isSame = known?.endsAt === endsAt
    const lease = { left: granted + (isSame ? known.left : 0), rest, endsAt, endsAtMs: sentAtMs + endsInMs }
    // A response for an earlier window that arrives after the response for the next window serves only the requests
    // that waited for it.
    if (!known || known.endsAt <= endsAt) this.#leases.set(key, lease)
    return lease
  }

  async #sweep(): Promise<void> {
    const nowMs = performance.now()
    for (const [key, { endsAtMs }] of this.#leases) if (endsAtMs <= nowMs) this.#leases.delete(key)
    if (nowMs >= this.#aloneUntilMs) await sweepLeases(this.#database).catch(() => {})
  }
}

/**
 * A rate limit with an allowance for each key: counted across all nodes on a database with `shared`, otherwise in
 * memory. While the database does not respond, each node counts for itself. Windows start with the first request.
 */
export class RateLimit {
  readonly #name: string
  readonly #allowance: SharedAllowance
  readonly #shared: SharedLimits | undefined
  readonly #memory: RateLimiterMemory

  /** `name` distinguishes the keys of this limit from those of other limits in the database. */
  constructor(name: string, allowance: SharedAllowance, shared?: SharedLimits) {
    this.#name = name
    this.#allowance = allowance
    this.#shared = shared
    this.#memory = new RateLimiterMemory({ points: allowance.points, duration: allowance.windowMs / 1000 })
  }

  /** Takes `cost` points of a key. The state is `exceeded` if fewer are left. */
  async take(key: string, cost = 1): Promise<AllowanceState> {
    const shared = await this.#shared?.take(`${this.#name} ${key}`, this.#allowance, cost)
    return shared ?? this.#toState(await this.#memory.consume(key, cost).catch(toLimiterState))
  }

  /** The state of a key; undefined for a key with a full allowance. */
  async read(key: string): Promise<AllowanceState | undefined> {
    const shared = this.#shared?.peek(`${this.#name} ${key}`)
    if (shared) return shared
    const state = await this.#memory.get(key)
    return state === null ? undefined : this.#toState(state)
  }

  #toState({ consumedPoints, msBeforeNext }: RateLimiterRes): AllowanceState {
    const { points, windowMs } = this.#allowance
    return {
      remaining: Math.max(0, points - consumedPoints),
      // Not more than the window, because the limiter computes the time with a clock that may be set back.
      resetMs: Math.min(msBeforeNext, windowMs),
      exceeded: consumedPoints > points,
    }
  }
}

/** The limiter rejects with its state when an allowance is used up, and with an Error when it fails. */
function toLimiterState(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason
  throw reason
}

function toAllowanceState({ left, rest, endsAtMs }: PointLease, nowMs: number): AllowanceState {
  return { exceeded: false, remaining: left + rest, resetMs: Math.max(0, endsAtMs - nowMs) }
}

/** Keys are stored as hashes: they may contain an address, which is personal data, and may have any length. */
function toLeaseRequest([key, { points, windowMs, share, waiting }]: readonly [string, LeaseAsk]) {
  const need = waiting.reduce((sum, { cost }) => sum + cost, 0)
  return { key: createHash('sha256').update(key).digest('base64url'), points, need, share, window_ms: windowMs }
}

type LeaseGrant = Pick<PointLease, 'rest' | 'endsAt'> & { readonly granted: number; readonly endsInMs: number }

const columns = { key: 'text', points: 'whole', need: 'whole', share: 'whole', window_ms: 'whole' } as const

/** PostgreSQL's clock, which all nodes share. */
export const databaseNow = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`
/**
 * Whether the window of the existing row is over. A window that ends more than `skewMs` after a new window is from
 * before the clock was set back. A request with `windowMs` 0 only reads.
 */
const isOver = sql`(r.ends_at <= ${databaseNow}
  or (excluded.ends_at > ${databaseNow} and r.ends_at > excluded.ends_at + ${sql.lit(skewMs)}))`
/** Points left in the existing row's window, or all points if that window is over. */
const left = sql`case when ${isOver} then excluded.points else greatest(0, excluded.points - r.taken) end`
const grant = sql`least(${left}, greatest(excluded.need, (${left}) / excluded.share))`

/**
 * Leases points of many keys in one statement, and never more per window than a key's points. Uses the database's
 * clock, so that nodes with different clocks count the same windows. Only PostgreSQL has the table.
 */
async function takeLeases(
  { read }: Pick<Database, 'read'>,
  requests: readonly ReturnType<typeof toLeaseRequest>[],
): Promise<LeaseGrant[]> {
  // Sorted by key: in different orders two nodes could deadlock on each other's rows.
  const { rows } = await sql<LeaseGrant & { key: string }>`
    insert into rate_leases as r (key, points, need, share, granted, taken, ends_at)
    select key, points, need, share, first, first, ${databaseNow} + window_ms
    from (select *, least(points, greatest(need, points / share)) as first from ${toRowTable('postgres', columns, requests)} as a)
      as asked
    order by key
    on conflict (key) do update set
      points = excluded.points,
      need = excluded.need,
      share = excluded.share,
      granted = ${grant},
      taken = case when ${isOver} then 0 else r.taken end + ${grant},
      ends_at = case when ${isOver} then excluded.ends_at else r.ends_at end
    returning key, granted, greatest(0, points - taken) as rest, ends_at as "endsAt", ends_at - ${databaseNow} as "endsInMs"`.execute(
    read,
  )
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return requests.map(({ key }) => byKey.get(key)!)
}

/** Deletes windows that are over, except rows that another node has locked. */
export async function sweepLeases({ read }: Pick<Database, 'read'>): Promise<void> {
  let swept: bigint | undefined
  do {
    ;({ numAffectedRows: swept } = await sql`delete from rate_leases where key in (
      select key from rate_leases where ends_at <= ${databaseNow} limit ${sweptMax} for update skip locked)`.execute(
      read,
    ))
  } while (swept === BigInt(sweptMax))
}
