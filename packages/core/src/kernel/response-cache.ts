import type { EncodedJson } from './encoded-json.ts'

/**
 * A cache of public responses, limited in size. A change of a subject removes the responses about the subject. Evicts
 * with the CLOCK algorithm, so that a hit costs no more than a lookup.
 */
export interface ResponseCache {
  get(key: string): EncodedJson | undefined
  /** Caches a response about `subject`. */
  put(key: string, subject: string, answer: EncodedJson): void
  /** Removes every cached response about the subject. */
  forget(subject: string): void
  forgetAll(): void
}

export function createResponseCache(bytesMax: number): ResponseCache {
  const answers = new Map<string, { subject: string; answer: EncodedJson; size: number; used: boolean }>()
  const keysOf = new Map<string, Set<string>>()
  let bytes = 0

  function drop(key: string): void {
    const cached = answers.get(key)
    if (!cached) return
    answers.delete(key)
    cached.answer.isCached = false
    bytes -= cached.size
    const keys = keysOf.get(cached.subject)
    keys?.delete(key)
    if (keys?.size === 0) keysOf.delete(cached.subject)
  }

  function evictOne(): void {
    const [key, cached] = answers.entries().next().value!
    if (!cached.used) return drop(key)
    answers.delete(key)
    answers.set(key, { ...cached, used: false })
  }

  return {
    get(key) {
      const cached = answers.get(key)
      if (!cached) return undefined
      cached.used = true
      return cached.answer
    },
    put(key, subject, answer) {
      drop(key)
      const size = Buffer.byteLength(answer.json)
      if (size > bytesMax / 16) return
      answer.isCached = true
      answers.set(key, { subject, answer, size, used: false })
      bytes += size
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
