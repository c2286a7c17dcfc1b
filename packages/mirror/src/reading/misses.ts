import { LRUCache } from 'lru-cache'
import type { Clock } from '@skillstead/core'

/** Skills that an upstream was asked for and does not have. Each miss is stored for a short time. */
export interface Misses {
  has(key: string): boolean
  add(key: string): void
}

const missMs = 60_000
/** Maximum number of stored misses. It is limited because callers choose the names. */
const missesMax = 10_000

/** Creates a store for a limited number of misses, which drops the oldest misses first. */
export function createMisses({ clock }: { readonly clock: Clock }): Misses {
  const missedAt = new LRUCache<string, number>({ maxSize: missesMax, sizeCalculation: () => 1 })
  return {
    has(key) {
      const ageMs = clock.now() - (missedAt.peek(key) ?? -Infinity)
      // A negative age shows that the clock was set back, and counts as expired.
      return ageMs >= 0 && ageMs < missMs
    },
    add: (key) => void missedAt.set(key, clock.now()),
  }
}
