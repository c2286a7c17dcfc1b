/**
 * Yields the items of a source in order, while the next `count` items are already being produced. When the reader stops
 * early, waits for the items in production, so that no work continues in the background.
 */
export async function* readAhead<Item>(items: AsyncGenerator<Item>, count: number): AsyncGenerator<Item> {
  const pending: Promise<IteratorResult<Item>>[] = []
  const request = () => {
    const next = items.next()
    // The promise is awaited later. Meanwhile its rejection must not count as unhandled, because that would end the
    // process.
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
