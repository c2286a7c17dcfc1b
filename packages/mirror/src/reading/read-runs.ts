import type { Clock } from '@skillstead/core'
import { RegistryError } from '@skillstead/protocol'
import { createBreaker, type Breaker } from '../breaker.ts'

/**
 * Skills that an upstream lists but whose content it does not return, by full name, each with the reason. The run
 * imports other skills in spite of them.
 */
export type Lacking = ReadonlyMap<string, string>

/** The runs for read requests. Each upstream has one run at a time, whose result all waiting callers share. */
export interface ReadRuns {
  /** Imports a skill by its full name. Requests that wait for the same upstream share a run. */
  pull(upstream: string, fullName: string): Promise<void>
  /** Updates the skills imported from the upstream. If a run is in progress, only waits for that run. */
  refresh(upstream: string): Promise<void>
  /** Whether the last run for a read request failed, or a caller stopped waiting for it. */
  hasFailed(upstream: string): boolean
  /** Called when a sync reached the upstream: clears the failure. */
  recover(upstream: string): void
  /** Called when a caller stopped waiting for a run: records a failure. */
  giveUp(upstream: string): void
  /**
   * Waits for the run in progress, and starts no other run until the returned function is called, so that a steady
   * stream of read requests does not block a sync.
   */
  hold(upstream: string): Promise<() => void>
}

interface Batch {
  readonly names: Set<string>
  readonly done: Promise<Lacking>
}

interface UpstreamRuns {
  readonly breaker: Breaker
  hasFailed: boolean
  running: Batch | undefined
  waiting: Batch | undefined
  /** Syncs that block new runs. Each promise resolves when its sync ends. */
  readonly holds: Set<Promise<void>>
}

export interface ReadRunsOptions {
  readonly clock: Clock
  /** Does one run for the named skills; without names, updates the imported skills. */
  run(upstream: string, names: ReadonlySet<string>): Promise<Lacking>
}

/** Maximum number of skills in one run: a larger run would take longer than callers wait. */
const namesMax = 200

export function createReadRuns({ clock, run }: ReadRunsOptions): ReadRuns {
  const runs = new Map<string, UpstreamRuns>()

  function getRuns(upstream: string): UpstreamRuns {
    const there = runs.get(upstream)
    if (there) return there
    const breaker = createBreaker({ name: `'${upstream}'`, clock })
    const own: UpstreamRuns = { breaker, hasFailed: false, running: undefined, waiting: undefined, holds: new Set() }
    runs.set(upstream, own)
    return own
  }

  async function begin(upstream: string, own: UpstreamRuns, names: ReadonlySet<string>): Promise<Lacking> {
    await own.running?.done.catch(() => undefined)
    while (own.holds.size > 0) await Promise.all(own.holds)
    own.running = own.waiting
    own.waiting = undefined
    try {
      const lacking = await own.breaker.run(() => run(upstream, names))
      own.hasFailed = false
      return lacking
    } catch (error) {
      own.hasFailed = true
      throw error
    } finally {
      own.running = undefined
    }
  }

  function wait(upstream: string): Batch {
    const own = getRuns(upstream)
    if (!own.waiting) {
      const names = new Set<string>()
      // Begins in the next microtask, after `own.waiting` is set.
      const done = Promise.resolve().then(() => begin(upstream, own, names))
      done.catch(() => undefined)
      own.waiting = { names, done }
    }
    return own.waiting
  }

  return {
    async pull(upstream, fullName) {
      const { running } = getRuns(upstream)
      const batch = running?.names.has(fullName) ? running : wait(upstream)
      if (batch.names.size >= namesMax && !batch.names.has(fullName)) throw toCrowded(upstream)
      batch.names.add(fullName)
      const why = (await batch.done).get(fullName)
      if (why !== undefined)
        throw new RegistryError('upstream_failed', `'${upstream}' lists ${fullName}, but it was not imported. ${why}`)
    },
    async refresh(upstream) {
      await (getRuns(upstream).running ?? wait(upstream)).done
    },
    hasFailed: (upstream) => runs.get(upstream)?.hasFailed === true,
    recover(upstream) {
      const own = getRuns(upstream)
      own.hasFailed = false
      own.breaker.reset()
    },
    giveUp: (upstream) => void (getRuns(upstream).hasFailed = true),
    async hold(upstream) {
      const own = getRuns(upstream)
      const { promise, resolve } = Promise.withResolvers<void>()
      own.holds.add(promise)
      await own.running?.done.catch(() => undefined)
      return () => {
        own.holds.delete(promise)
        resolve()
      }
    },
  }
}

function toCrowded(upstream: string): RegistryError {
  const detail = `Too many skills are being requested from '${upstream}'. Try again in a few seconds.`
  return new RegistryError('upstream_failed', detail, { retryAfterSeconds: 5 })
}
