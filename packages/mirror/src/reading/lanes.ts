import type { Clock } from '@skillstead/core'
import { RegistryError } from '@skillstead/protocol'
import { createBreaker, type Breaker } from '../breaker.ts'

/** Skills by their full names that an upstream has and does not give, and why: a failure of theirs alone. */
export type Lacking = ReadonlyMap<string, string>

/** The runs that callers cause: one at a time for each upstream, which all who wait for the same share. */
export interface Lanes {
  /** Brings in skills by their full names; several that wait for one upstream go in one run. */
  pull(upstream: string, fullName: string): Promise<void>
  /** Brings what is here of it up to date, joining a run that goes on. */
  refresh(upstream: string): Promise<void>
  /** Whether the newest run that somebody waited for failed, or was too long. */
  hasFailed(upstream: string): boolean
  /** To be called when another run than those of readers reached its end. */
  recover(upstream: string): void
  /** Somebody went on without what the run will bring. */
  giveUp(upstream: string): void
  /**
   * Has nothing more begin until what comes back is called, which is when nothing runs: readers who never end keep
   * nobody from what concerns the upstream as a whole.
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
  /** Each until it is given up. */
  readonly holds: Set<Promise<void>>
}

export interface LanesOptions {
  readonly clock: Clock
  /** One run with these names; none where it is about what is here. */
  run(upstream: string, names: ReadonlySet<string>): Promise<Lacking>
}

/** Of one run: nobody waits any more for what more of them would take. */
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
      // A turn later, when it stands in its place.
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
      if (why !== undefined) throw new RegistryError('upstream_failed', `'${upstream}' has ${fullName}. ${why}`)
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
  const detail = `'${upstream}' is asked for too many skills at once; ask again in a moment.`
  return new RegistryError('upstream_failed', detail, { retryAfterSeconds: 5 })
}
