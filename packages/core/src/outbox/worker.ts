import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { type DueRow, findDueRows, findNextDue } from '../storage/due-rows.ts'
import { attemptRow, isShutdown } from './attempts.ts'
import { type ClaimedRow, claimRows } from './claims.ts'
import { isSetBack, recallFutureRows } from './future-rows.ts'
import type { OutboxHandler } from './jobs.ts'
import { Leases } from './leases.ts'
import { Partitions } from './partitions.ts'
import { Results } from './results.ts'
import { Throttle, type Traffic } from './throttle.ts'

/**
 * The states of a worker. It is woken by commits that make rows due, the timer of the next due row, and a poll.
 *
 * | state    | the worker                                                      | next                                    |
 * |----------|-----------------------------------------------------------------|-----------------------------------------|
 * | stopped  | does nothing                                                    | started: claiming                       |
 * | claiming | leases due rows, which run at their turn                        | no more is due: idle; limits: running   |
 * | idle     | has leased all due rows; some may still run                     | woken: claiming                         |
 * | running  | has leased what the limits allow; other due rows wait           | woken, or few rows are left: claiming   |
 * | draining | releases rows that have not begun, waits for those that run     | they ended, or take too long: stopped   |
 *
 * A worker that is stopped while claiming first ends that claim.
 */
type State = 'stopped' | 'claiming' | 'idle' | 'running' | 'draining'

export interface WorkerParts {
  readonly database: Database
  readonly clock: Clock
  readonly handlers: ReadonlyMap<string, OutboxHandler<object>>
  readonly traffic: Traffic
  readonly onError: (error: unknown) => void
}

/** Interval at which rows of other processes are found. Rows of this process are found at once. */
const pollMs = 1000
/** If at least this number of rows is running, claims and results are collected for `gatherMs`, to save commits. */
const busyRows = 24
const gatherMs = 12
/** Collection time while the throttle limits attempts: few rows are running then, and each commit delays API calls. */
const throttledGatherMs = 50
/** Maximum rows of one claim. */
const claimedMax = 192
/**
 * How long a stop waits for handlers. Other workers run the jobs of handlers that take longer, after their leases
 * expire.
 */
const patienceMs = 10_000

/**
 * Claims due rows and runs their handlers in parallel. One commit leases many rows and writes the results of
 * completed rows, so that each row costs a small share of a commit.
 */
export class Worker {
  readonly counts = { attempts: 0, failures: 0 }
  readonly #parts: WorkerParts
  readonly #throttle: Throttle
  readonly #partitions: Partitions
  readonly #leases: Leases
  readonly #results: Results
  /** A promise for each claimed row, until the attempt of the row ends. */
  readonly #rows = new Set<Promise<void>>()
  #state: State = 'stopped'
  /** Whether the worker was woken since the current claim began. */
  #isWoken = false
  #claim = Promise.resolve()
  #gathering: Promise<unknown> | undefined
  #poll: NodeJS.Timeout | undefined
  #cancelTimer: (() => void) | undefined
  /** The partition after which the next claim begins, so that every partition gets its turn. */
  #lastPartition = ''
  /** The time of the last claim, and the number of topics whose rows {@link recallFutureRows} has corrected. */
  #seen = { at: 0, topics: 0 }

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.#throttle = new Throttle(parts.traffic)
    this.#partitions = new Partitions(() => this.#throttle.admit())
    this.#leases = new Leases(parts)
    const leases = this.#leases
    this.#results = new Results({ ...parts, leases, gather: () => this.#gather(), onRetry: () => this.wake() })
  }

  start(): void {
    if (this.#state !== 'stopped') return
    this.#state = 'idle'
    this.#poll = setInterval(() => this.wake(), pollMs).unref()
    this.wake()
  }

  /** Claims due rows, unless the worker is stopped. */
  wake(): void {
    if (this.#state === 'claiming') this.#isWoken = true
    else if (this.#state === 'idle' || this.#state === 'running') {
      this.#state = 'claiming'
      this.#claim = this.#claimAll()
    }
  }

  async stop(): Promise<void> {
    this.#state = 'draining'
    clearInterval(this.#poll)
    await this.#claim
    this.#cancelTimer?.()
    await this.#leases.release(this.#partitions.release()).catch(this.#parts.onError)
    await waitForRows(this.#rows)
    await this.#results.stop()
    this.#leases.stop()
    this.#state = 'stopped'
  }

  /** Claims until the worker is not woken any more. After an error, the next poll tries again. */
  async #claimAll(): Promise<void> {
    let isAllLeased = true
    try {
      do {
        await this.#gather()
        this.#isWoken = false
        isAllLeased = await this.#claimDue()
      } while (this.#isWoken && this.#state === 'claiming')
    } catch (error) {
      this.#parts.onError(error)
    }
    if (this.#state === 'claiming') this.#state = isAllLeased ? 'idle' : 'running'
  }

  /** Claims due rows, if there are any. Returns false if some due rows exceed the limits. */
  async #claimDue(): Promise<boolean> {
    const { database, clock, handlers } = this.#parts
    const now = clock.now()
    const { at, topics } = this.#seen
    // Read the size before the first await: the next claim corrects the rows of handlers that are registered meanwhile.
    const { size } = handlers
    if (size > topics || isSetBack(at, now)) await recallFutureRows(database, handlers, now)
    this.#seen = { at: now, topics: size }
    // The query of `#isDue` costs less than visiting many partitions whose rows are all due later.
    if (!(await this.#isDue())) return true
    const isAllLeased = await this.#claimLaps()
    // Rows that became due meanwhile may be in partitions that were already visited.
    if (await this.#isDue(now)) this.#isWoken = true
    return isAllLeased
  }

  /**
   * Visits all partitions until none has more rows or the limits are reached. Returns false if some due rows exceed the
   * limits.
   */
  async #claimLaps(): Promise<boolean> {
    let isAllLeased = true
    for (let isMore = true; isMore;) {
      isMore = this.#lastPartition !== ''
      for (let isLast = false; !isLast;) {
        if (this.#partitions.room <= 0) return false
        const claim = await this.#claimNext()
        if (this.#state !== 'claiming') return isAllLeased
        isLast = claim.isLast
        if (claim.isMore) isMore = true
        if (claim.isCut) isAllLeased = false
        if (isMore) await this.#gather()
      }
    }
    return isAllLeased
  }

  /**
   * Claims rows of the next partitions. `isLast`: the last partition was visited. `isMore`: there may be more rows of
   * the visited partitions. `isCut`: the limits excluded some of these rows.
   */
  async #claimNext(): Promise<{ isLast: boolean; isMore: boolean; isCut: boolean }> {
    const { database, clock, handlers } = this.#parts
    const { room, full } = this.#partitions
    const limit = Math.min(room, claimedMax)
    const share = this.#partitions.shareOf(limit)
    const where = { now: clock.now(), topics: [...handlers.keys()], after: this.#lastPartition, without: full }
    const found = await findDueRows(database, { ...where, perPartition: share, limit })
    if (found.some(({ id }) => this.#leases.has(id))) {
      // A row that this process leases is due again, because the clock jumped or the machine was suspended.
      await this.#leases.renew()
      return { isLast: false, isMore: false, isCut: false }
    }
    const chosen = this.#partitions.choose(found)
    const isCut = chosen.length < found.length
    const isLast = found.length < limit && (!isCut || chosen.length === 0)
    // The next claim starts at partitions that were found but not chosen, so that no partition is skipped forever.
    this.#lastPartition = isLast ? '' : (chosen.at(-1) ?? found.at(-1))!.partition
    if (chosen.length > 0) await this.#take(chosen.map(({ id }) => id))
    const isMore = chosen.length > 0 && (!isLast || hasMore(found, share))
    return { isLast, isMore, isCut: isCut || full.length > 0 }
  }

  async #take(ids: string[]): Promise<void> {
    const rows = await claimRows(this.#parts.database, ids, this.#parts.clock.now())
    this.#leases.add(rows)
    if (this.#state !== 'claiming') return this.#leases.release(rows)
    for (const row of rows) {
      const task = this.#run(row).finally(() => void this.#rows.delete(task))
      this.#rows.add(task)
    }
  }

  /**
   * Whether a row is due that became claimable after a time. If not, sets a timer that wakes the worker when the next
   * row is due.
   */
  async #isDue(after = 0): Promise<boolean> {
    const { database, clock, handlers } = this.#parts
    const next = await findNextDue(database, [...handlers.keys()], after)
    const delayMs = next === null ? Infinity : next - clock.now()
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (Number.isFinite(delayMs) && delayMs > 0 && this.#state === 'claiming')
      this.#cancelTimer = clock.setTimer(delayMs, () => this.wake())
    return delayMs <= 0
  }

  async #run(row: ClaimedRow): Promise<void> {
    const { handlers, clock, onError } = this.#parts
    try {
      const ended = await this.#partitions.run(row, () => attemptRow(row, handlers.get(row.topic)!, clock))
      // If few leased rows remain, claim the due rows that exceeded the limits before.
      if (this.#state !== 'idle' && this.#partitions.isLow(row.partition)) this.wake()
      if (!ended) return
      // An attempt that ended because this node stops is not counted; another worker runs the job.
      if (this.#state === 'draining' && isShutdown(ended)) return await this.#leases.release([row])
      this.counts.attempts += 1
      if (ended.failure) this.counts.failures += 1
      this.#results.add(ended)
    } catch (error) {
      // After an unexpected error the lease expires and the job runs again.
      this.#leases.drop([row])
      onError(error)
    }
  }

  /**
   * Resolves at the end of this turn of the event loop, or some milliseconds later under load, so that commits are
   * shared.
   */
  #gather(): Promise<unknown> {
    const { leased, running } = this.#partitions
    const isThrottled = leased >= busyRows && this.#throttle.isLimiting
    const delayMs = isThrottled ? throttledGatherMs : running < busyRows ? 0 : gatherMs
    const delay = () => (delayMs === 0 ? setImmediate() : setTimeout(delayMs))
    return (this.#gathering ??= delay().finally(() => (this.#gathering = undefined)))
  }
}

/** Whether a partition returned as many rows as were requested from it, and so may have more. */
function hasMore(found: readonly DueRow[], perPartition: number): boolean {
  const counts = new Map<string, number>()
  for (const { partition } of found) counts.set(partition, (counts.get(partition) ?? 0) + 1)
  return counts.values().some((count) => count >= perPartition)
}

/** Waits until all attempts have ended, at most for `patienceMs`. */
async function waitForRows(rows: ReadonlySet<Promise<void>>): Promise<void> {
  const impatient = new AbortController()
  const { signal } = impatient
  await Promise.race([Promise.all(rows), setTimeout(patienceMs, undefined, { signal }).catch(() => {})])
  impatient.abort()
}
