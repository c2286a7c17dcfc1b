import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { findNextDue } from '../storage/due-rows.ts'
import type { OutboxHandler } from './outbox.ts'

interface Parts {
  readonly database: Database
  readonly clock: Clock
  readonly handlers: ReadonlyMap<string, OutboxHandler>
}

/** Rings when the next row may be taken. */
export function createAlarm({ database, clock, handlers }: Parts, ring: () => void) {
  let cancelTimer: (() => void) | undefined
  let timesSet = 0

  function stop(): void {
    timesSet += 1
    cancelTimer?.()
    cancelTimer = undefined
  }

  return {
    stop,
    /** Rings for the next row of those after a time; answers whether that may be taken already, and then does not ring. */
    async set(after = 0): Promise<boolean> {
      const turn = ++timesSet
      const next = await findNextDue(database, [...handlers.keys()], after)
      const isDue = next !== null && next <= clock.now()
      if (turn !== timesSet) return isDue
      stop()
      if (next !== null && !isDue) cancelTimer = clock.setTimer(next - clock.now(), ring)
      return isDue
    },
  }
}
