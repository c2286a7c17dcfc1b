import type { Clock } from '@skillstead/core'
import type { Upstream } from './types.ts'

/** Starts the syncs of upstreams when they are due. */
export interface Schedule {
  start(): void
  stop(): void
}

interface ScheduleParts {
  readonly clock: Clock
  /** Lists all upstreams from the database, the highest priority first. */
  list(): Promise<Upstream[]>
  /** Syncs one upstream. The schedule ignores the result. */
  sync(upstream: Upstream): Promise<void>
  readonly onError: (error: unknown) => void
}

/** Maximum interval between two polls of the upstreams: another process may add an upstream, or sync it. */
const pollMs = 30_000
/**
 * Minimum pause after a sync of an upstream. A sync that cannot start because another node is running it ends at once,
 * so the upstream stays due and is tried again after this time.
 */
const pauseMs = 1000

/** When the next sync of an upstream is due, in milliseconds since 1970; null if it has no schedule. */
export function toNextAt({ kind, settings, triedAt, alarm }: Upstream, now: number): number | null {
  // Bundles are imported by hand.
  if (settings.everySeconds === 0 || kind === 'bundle' || alarm) return null
  // If the clock was set back, the last attempt is in the future. The next sync must not wait for that time.
  return triedAt === null ? now : Math.min(triedAt, now) + settings.everySeconds * 1000
}

/**
 * Syncs each upstream when it is due. An upstream that was never synced waits while an upstream with a higher priority
 * is in its first sync, because the first upstream that has a name becomes its source. In all other cases syncs do not
 * wait for each other.
 */
export function createSchedule({ clock, list, sync, onError }: ScheduleParts): Schedule {
  const running = new Set<string>()
  const endedAt = new Map<string, number>()
  let polling = Promise.resolve()
  let cancel: (() => void) | undefined
  let isOn = false

  /** Starts a poll after the poll in progress, so that the newest poll sets the timer. */
  function pollAgain(): void {
    polling = polling.then(poll)
  }

  async function poll(): Promise<void> {
    if (!isOn) return
    let untilNextMs = pollMs
    try {
      untilNextMs = beginDue(await list())
    } catch (error) {
      onError(error)
    }
    cancel?.()
    if (isOn) cancel = clock.setTimer(untilNextMs, pollAgain)
  }

  /** Starts all due syncs. Returns the ms until the next is due. When a sync ends, the upstreams are polled again. */
  function beginDue(upstreams: readonly Upstream[]): number {
    const now = clock.now()
    let untilDueMs = pollMs
    let isFirstSyncRunning = false
    for (const upstream of upstreams) {
      const isNew = upstream.syncedAt === null
      const dueAt = toDueAt(upstream, now)
      if (dueAt > now) untilDueMs = Math.min(untilDueMs, dueAt - now)
      else if (!isNew || !isFirstSyncRunning) begin(upstream)
      isFirstSyncRunning ||= isNew && running.has(upstream.name)
    }
    return untilDueMs
  }

  function toDueAt(upstream: Upstream, now: number): number {
    const ended = Math.min(endedAt.get(upstream.name) ?? -Infinity, now)
    return Math.max(toNextAt(upstream, now) ?? Infinity, ended + pauseMs)
  }

  function begin(upstream: Upstream): void {
    const { name } = upstream
    if (!isOn || running.has(name)) return
    running.add(name)
    const end = () => {
      running.delete(name)
      endedAt.set(name, clock.now())
      pollAgain()
    }
    void sync(upstream).catch(onError).finally(end)
  }

  return {
    start() {
      if (isOn) return
      isOn = true
      pollAgain()
    },
    stop() {
      isOn = false
      cancel?.()
    },
  }
}
