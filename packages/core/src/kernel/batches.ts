import { setImmediate } from 'node:timers/promises'

/** How long work on many things may hold the event loop at a time. */
const sliceMs = 10

/**
 * Begins the work on each item in turn and lets the event loop turn in between; what goes on elsewhere meanwhile is
 * waited for at the end. The results are in the order of the items.
 */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Promise<Result>[] = []
  let startedMs = performance.now()
  for (const item of items) {
    results.push(work(item))
    if (performance.now() - startedMs < sliceMs) continue
    await setImmediate()
    startedMs = performance.now()
  }
  return Promise.all(results)
}
