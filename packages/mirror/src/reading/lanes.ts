import type { Clock } from '@skillstead/core'
import { RegistryError } from '@skillstead/protocol'
import { createBreaker, type Breaker } from '../breaker.ts'

/**
 * Skills that an upstream lists but does not return, by full name, each with the reason. Other skills are not affected.
 */
export type Lacking = ReadonlyMap<string, string>

/** The runs that read requests cause. Each upstream has one run at a time, which all waiting callers share. */
export interface Lanes {
  /** Imports a skill by its full name. Requests that wait for one upstream share a run. */
  pull(upstream: string, fullName: string): Promise<void>
  /** Updates the skills imported from the upstream. Joins a run in progress. */
  refresh(upstream: string): Promise<void>
  /** Whether the last run that a caller waited for failed or took too long. */
  hasFailed(upstream: string): boolean
  /** Called when another kind of run reached the upstream. */
  recover(upstream: string): void
  /** Called when a caller stopped waiting for the run. */
  giveUp(upstream: string): void
  /**
   * Waits for the run in progress and starts no other until the returned function is called, so that a steady stream of
   * readers does not block a sync.
   */
  hold(upstream: string): Promise<() => void>
}

interface Batch {
  readonly names: Set<string>
  readonly done: Promise<Lacking>
}

interface Lane {
  readonly breaker: Breaker
  hasFailed: boolean
  running: Batch | undefined
  waiting: Batch | undefined
  /** Syncs that block new runs. Each promise resolves when its sync ends. */
  readonly holds: Set<Promise<void>>
}

export interface LanesOptions {
  readonly clock: Clock
  /** Runs once for these names. Without names, it updates the imported skills. */
  run(upstream: string, names: ReadonlySet<string>): Promise<Lacking>
}

/** Maximum number of skills in one run: more would take longer than callers wait. */
const namesMax = 200

export function createLanes({ clock, run }: LanesOptions): Lanes {
  const lanes = new Map<string, Lane>()

  function laneOf(upstream: string): Lane {
    const there = lanes.get(upstream)
    if (there) return there
    const breaker = createBreaker({ name: `'${upstream}'`, clock })
    const lane: Lane = { breaker, hasFailed: false, running: undefined, waiting: undefined, holds: new Set() }
    lanes.set(upstream, lane)
    return lane
  }

  async function begin(upstream: string, lane: Lane, names: ReadonlySet<string>): Promise<Lacking> {
    await lane.running?.done.catch(() => undefined)
    while (lane.holds.size > 0) await Promise.all(lane.holds)
    lane.running = lane.waiting
    lane.waiting = undefined
    try {
      const lacking = await lane.breaker.run(() => run(upstream, names))
      lane.hasFailed = false
      return lacking
    } catch (error) {
      lane.hasFailed = true
      throw error
    } finally {
      lane.running = undefined
    }
  }

  function wait(upstream: string): Batch {
    const lane = laneOf(upstream)
    if (!lane.waiting) {
      const names = new Set<string>()
      // In the next microtask, after `lane.waiting` is set.
      const done = Promise.resolve().then(() => begin(upstream, lane, names))
      done.catch(() => undefined)
      lane.waiting = { names, done }
    }
    return lane.waiting
  }

  return {
    async pull(upstream, fullName) {
      const { running } = laneOf(upstream)
      const batch = running?.names.has(fullName) ? running : wait(upstream)
      if (batch.names.size >= namesMax && !batch.names.has(fullName)) throw toCrowded(upstream)
      batch.names.add(fullName)
      const why = (await batch.done).get(fullName)
      if (why !== undefined)
        throw new RegistryError('upstream_failed', `'${upstream}' lists ${fullName}, but it was not imported. ${why}`)
    },
    async refresh(upstream) {
      await (laneOf(upstream).running ?? wait(upstream)).done
    },
    hasFailed: (upstream) => lanes.get(upstream)?.hasFailed === true,
    recover(upstream) {
      const lane = laneOf(upstream)
      lane.hasFailed = false
      lane.breaker.reset()
    },
    giveUp: (upstream) => void (laneOf(upstream).hasFailed = true),
    async hold(upstream) {
      const lane = laneOf(upstream)
      const { promise, resolve } = Promise.withResolvers<void>()
      lane.holds.add(promise)
      await lane.running?.done.catch(() => undefined)
      return () => {
        lane.holds.delete(promise)
        resolve()
      }
    },
  }
}

function toCrowded(upstream: string): RegistryError {
  const detail = `Too many skills are being requested from '${upstream}'. Try again in a few seconds.`
  return new RegistryError('upstream_failed', detail, { retryAfterSeconds: 5 })
}
