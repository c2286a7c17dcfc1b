/** Source of the current time in milliseconds since 1970, UTC. Tests pass a clock that they control. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /**
   * Calls back after `ms` milliseconds; returns a function that cancels the timer. The timer does not keep the process
   * alive.
   */
  setTimer(ms: number, callback: () => void): () => void
}

/**
 * Longest delay that a timer of Node accepts: 2^31 - 1 ms, about 24 days. A longer timer ends after this delay; its
 * callback then finds no job due, and sets a new timer.
 */
const timerMsMax = 2 ** 31 - 1

/**
 * The clock of the machine: the default of `openRegistry`, and the base of clocks that differ from the machine's.
 *
 * @example
 * const anHourAhead = { ...systemClock, now: () => systemClock.now() + 3_600_000 }
 * const registry = await openRegistry({ path: ':memory:', clock: anHourAhead })
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(ms, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), timerMsMax)).unref()
    return () => clearTimeout(timer)
  },
}

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
/**
 * Maximum difference between the clocks of nodes on one database. A stored time further in the future was written
 * before the clock was set back.
 */
export const skewMs = 60_000
