import { setImmediate } from 'node:timers/promises'

/** Longest time in milliseconds that a batch may block the event loop. */
const blockingMs = 10

/**
 * Starts `work` on each item in order and yields to the event loop between batches. Waits for the asynchronous results
 * after the last item. Results are in the order of the items.
 */
export async function mapInBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Promise<Result>[] = []
  let startedMs = performance.now()
  for (const item of items) {
    results.push(work(item))
    if (performance.now() - startedMs < blockingMs) continue
    await setImmediate()
    startedMs = performance.now()
  }
  return Promise.all(results)
}
