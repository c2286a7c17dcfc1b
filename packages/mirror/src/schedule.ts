import type { Clock } from '@skillstead/core'
import type { Upstream } from './types.ts'

/** Runs that come round by themselves. */
export interface Schedule {
  start(): void
  stop(): void
}

interface ScheduleParts {
  readonly clock: Clock
  /** Every upstream as it is stored now, the highest priority first. */
  list(): Promise<Upstream[]>
  /** Syncs one; whatever becomes of it is no concern of the schedule. */
  sync(upstream: Upstream): Promise<void>
  readonly onError: (error: unknown) => void
}

/** Another process may add an upstream, or sync one, so that the rows are looked at this often at least. */
const lookMs = 30_000
/** One that could not begin, since another node has it, stays due; it is tried again after this. */
const pauseMs = 1000

/** When the next run of an upstream is due, in milliseconds since 1970; null where none ever is. */
export function toNextAt({ kind, settings, triedAt, alarm }: Upstream, now: number): number | null {
  // A bundle is read when somebody brings it.
  if (settings.everySeconds === 0 || kind === 'bundle' || alarm) return null
  // A clock that was set back would put it off for as long.
  return triedAt === null ? now : Math.min(triedAt, now) + settings.everySeconds * 1000
}

/**
 * Has each upstream synced when it is due. Those that were never synced wait for the ones of higher priority to have had
 * their first run, which decides what a name means; besides that none waits for another, however long that takes.
 */
export function createSchedule({ clock, list, sync, onError }: ScheduleParts): Schedule {
  const running = new Set<string>()
  const endedAt = new Map<string, number>()
  let looking = Promise.resolve()
  let cancel: (() => void) | undefined
  let isOn = false

  /** One look after the other, so that the newest decides when the next one is. */
  function lookAgain(): void {
    looking = looking.then(look)
  }

  async function look(): Promise<void> {
    if (!isOn) return
    let untilNextMs = lookMs
    try {
      untilNextMs = beginDue(await list())
    } catch (error) {
      onError(error)
    }
    cancel?.()
    if (isOn) cancel = clock.setTimer(untilNextMs, lookAgain)
  }

  /** Answers for how long nothing else is due. What is under way says so at its end. */
  function beginDue(upstreams: readonly Upstream[]): number {
    const now = clock.now()
    let untilDueMs = lookMs
    let isFirstUnderWay = false
    for (const upstream of upstreams) {
      const isNew = upstream.syncedAt === null
      const dueAt = toDueAt(upstream, now)
      if (dueAt > now) untilDueMs = Math.min(untilDueMs, dueAt - now)
      else if (!isNew || !isFirstUnderWay) begin(upstream)
      isFirstUnderWay ||= isNew && running.has(upstream.name)
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
      lookAgain()
    }
    void sync(upstream).catch(onError).finally(end)
  }

  return {
    start() {
      if (isOn) return
      isOn = true
      lookAgain()
    },
    stop() {
      isOn = false
      cancel?.()
    },
  }
}
