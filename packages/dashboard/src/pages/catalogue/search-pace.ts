const pauseMs = 200
const quickMax = 12
const everyMs = 5000

/**
 * The delay after a keystroke before a search. Slow typing pauses after each key, and every pause costs a search and a
 * completion. So a dozen are fast, then one every 5 s, which leaves most of the 60 requests per minute for pages.
 */
export function createPace() {
  let left = quickMax
  let atMs = 0
  const refill = (nowMs: number) => {
    left = Math.min(quickMax, left + (nowMs - atMs) / everyMs)
    atMs = nowMs
  }
  return {
    pauseAt(nowMs: number): number {
      refill(nowMs)
      return Math.max(pauseMs, (1 - left) * everyMs)
    },
    spend(nowMs: number): void {
      refill(nowMs)
      left = Math.max(0, left - 1)
    },
  }
}
