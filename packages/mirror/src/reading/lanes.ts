import type { Clock } from '@skillstead/core'
import { createBreaker, type Breaker } from '../breaker.ts'

/** The runs that callers cause: one at a time for each upstream, which all who wait for the same share. */
export interface Lanes {
  /** Brings in skills by their full names; several that wait for one upstream go in one run. */
  pull(upstream: string, fullName: string): Promise<void>
  /** Brings what is here of it up to date, joining a run that goes on. */
  refresh(upstream: string): Promise<void>
  /** Whether the newest run that somebody waited for failed, or was too long. */
  hasFailed(upstream: string): boolean
  /** Somebody went on without what the run will bring. */
  giveUp(upstream: string): void
  /** Settles when nothing runs. */
  idle(upstream: string): Promise<void>
}

interface Batch {
  readonly names: Set<string>
  readonly done: Promise<void>
}

interface Lane {
  readonly breaker: Breaker
  hasFailed: boolean
  running: Batch | undefined
  waiting: Batch | undefined
}

export interface LanesOptions {
  readonly clock: Clock
  /** One run with these names; none where it is about what is here. */
  run(upstream: string, names: ReadonlySet<string>): Promise<void>
}

export function createLanes({ clock, run }: LanesOptions): Lanes {
  const lanes = new Map<string, Lane>()

  function laneOf(upstream: string): Lane {
    const there = lanes.get(upstream)
    if (there) return there
    const breaker = createBreaker({ name: `'${upstream}'`, clock })
    const lane: Lane = { breaker, hasFailed: false, running: undefined, waiting: undefined }
    lanes.set(upstream, lane)
    return lane
  }

  async function begin(upstream: string, lane: Lane, names: ReadonlySet<string>): Promise<void> {
    await lane.running?.done.catch(() => undefined)
    lane.running = lane.waiting
    lane.waiting = undefined
    try {
      await lane.breaker.run(() => run(upstream, names))
      lane.hasFailed = false
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
      if (running?.names.has(fullName)) return running.done
      const batch = wait(upstream)
      batch.names.add(fullName)
      return batch.done
    },
    async refresh(upstream) {
      return (laneOf(upstream).running ?? wait(upstream)).done
    },
    hasFailed: (upstream) => lanes.get(upstream)?.hasFailed === true,
    giveUp: (upstream) => void (laneOf(upstream).hasFailed = true),
    async idle(upstream) {
      for (let batch = next(upstream); batch; batch = next(upstream)) await batch.done.catch(() => undefined)
    },
  }

  function next(upstream: string): Batch | undefined {
    const lane = lanes.get(upstream)
    return lane?.running ?? lane?.waiting
  }
}
