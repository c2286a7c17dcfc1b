/** How often a file or a pipe gets a line of progress: lines stay there. */
export const lineMs = 10_000

/** A question that is answered with yes at most once in a time, the first of them not counted. */
export function every(ms: number, now: () => number = () => performance.now()): () => boolean {
  let lastMs = now()
  return () => {
    if (now() - lastMs < ms) return false
    lastMs = now()
    return true
  }
}
