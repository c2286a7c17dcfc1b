import type { EncodedJson } from './encoded-json.ts'

/**
 * A cache of public responses, limited in size: the JSON of each response, and the body that a transport prepares from
 * the JSON and keeps in {@link EncodedJson.prepared}. A change of a subject removes the responses about the subject. Evicts
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
      const jsonBytes = Buffer.byteLength(answer.json)
      if (jsonBytes > bytesMax / 16) return
      // The prepared body has the bytes of the JSON. Counted from the start, because the body is added later.
      const size = 2 * jsonBytes
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
