import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { findNextDue } from '../storage/due-rows.ts'
import type { OutboxHandler } from './outbox.ts'

interface Parts {
  readonly database: Database
  readonly clock: Clock
  readonly handlers: ReadonlyMap<string, OutboxHandler>
}

/** Calls `onDue` when the next row becomes due. */
export function createDueTimer({ database, clock, handlers }: Parts, onDue: () => void) {
  let cancelTimer: (() => void) | undefined
  let timesSet = 0

  function stop(): void {
    timesSet += 1
    cancelTimer?.()
    cancelTimer = undefined
  }

  return {
    stop,
    /**
     * Sets the timer for the next row that becomes due after `after`. Returns true, without setting it, if that row is
     * already due.
     */
    async set(after = 0): Promise<boolean> {
      const turn = ++timesSet
      const next = await findNextDue(database, [...handlers.keys()], after)
      const isDue = next !== null && next <= clock.now()
      if (turn !== timesSet) return isDue
      stop()
      if (next !== null && !isDue) cancelTimer = clock.setTimer(next - clock.now(), onDue)
      return isDue
    },
  }
}
