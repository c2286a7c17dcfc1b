import { RegistryError } from '@skillstead/protocol'
import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { findDueRows, type DueRow } from '../storage/due-rows.ts'
import { createAlarm } from './alarm.ts'
import { runAttempt, toSettlement, type Outcome } from './attempts.ts'
import { claimRows, type ClaimedRow } from './claims.ts'
import { createHoldings } from './holdings.ts'
import { Lanes } from './lanes.ts'
import type { OutboxHandler } from './outbox.ts'
import { createSettlements } from './settlements.ts'
import { createSingleRun } from './single-run.ts'
import { Throttle, type Traffic } from './throttle.ts'

export interface WorkerParts {
  readonly database: Database
  readonly clock: Clock
  readonly handlers: ReadonlyMap<string, OutboxHandler>
  readonly traffic: Traffic
  readonly onError: (error: unknown) => void
}

/** How soon rows are seen that other processes wrote; those of this process are seen at once. */
const pollMs = 1000
/** From so many running rows on, what is to be claimed and written is gathered for a moment, for fewer commits. */
const busyRows = 24
const gatherMs = 12
/** And while the throttle holds as many back: few are running then, and each commit is felt by those who call. */
const throttledGatherMs = 50
/** How soon held rows are looked at again that nothing but the throttle kept from beginning. */
const throttledMs = 3
/** Rows of one claim. */
const claimedMax = 192
/** How long a stop waits for handlers; after that their rows are done again once their leases have run out. */
const patienceMs = 10_000

/**
 * Takes due rows and has them handled, many at a time. One claim takes rows for many turns, and is written with what
 * ended meanwhile: so a row costs a small share of a commit.
 */
export function createWorker({ database, clock, handlers, traffic, onError }: WorkerParts) {
  const lanes = new Lanes()
  const throttle = new Throttle(traffic)
  const holdings = createHoldings({ database, clock, onError })
  const alarm = createAlarm({ database, clock, handlers }, wake)
  const settlements = createSettlements({ database, handlers, holdings, onError })
  const running = new Set<Promise<void>>()
  const counts = { attempts: 0, failures: 0 }
  let started = false
  const looking = createSingleRun(look, onError)
  const polling = createSingleRun(lookAround, onError)
  /** Whether somebody asked for a look since the last began. */
  let isWoken = false
  /** Whether there may be due rows that nobody had room for. */
  let isBehind = false
  /** Where the next look begins, so that every lane is looked at in its turn. */
  let lastLane = ''
  /** How often the look has still to come to the last lane, until it has seen them all. */
  let rounds = 0
  /** When the look began: what became due since may be in lanes that it had passed. */
  let lookedAt = 0
  let isBeatPlanned = false
  let isBeginPlanned = false
  let poll: NodeJS.Timeout | undefined

  function wake(): void {
    isWoken = true
    planBeat()
  }

  /** All that happens in one turn of the event loop, or while much is running in a moment, is written together. */
  function planBeat(): void {
    if (isBeatPlanned) return
    isBeatPlanned = true
    if (lanes.held >= busyRows && throttle.isHolding) setTimeout(beat, throttledGatherMs)
    else if (lanes.running < busyRows) setImmediate(beat)
    else setTimeout(beat, gatherMs)
  }

  function beat(): void {
    isBeatPlanned = false
    if (!settlements.isWriting && settlements.size > 0) void settle()
    if (started && (isWoken || rounds > 0)) looking.start()
  }

  async function settle(): Promise<void> {
    // A row that is tried again may be due before any other.
    if (await settlements.write()) wake()
    if (settlements.size > 0) planBeat()
  }

  async function look(): Promise<void> {
    try {
      if (isWoken && !(await beginLook())) return
      do await claim()
      while (started && rounds > 0 && lanes.running < busyRows && !throttle.isHolding)
      if (rounds === 0 && (await alarm.set(lookedAt))) wake()
    } catch (error) {
      // The next look is the poll's.
      rounds = 0
      isWoken = false
      throw error
    } finally {
      if (started && (isWoken || rounds > 0)) planBeat()
    }
  }

  /** Whether anything is due: of many lanes that wait for later, going through them would take long. */
  async function beginLook(): Promise<boolean> {
    isWoken = false
    isBehind = false
    lookedAt = clock.now()
    const isAnyDue = await alarm.set()
    if (!isAnyDue) rounds = 0
    else rounds = lastLane === '' ? 1 : 2
    return isAnyDue
  }

  /** Takes what there is room for of the lanes whose turn it is to be looked at. */
  async function claim(): Promise<void> {
    const { room, full } = lanes
    if (room <= 0) {
      isBehind = true
      rounds = 0
      return
    }
    const limit = Math.min(room, claimedMax)
    const share = lanes.shareOf(limit)
    const where = { now: clock.now(), topics: [...handlers.keys()], after: lastLane, without: full }
    const found = await findDueRows(database, { ...where, perLane: share, limit })
    // Only after the clock has leapt, or the computer has slept, are there leases of this process that ran out.
    if (found.some(({ id }) => holdings.has(id))) return holdings.renew()
    const chosen = lanes.choose(found)
    const isCut = chosen.length < found.length
    if (isCut || full.length > 0) isBehind = true
    // Lanes that were found and not chosen come first next time, or some would never be.
    const isLast = found.length < limit && (!isCut || chosen.length === 0)
    lastLane = isLast ? '' : (chosen.at(-1) ?? found.at(-1))!.lane
    if (isLast) rounds -= 1
    // A lane may have more than was asked of it, which only another round shows.
    if (chosen.length > 0 && (!isLast || hasMore(found, share))) rounds = Math.max(rounds, isLast ? 1 : 2)
    if (chosen.length > 0) await take(chosen.map(({ id }) => id))
  }

  async function take(ids: string[]): Promise<void> {
    const rows = await claimRows(database, ids, clock.now())
    holdings.add(rows)
    lanes.add(rows)
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
    const rows = lanes.begin(room)
    throttle.begin(rows.length)
    if (rows.length >= room) planTurns(throttledMs)
    for (const row of rows) {
      const task = attempt(row)
        .catch((error) => {
          // Whatever went wrong here, its lease runs out.
          holdings.drop([row])
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
    lanes.end(row)
    if (isBehind && lanes.isLow(row.lane)) wake()
    planTurns()
    // This node stops, which says nothing of the work: whoever starts next does it.
    if (!started && isShutdown(outcome)) return holdings.giveBack([row])
    counts.attempts += 1
    if ('error' in outcome) counts.failures += 1
    settlements.add(toSettlement(row, { outcome, at, durationMs, clock }, handler))
    planBeat()
  }

  function start(): void {
    if (started) return
    started = true
    poll = setInterval(polling.start, pollMs).unref()
    wake()
  }

  /** Sees what other processes wrote, and what an earlier look failed on. */
  async function lookAround(): Promise<void> {
    if (!looking.isRunning && (await alarm.set())) wake()
  }

  async function stop(): Promise<void> {
    started = false
    clearInterval(poll)
    // First what is being claimed: those rows are this process's to give back.
    await Promise.all([looking.ended, polling.ended])
    alarm.stop()
    await holdings.giveBack(lanes.clear()).catch(onError)
    await waitFor(running)
    await settlements.stop()
    holdings.stop()
  }

  return { wake, start, stop, counts }
}

/** Whether a lane gave as many rows as were asked of it. */
function hasMore(found: readonly DueRow[], perLane: number): boolean {
  const counts = new Map<string, number>()
  for (const { lane } of found) counts.set(lane, (counts.get(lane) ?? 0) + 1)
  return counts.values().some((count) => count >= perLane)
}

function isShutdown(outcome: Outcome): boolean {
  return 'error' in outcome && outcome.error instanceof RegistryError && outcome.error.code === 'shutting_down'
}

/** Until all have ended, or patience has. */
async function waitFor(running: ReadonlySet<Promise<void>>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, patienceMs)
  await Promise.race([Promise.all(running), promise])
  clearTimeout(timer)
}
