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

/**
 * Splits items into batches of up to `itemsMax` items and `bytesMax` bytes, in their order. An item that has more bytes
 * is a batch of its own.
 */
export function splitIntoBatches<Item>(
  items: readonly Item[],
  { itemsMax, bytesMax }: { itemsMax: number; bytesMax: number },
  countBytes: (item: Item) => number,
): Item[][] {
  const batches: Item[][] = []
  let bytes = 0
  for (const item of items) {
    const last = batches.at(-1)
    const itemBytes = countBytes(item)
    bytes += itemBytes
    if (last && last.length < itemsMax && bytes <= bytesMax) last.push(item)
    else {
      batches.push([item])
      bytes = itemBytes
    }
  }
  return batches
}
