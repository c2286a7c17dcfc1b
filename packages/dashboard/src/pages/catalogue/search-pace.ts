const pauseMs = 200
const quickMax = 12
const everyMs = 5000

/**
 * The delay between a keystroke and its search. A slow typist causes a search and a completion with each key. So the
 * first dozen searches are fast and later searches start at intervals of 5 s, which leaves most of the 60 requests per
 * minute of the plan `free` for pages.
 */
export function createSearchPace() {
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
