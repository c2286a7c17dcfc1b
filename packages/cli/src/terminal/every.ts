/** Interval of progress lines in a file or pipe, where lines cannot be overwritten. */
export const lineMs = 10_000

/** Returns a function that is true at most once per interval, first after one interval. */
export function every(ms: number, now: () => number = () => performance.now()): () => boolean {
  let lastMs = now()
  return () => {
    if (now() - lastMs < ms) return false
    lastMs = now()
    return true
  }
}
