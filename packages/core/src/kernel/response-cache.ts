import type { EncodedJson } from './encoded-json.ts'

/**
 * Public answers kept as bytes until the change sequence touches what they show. Bounded by size; the oldest that was not
 * used since it was last looked at goes first (the CLOCK algorithm), so that a hit costs no more than a look-up.
 */
export interface ResponseCache {
  get(key: string): EncodedJson | undefined
  /** Keeps an answer about `subject`. */
  put(key: string, subject: string, answer: EncodedJson): void
  /** Forgets every answer about the subject. */
  forget(subject: string): void
  forgetAll(): void
}

export function createResponseCache(bytesMax: number): ResponseCache {
  const answers = new Map<string, { subject: string; answer: EncodedJson; used: boolean }>()
  const keysOf = new Map<string, Set<string>>()
  let bytes = 0

  function drop(key: string): void {
    const kept = answers.get(key)
    if (!kept) return
    answers.delete(key)
    bytes -= kept.answer.bytes.length
    const keys = keysOf.get(kept.subject)
    keys?.delete(key)
    if (keys?.size === 0) keysOf.delete(kept.subject)
  }

  function evictOne(): void {
    const [key, kept] = answers.entries().next().value!
    if (!kept.used) return drop(key)
    answers.delete(key)
    answers.set(key, { ...kept, used: false })
  }

  return {
    get(key) {
      const kept = answers.get(key)
      if (!kept) return undefined
      kept.used = true
      return kept.answer
    },
    put(key, subject, answer) {
      drop(key)
      if (answer.bytes.length > bytesMax / 16) return
      answers.set(key, { subject, answer, used: false })
      bytes += answer.bytes.length
      const keys = keysOf.get(subject)
      if (keys) keys.add(key)
      else keysOf.set(subject, new Set([key]))
      while (bytes > bytesMax) evictOne()
    },
    forget(subject) {
      keysOf.get(subject)?.forEach(drop)
    },
    forgetAll() {
      for (const key of answers.keys()) drop(key)
    },
  }
}
