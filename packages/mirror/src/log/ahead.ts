/**
 * The items of a source in their order, with the next `count` of them asked for while one is in use. What is under way
 * when the reader ends is waited for, so that nothing goes on behind its back.
 */
export async function* ahead<Item>(items: AsyncGenerator<Item>, count: number): AsyncGenerator<Item> {
  const asked: Promise<IteratorResult<Item>>[] = []
  const ask = () => {
    const next = items.next()
    // It is waited for later, and must not end the process before.
    next.catch(() => undefined)
    asked.push(next)
  }
  try {
    for (let i = 0; i < count; i += 1) ask()
    for (;;) {
      const { value, done } = await asked.shift()!
      if (done) return
      ask()
      yield value
    }
  } finally {
    await Promise.allSettled([...asked, items.return(undefined)])
  }
}
