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
  const missedAt = new Map<string, number>()
  return {
    has(key) {
      const at = missedAt.get(key)
      if (at === undefined) return false
      const ageMs = clock.now() - at
      // A clock that was set back makes none of them last longer.
      if (ageMs >= 0 && ageMs < forMs) return true
      missedAt.delete(key)
      return false
    },
    add(key) {
      missedAt.delete(key)
      missedAt.set(key, clock.now())
      if (missedAt.size > missesMax) missedAt.delete(missedAt.keys().next().value!)
    },
  }
}
