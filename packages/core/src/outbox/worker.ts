import { RegistryError } from '@skillstead/protocol'
import type { Clock } from '../clock.ts'
import type { Database } from '../storage/database.ts'
import { findDueRows, findNextDue } from '../storage/due-rows.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { claimRows, leaseMs, releaseRows, renewRows, settleRows, type ClaimedRow, type Settlement } from './claims.ts'
import { Lanes, heldMax } from './lanes.ts'
import { AttemptError, type Attempt, type EndedJob, type OutboxHandler } from './outbox.ts'

interface Parts {
  readonly database: Database
  readonly clock: Clock
  readonly handlers: ReadonlyMap<string, OutboxHandler>
  readonly onError: (error: unknown) => void
}

/** How soon rows are seen that other processes wrote; those of this process are seen at once. */
const pollMs = 1000
const attemptsKept = 20
const errorCharactersMax = 2000

/**
 * Takes due rows and has them handled, many at a time. One claim takes rows for many turns, and what ended while a
 * commit was under way is written by the next: so a row costs a share of two commits.
 */
export function createWorker({ database, clock, handlers, onError }: Parts) {
  const lanes = new Lanes()
  const held = new Map<string, ClaimedRow>()
  const running = new Set<Promise<void>>()
  const counts = { attempts: 0, failures: 0 }
  let started = false
  let claiming: Promise<void> | undefined
  let settling: Promise<void> | undefined
  let settlements: Settlement[] = []
  /** Whether somebody asked for a look since the last began. */
  let isWoken = false
  /** Whether there may be due rows that nobody had room for. */
  let isBehind = false
  /** Where the next look begins, so that every lane is looked at in its turn. */
  let lastLane = ''
  let poll: NodeJS.Timeout | undefined
  let cancelTimer = () => {}
  let cancelRenewal = () => {}

  function wake(): void {
    isWoken = true
    if (started) claiming ??= claimAll()
  }

  async function claimAll(): Promise<void> {
    try {
      while (started && isWoken) {
        isWoken = false
        isBehind = false
        while (await claim());
      }
      await setTimer()
    } catch (error) {
      // The next look is the poll's.
      isWoken = false
      onError(error)
    } finally {
      claiming = undefined
      // Who called after the last look found a claim under way.
      if (isWoken) wake()
    }
  }

  /** Has the worker wake for the row that is due next, also one that another process wrote. */
  async function setTimer(): Promise<void> {
    cancelTimer()
    const next = await findNextDue(database, [...handlers.keys()])
    if (next === null || !started) return
    const delayMs = next - clock.now()
    // What is due and has no room yet is looked at when something ends.
    if (delayMs > 0 || !isBehind) cancelTimer = clock.setTimer(delayMs, wake)
  }

  /** Takes what there is room for; answers whether there may be more, and room for it. */
  async function claim(): Promise<boolean> {
    const { room } = lanes
    if (!started || handlers.size === 0) return false
    if (room <= 0) return !(isBehind = true)
    const without = lanes.full
    const found = await findDueRows(database, {
      now: clock.now(),
      topics: [...handlers.keys()],
      after: lastLane,
      without,
      perLane: heldMax.lane,
      limit: room,
    })
    const chosen = lanes.choose(found)
    if (without.length > 0 || chosen.length < found.length) isBehind = true
    const isRound = found.length < room
    const wasBegun = lastLane !== ''
    lastLane = isRound ? '' : chosen.at(-1)!.lane
    if (chosen.length > 0) await take(chosen.map(({ id }) => id))
    // A lane may have more than it was asked for; one that was full is looked at when it has room.
    return chosen.length > 0 || (isRound && wasBegun)
  }

  async function take(ids: string[]): Promise<void> {
    const rows = await claimRows(database, ids, clock.now())
    for (const row of rows) held.set(row.id, row)
    if (held.size === rows.length) planRenewal()
    lanes.add(rows)
    beginTurns()
  }

  function beginTurns(): void {
    if (!started) return
    for (const row of lanes.begin()) {
      const task = attempt(row)
        .catch(onError)
        .finally(() => void running.delete(task))
      running.add(task)
    }
  }

  async function attempt(row: ClaimedRow): Promise<void> {
    const handler = handlers.get(row.topic)!
    const number = row.attempts + 1
    const at = clock.now()
    const startedMs = performance.now()
    let result: { statusCode: number } | void = undefined
    let error: unknown
    try {
      result = await handler.handle(JSON.parse(row.payload) as Record<string, unknown>, number, row.id)
    } catch (thrown) {
      error = thrown
    }
    const durationMs = performance.now() - startedMs
    lanes.end(row, durationMs)
    beginTurns()
    if (isBehind && lanes.isLow(row.lane)) wake()
    // The node stops, which says nothing of the work: whoever starts next does it.
    if (error instanceof RegistryError && error.code === 'shutting_down') return giveBack([row])
    const ended: Attempt = { number, at, durationMs: Math.round(durationMs), ...toOutcome(result, error) }
    counts.attempts += 1
    if (ended.error !== null) counts.failures += 1
    settlements.push(toSettlement(row, ended, error, handler))
    await (settling ??= settleAll())
  }

  function toSettlement(row: ClaimedRow, ended: Attempt, error: unknown, handler: OutboxHandler): Settlement {
    const attempts = [...(JSON.parse(row.attempt_log) as Attempt[]), ended].slice(-attemptsKept)
    const attemptLog = JSON.stringify(attempts)
    if (ended.error === null) return { row, state: 'done', dueAt: row.due_at, attemptLog }
    const delayMs = handler.retryDelaysMs[row.attempts]
    const isOver = delayMs === undefined || (error instanceof AttemptError && error.isFinal)
    return isOver
      ? { row, state: 'failed', dueAt: row.due_at, attemptLog }
      : { row, state: 'pending', dueAt: clock.now() + delayMs, attemptLog }
  }

  /** Writes what ended, and what ends meanwhile with the next commit. What cannot be written is done once more. */
  async function settleAll(): Promise<void> {
    try {
      while (settlements.length > 0) await settle(settlements.splice(0))
    } finally {
      settling = undefined
    }
  }

  async function settle(group: readonly Settlement[]): Promise<void> {
    try {
      await database.writer.write(async (trx) => {
        const settled = await settleRows(database.dialect, trx, group)
        await tellHandlers(
          trx,
          group.filter(({ row }) => settled.has(row.id)),
        )
      })
      if (group.some(({ state }) => state === 'pending')) wake()
    } catch (error) {
      onError(error)
    }
    for (const { row } of group) held.delete(row.id)
  }

  async function tellHandlers(trx: WriteTransaction, settled: readonly Settlement[]): Promise<void> {
    const ended = Map.groupBy(settled, ({ row }) => row.topic)
    for (const [topic, ofTopic] of ended) {
      const jobs = ofTopic.flatMap(({ row, state }) => (state === 'pending' ? [] : [toEnded(row, state)]))
      if (jobs.length > 0) await handlers.get(topic)!.afterwards?.(trx, jobs)
    }
  }

  /** Gives back what was not done; whoever looks next has it. */
  async function giveBack(rows: readonly ClaimedRow[]): Promise<void> {
    if (rows.length === 0) return
    await releaseRows(database, rows)
    for (const { id } of rows) held.delete(id)
  }

  function planRenewal(): void {
    cancelRenewal()
    cancelRenewal = clock.setTimer(leaseMs / 3, () => void renew())
  }

  async function renew(): Promise<void> {
    if (held.size === 0) return
    planRenewal()
    await renewRows(database, [...held.values()], clock.now()).catch(onError)
  }

  function start(): void {
    started = true
    poll = setInterval(() => void (claiming ?? setTimer().catch(onError)), pollMs).unref()
    wake()
  }

  async function stop(): Promise<void> {
    started = false
    clearInterval(poll)
    cancelTimer()
    // First what is being claimed: those rows are this process's to give back.
    await claiming
    await giveBack(lanes.clear())
    await Promise.all(running)
    cancelRenewal()
  }

  return { wake, start, stop, counts }
}

function toEnded({ id, lane, payload, attempts }: ClaimedRow, state: 'done' | 'failed'): EndedJob {
  return { id, lane, payload: JSON.parse(payload) as Record<string, unknown>, state, attempts: attempts + 1 }
}

function toOutcome(result: { statusCode: number } | void, error: unknown): Pick<Attempt, 'statusCode' | 'error'> {
  if (error === undefined) return { statusCode: result?.statusCode ?? null, error: null }
  const message = String(error instanceof Error ? error.message : error).slice(0, errorCharactersMax)
  return { statusCode: error instanceof AttemptError ? error.statusCode : null, error: message }
}
