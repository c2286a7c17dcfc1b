/** Where the time comes from: milliseconds since 1970, UTC. Tests hand in one that they set. */
export interface Clock {
  now(): number
  /** Calls back once that many milliseconds have passed; returns how to call it off. Keeps no process alive. */
  setTimer(ms: number, callback: () => void): () => void
}

/** What a timer takes at most: 2^31 - 1 ms, which is 24 days. One that ends early finds nothing due and is set anew. */
const timerMsMax = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(ms, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), timerMsMax)).unref()
    return () => clearTimeout(timer)
  },
}
