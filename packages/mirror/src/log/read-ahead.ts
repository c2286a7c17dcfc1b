/**
 * Yields the items of a source in order, while the next `count` items are already being produced. When the reader stops
 * early, waits for those, so that nothing continues in the background.
 */
export async function* readAhead<Item>(items: AsyncGenerator<Item>, count: number): AsyncGenerator<Item> {
  const pending: Promise<IteratorResult<Item>>[] = []
  const request = () => {
    const next = items.next()
    // Awaited later. Until then a rejection must not count as unhandled, which ends the process.
    next.catch(() => undefined)
    pending.push(next)
  }
  try {
    for (let i = 0; i < count; i += 1) request()
    for (;;) {
      const { value, done } = await pending.shift()!
      if (done) return
      request()
      yield value
    }
  } finally {
    await Promise.allSettled([...pending, items.return(undefined)])
  }
}
