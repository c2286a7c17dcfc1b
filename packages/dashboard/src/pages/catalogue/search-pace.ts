const pauseMs = 200
const quickMax = 12
const everyMs = 5000

/**
 * How long to wait for the next key before asking. Whoever types slowly pauses after each key, and every pause costs a
 * search and a completion: a dozen are quick, then one every five seconds, which leaves most of sixty a minute for pages.
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
