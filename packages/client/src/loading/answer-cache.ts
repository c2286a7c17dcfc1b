/** An answer, as it came. */
export interface CachedAnswer {
  readonly output: unknown
  readonly etag: string | undefined
  /** What it is about: all answers about one thing are forgotten together. */
  readonly subject: string
  /** When it was last known to be true, or last given in spite of an error, in milliseconds since the epoch. */
  readonly sinceMs: number
  /** How long nobody is asked again. */
  readonly forMs: number
}

/** The answers that were used last. */
export interface AnswerCache {
  get(key: string): CachedAnswer | undefined
  put(key: string, answer: CachedAnswer): void
  forget(subject: string): void
  clear(): void
}

/** Holds so many answers of so many characters in all, and drops those that nobody asked for the longest time. */
export function createAnswerCache({ answersMax = 500, charactersMax = 16_000_000 } = {}): AnswerCache {
  const held = new Map<string, { answer: CachedAnswer; characters: number }>()
  let total = 0

  function drop(key: string): void {
    total -= held.get(key)?.characters ?? 0
    held.delete(key)
  }

  return {
    get(key) {
      const found = held.get(key)
      if (!found) return undefined
      // A Map gives its keys in the order in which they were set, so that the first one is the oldest.
      held.delete(key)
      held.set(key, found)
      return found.answer
    },
    put(key, answer) {
      const former = held.get(key)
      drop(key)
      // A renewed answer is the same object, and need not be measured again.
      const measured = former?.answer.output === answer.output ? former?.characters : undefined
      const characters = measured ?? key.length + JSON.stringify(answer.output).length
      if (characters > charactersMax) return
      held.set(key, { answer, characters })
      total += characters
      for (const oldest of held.keys()) {
        if (held.size <= answersMax && total <= charactersMax) return
        drop(oldest)
      }
    },
    forget(subject) {
      for (const [key, { answer }] of held) if (answer.subject === subject) drop(key)
    },
    clear() {
      held.clear()
      total = 0
    },
  }
}
