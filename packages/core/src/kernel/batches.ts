import { setImmediate } from 'node:timers/promises'

/** Longest time in milliseconds that a batch may block the event loop. */
const batchMs = 10

/**
 * Returns a function that yields to the event loop if the work since its last call to do so took as long as a batch may. Call
 * it between the steps of work whose amount a request decides: a query of SQLite gives no other request a turn.
 */
export function createPause(): () => Promise<void> {
  let resumedAtMs = performance.now()
  return async () => {
    if (performance.now() - resumedAtMs < batchMs) return
    await setImmediate()
    resumedAtMs = performance.now()
  }
}

/**
 * Starts `work` on each item in order and yields to the event loop between batches. Waits for asynchronous results at
 * the end. Results are in the order of the items.
 */
export async function mapInBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Promise<Result>[] = []
  const pause = createPause()
  for (const item of items) {
    results.push(work(item))
    await pause()
  }
  return Promise.all(results)
}
