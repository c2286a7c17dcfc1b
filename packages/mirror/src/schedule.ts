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

/** When the next run of an upstream is due, in milliseconds since 1970; null where none ever is. */
export function toNextAt({ settings, triedAt, alarm }: Upstream, now: number): number | null {
  if (settings.everySeconds === 0 || alarm) return null
  // A clock that was set back would put it off for as long.
  return triedAt === null ? now : Math.min(triedAt, now) + settings.everySeconds * 1000
}

/**
 * Has each upstream synced when it is due. Those that were never synced wait for the ones of higher priority to have had
 * their first run, which decides what a name means; after that none waits for another.
 */
export function createSchedule({ clock, list, sync, onError }: ScheduleParts): Schedule {
  let cancel: (() => void) | undefined
  let isOn = false

  async function look(): Promise<void> {
    const upstreams = await list()
    for (const upstream of upstreams) {
      const now = clock.now()
      const dueAt = toNextAt(upstream, now)
      if (!isOn || dueAt === null || dueAt > now) continue
      const running = sync(upstream).catch(onError)
      if (upstream.syncedAt === null) await running
    }
  }

  async function tick(): Promise<void> {
    await look().catch(onError)
    if (isOn) cancel = clock.setTimer(await toPause(), () => void tick())
  }

  async function toPause(): Promise<number> {
    try {
      const now = clock.now()
      const dueAt = (await list()).map((upstream) => toNextAt(upstream, now) ?? Infinity)
      return Math.max(0, Math.min(lookMs, ...dueAt.map((at) => at - now)))
    } catch {
      return lookMs
    }
  }

  return {
    start() {
      if (isOn) return
      isOn = true
      void tick()
    },
    stop() {
      isOn = false
      cancel?.()
    },
  }
}
