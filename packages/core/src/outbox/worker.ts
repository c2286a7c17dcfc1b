import { RegistryError } from '@skillstead/protocol'
import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { findDueRows, type DueRow } from '../storage/due-rows.ts'
import { createDueTimer } from './due-timer.ts'
import { runAttempt, toAttemptResult, type Outcome } from './attempts.ts'
import { claimRows, type ClaimedRow } from './claims.ts'
import { createAttemptResults, createLeases } from './attempt-results.ts'
import { isSetBack, recallFutureRows } from './future-rows.ts'
import { Partitions } from './partitions.ts'
import type { OutboxHandler } from './outbox.ts'
import { createSingleRun } from './single-run.ts'
import { Throttle, type Traffic } from './throttle.ts'

export interface WorkerParts {
  readonly database: Database
  readonly clock: Clock
  readonly handlers: ReadonlyMap<string, OutboxHandler>
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
/** Delay in milliseconds before leased rows that only the throttle blocked are started. */
const throttledMs = 3
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
export function createWorker({ database, clock, handlers, traffic, onError }: WorkerParts) {
  const partitions = new Partitions()
  const throttle = new Throttle(traffic)
  const leases = createLeases({ database, clock, onError })
  const dueTimer = createDueTimer({ database, clock, handlers }, wake)
  const results = createAttemptResults({ database, clock, handlers, leases, onError })
  const running = new Set<Promise<void>>()
  const counts = { attempts: 0, failures: 0 }
  let started = false
  const claiming = createSingleRun(claimRounds, onError)
  const polling = createSingleRun(checkForDue, onError)
  /** Whether a claim was requested since the last one began. */
  let isWoken = false
  /** Whether due rows may exist that did not fit into the limits. */
  let isBehind = false
  /** The partition after which the next claim begins, so that every partition gets its turn. */
  let lastPartition = ''
  /** How many more times the claims must reach the last partition before all partitions were visited. */
  let rounds = 0
  /** Start of the current round. Rows that became due later may be in partitions that the round has already passed. */
  let roundStartedAt = 0
  let isTickPlanned = false
  let isBeginPlanned = false
  let poll: NodeJS.Timeout | undefined
  /** The latest time that the clock showed since the last poll. */
  let seenAt = 0
  /** Number of topics whose rows of earlier processes were corrected. */
  let recalledTopics = 0

  function wake(): void {
    isWoken = true
    planTick()
  }

  /** Collects the work of one turn of the event loop (or of a few milliseconds under load) into one commit. */
  function planTick(): void {
    if (isTickPlanned) return
    isTickPlanned = true
    if (partitions.leased >= busyRows && throttle.isLimiting) setTimeout(tick, throttledGatherMs)
    else if (partitions.running < busyRows) setImmediate(tick)
    else setTimeout(tick, gatherMs)
  }

  function tick(): void {
    isTickPlanned = false
    if (!results.isWriting && results.size > 0) void writeResults()
    if (started && (isWoken || rounds > 0)) claiming.start()
  }

  async function writeResults(): Promise<void> {
    // A row with a retry may be the next due row.
    if (await results.write()) wake()
    if (results.size > 0) planTick()
  }

  async function claimRounds(): Promise<void> {
    try {
      if (isWoken && !(await beginRound())) return
      do await claim()
      while (started && rounds > 0 && partitions.running < busyRows && !throttle.isLimiting)
      if (rounds === 0 && (await dueTimer.set(roundStartedAt))) wake()
    } catch (error) {
      // The next poll tries again.
      rounds = 0
      isWoken = false
      throw error
    } finally {
      if (started && (isWoken || rounds > 0)) planTick()
    }
  }

  /** Starts a round if any row is due. The check costs less than visiting many partitions whose rows are all due later. */
  async function beginRound(): Promise<boolean> {
    isWoken = false
    isBehind = false
    roundStartedAt = clock.now()
    seenAt = Math.max(seenAt, roundStartedAt)
    const isAnyDue = await dueTimer.set()
    if (!isAnyDue) rounds = 0
    else rounds = lastPartition === '' ? 1 : 2
    return isAnyDue
  }

  /** Claims as many rows as fit into the limits, beginning after the last visited partition. */
  async function claim(): Promise<void> {
    const { room, full } = partitions
    if (room <= 0) {
      isBehind = true
      rounds = 0
      return
    }
    const limit = Math.min(room, claimedMax)
    const share = partitions.shareOf(limit)
    const where = { now: clock.now(), topics: [...handlers.keys()], after: lastPartition, without: full }
    const found = await findDueRows(database, { ...where, perPartition: share, limit })
    // Leases of this process expire only if the clock jumps or the machine is suspended.
    if (found.some(({ id }) => leases.has(id))) return leases.renew()
    const chosen = partitions.choose(found)
    const isCut = chosen.length < found.length
    if (isCut || full.length > 0) isBehind = true
    // The next claim starts at partitions that were found but not chosen, so that no partition is skipped forever.
    const isLast = found.length < limit && (!isCut || chosen.length === 0)
    lastPartition = isLast ? '' : (chosen.at(-1) ?? found.at(-1))!.partition
    if (isLast) rounds -= 1
    // A partition may have more due rows than this claim requested. Another round finds them.
    if (chosen.length > 0 && (!isLast || hasMore(found, share))) rounds = Math.max(rounds, isLast ? 1 : 2)
    if (chosen.length > 0) await take(chosen.map(({ id }) => id))
  }

  async function take(ids: string[]): Promise<void> {
    const rows = await claimRows(database, ids, clock.now())
    leases.add(rows)
    partitions.add(rows)
    beginTurns()
  }

  function planTurns(delayMs = 0): void {
    if (isBeginPlanned) return
    isBeginPlanned = true
    const begin = () => {
      isBeginPlanned = false
      beginTurns()
    }
    if (delayMs === 0) setImmediate(begin)
    else setTimeout(begin, delayMs)
  }

  function beginTurns(): void {
    if (!started) return
    const { room } = throttle
    const rows = partitions.begin(room)
    throttle.begin(rows.length)
    if (rows.length >= room) planTurns(throttledMs)
    for (const row of rows) {
      const task = attempt(row)
        .catch((error) => {
          // After an unexpected error the lease expires and the job runs again.
          leases.drop([row])
          onError(error)
        })
        .finally(() => void running.delete(task))
      running.add(task)
    }
  }

  async function attempt(row: ClaimedRow): Promise<void> {
    const handler = handlers.get(row.topic)!
    const at = clock.now()
    const startedMs = performance.now()
    const outcome = await runAttempt(row, handler)
    const durationMs = performance.now() - startedMs
    partitions.end(row)
    if (isBehind && partitions.isLow(row.partition)) wake()
    planTurns()
    // An attempt that ended because this node stops is not counted; another worker runs the job.
    if (!started && isShutdown(outcome)) return leases.release([row])
    counts.attempts += 1
    if ('error' in outcome) counts.failures += 1
    results.add(toAttemptResult(row, { outcome, at, durationMs, clock }, handler))
    planTick()
  }

  function start(): void {
    if (started) return
    started = true
    poll = setInterval(polling.start, pollMs).unref()
    polling.start()
    wake()
  }

  /** Finds rows of other processes, and rows whose earlier claim failed. */
  async function checkForDue(): Promise<void> {
    const now = clock.now()
    const { size } = handlers
    if (size > recalledTopics || isSetBack(seenAt, now)) await recallFutureRows(database, handlers, now)
    recalledTopics = size
    seenAt = now
    if (!claiming.isRunning && (await dueTimer.set())) wake()
  }

  async function stop(): Promise<void> {
    started = false
    clearInterval(poll)
    // Wait for claims in progress first: their rows must be released too.
    await Promise.all([claiming.ended, polling.ended])
    dueTimer.stop()
    await leases.release(partitions.clear()).catch(onError)
    await waitFor(running)
    await results.stop()
    leases.stop()
  }

  return { wake, start, stop, counts }
}

/** Whether a partition returned as many rows as were requested from it, and so may have more. */
function hasMore(found: readonly DueRow[], perPartition: number): boolean {
  const counts = new Map<string, number>()
  for (const { partition } of found) counts.set(partition, (counts.get(partition) ?? 0) + 1)
  return counts.values().some((count) => count >= perPartition)
}

function isShutdown(outcome: Outcome): boolean {
  return 'error' in outcome && outcome.error instanceof RegistryError && outcome.error.code === 'shutting_down'
}

/** Waits until all handlers have ended, at most for `patienceMs`. */
async function waitFor(running: ReadonlySet<Promise<void>>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, patienceMs)
  await Promise.race([Promise.all(running), promise])
  clearTimeout(timer)
}
