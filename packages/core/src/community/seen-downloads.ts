import { createHash, randomBytes } from 'node:crypto'
import type { SharedLimits } from '../accounts/shared-limits.ts'
import { dayMs, toDay } from './download-days.ts'

/** Determines whether a download is the first of a skill from an address on a day (UTC); others do not count. */
export interface SeenDownloads {
  /** Records the download. Returns a promise if other nodes must be asked. Always true without an address. */
  isFirst(skillId: string, address: string | undefined, now: number): boolean | Promise<boolean>
}

/** About 100 bytes each. The oldest is evicted for a new one; above this, nodes do not share their records. */
const seenMax = 250_000

/**
 * Stores hashes in memory, with a secret salt, so that they identify no address. With `shared`, the nodes on a database
 * count a download once between them; they store a digest that is deleted after the day.
 */
export function createSeenDownloads(shared?: SharedLimits): SeenDownloads {
  const seen = new Set<string>()
  const salt = randomBytes(32)
  let today = 0
  let added = 0

  /** Returns whether it was new. */
  function add(key: string): boolean {
    const hash = createHash('sha256').update(salt).update(key).digest('base64url').slice(0, 16)
    if (seen.has(hash)) return false
    if (seen.size >= seenMax) seen.delete(seen.values().next().value!)
    seen.add(hash)
    added += 1
    return true
  }

  return {
    isFirst(skillId, address, now) {
      // Calls without an address are the operator's own.
      if (address === undefined) return true
      const day = toDay(now)
      if (day !== today) {
        seen.clear()
        today = day
        added = 0
      }
      const key = `download ${day} ${skillId} ${address}`
      if (!add(key)) return false
      if (!shared || added > seenMax) return true
      return isFirstOfAll(shared, key, (day + 1) * dayMs - now)
    },
  }
}

/** If the database does not respond, each node counts on its own. */
async function isFirstOfAll(shared: SharedLimits, key: string, windowMs: number): Promise<boolean> {
  const state = await shared.take(key, { points: 1, windowMs, share: 1, isOnce: true })
  return state === undefined || !state.exceeded
}
