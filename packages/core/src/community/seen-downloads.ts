import { createHash, randomBytes } from 'node:crypto'
import type { SharedLimits } from '../accounts/shared-limits.ts'
import { dayMs, toDay } from './download-days.ts'

/** Which downloads are the first of a skill from an address on a day (UTC): the others do not count. */
export interface SeenDownloads {
  /** Remembers the download. A promise where other nodes have to be asked. Always true without an address. */
  isFirst(skillId: string, address: string | undefined, now: number): boolean | Promise<boolean>
}

/** Some 100 bytes each. The oldest is forgotten for a new one; a flood above it is not shared between nodes. */
const seenMax = 250_000

/**
 * Remembers hashes in memory, with a salt that no one else has, so that they name no address. With `shared` the nodes on a
 * database count a download once between them; what they store is a digest that is deleted after the day.
 */
export function createSeenDownloads(shared?: SharedLimits): SeenDownloads {
  const seen = new Set<string>()
  const salt = randomBytes(32)
  let today = 0
  let added = 0

  /** Whether it was not there yet. */
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
      // Calls inside the process are the operator's own.
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

/** Each node counts for itself while the database does not answer. */
async function isFirstOfAll(shared: SharedLimits, key: string, windowMs: number): Promise<boolean> {
  const state = await shared.take(key, { points: 1, windowMs, share: 1, isOnce: true })
  return state === undefined || !state.exceeded
}
