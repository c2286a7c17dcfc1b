import { LRUCache } from 'lru-cache'
import type { Clock } from '@skillstead/core'

/** What was looked for upstream and is not there, for a short while. */
export interface Misses {
  has(key: string): boolean
  add(key: string): void
}

export interface MissesOptions {
  readonly clock: Clock
  /** A minute unless it is said. */
  readonly forMs?: number
  readonly missesMax?: number
}

const forMsDefault = 60_000
/** Callers choose the names, so that there is no end of them. */
const missesMaxDefault = 10_000

/** Remembers a bounded number of misses; the oldest go first. */
export function createMisses({ clock, forMs = forMsDefault, missesMax = missesMaxDefault }: MissesOptions): Misses {
  const missedAt = new LRUCache<string, number>({ max: missesMax })
  return {
    has(key) {
      const ageMs = clock.now() - (missedAt.peek(key) ?? -Infinity)
      // A clock that was set back makes none of them last longer.
      return ageMs >= 0 && ageMs < forMs
    },
    add: (key) => void missedAt.set(key, clock.now()),
  }
}
