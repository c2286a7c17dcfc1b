/** A cached response. */
export interface CachedAnswer {
  readonly output: unknown
  readonly etag: string | undefined
  /** The skill name or search that the response is about: all responses about one subject are dropped together. */
  readonly subject: string
  /** When the response was last confirmed, or last returned despite an error, in milliseconds since the epoch. */
  readonly sinceMs: number
  /** How long after `sinceMs` the response is used without a request, in milliseconds. */
  readonly forMs: number
}

/** A cache of the most recently used responses. */
export interface AnswerCache {
  get(key: string): CachedAnswer | undefined
  put(key: string, answer: CachedAnswer): void
  forget(subject: string): void
  clear(): void
}

/** Caches at most `answersMax` responses, in total `charactersMax` characters. Drops the least recently used first. */
export function createAnswerCache({ answersMax = 500, charactersMax = 16_000_000 } = {}): AnswerCache {
  const cached = new Map<string, { answer: CachedAnswer; characters: number }>()
  let total = 0

  function drop(key: string): void {
    total -= cached.get(key)?.characters ?? 0
    cached.delete(key)
  }

  return {
    get(key) {
      const found = cached.get(key)
      if (!found) return undefined
      // A Map iterates its keys in insertion order, so the first key is the least recently used.
      cached.delete(key)
      cached.set(key, found)
      return found.answer
    },
    put(key, answer) {
      const former = cached.get(key)
      drop(key)
      // A revalidated response (304) keeps its output object, which need not be measured again.
      const measured = former?.answer.output === answer.output ? former?.characters : undefined
      const characters = measured ?? key.length + JSON.stringify(answer.output).length
      if (characters > charactersMax) return
      cached.set(key, { answer, characters })
      total += characters
      for (const oldest of cached.keys()) {
        if (cached.size <= answersMax && total <= charactersMax) return
        drop(oldest)
      }
    },
    forget(subject) {
      for (const [key, { answer }] of cached) if (answer.subject === subject) drop(key)
    },
    clear() {
      cached.clear()
      total = 0
    },
  }
}

/** Copies a cached response, so that callers cannot change it. Strings are shared, so copying is cheap. */
export function copyJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyJson) as T
  if (typeof value !== 'object' || value === null) return value
  // Define the fields instead of assigning them: untrusted data may have a field `__proto__`.
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyJson(part)])) as T
}
