import type { DiscoveryScope } from '@skillstead/core/internal'
import { LRUCache } from 'lru-cache'
import type { GatewayCall, GatewayHost } from '../gateway.ts'

const listedMs = 60_000
const readersMax = 20_000
/** Length of a period in milliseconds. Other nodes learn only in which period a list was read. */
const periodMs = listedMs / 2
/** The shared limit that marks a period in which an address read the list of a scope. */
const mark = { points: 1, share: Number.MAX_SAFE_INTEGER, isOnce: true }

/**
 * Remembers which address read the list of which scope within the last minute, on any node. Some installers fetch all
 * files of a list only to show them, so these reads are not counted as downloads. A list that another node sent is
 * remembered for half a minute to a minute, and not at all while the database does not respond.
 */
export interface RecentLists {
  add(call: GatewayCall, scope: DiscoveryScope): Promise<void>
  has(call: GatewayCall, scope: DiscoveryScope): Promise<boolean>
}

export function createRecentLists(host: GatewayHost): RecentLists {
  const { clock, sharedLimits: shared } = host.context
  const readAt = new LRUCache<string, number>({ maxSize: readersMax, sizeCalculation: () => 1 })
  const toRecentKey = (call: GatewayCall, scope: DiscoveryScope) => JSON.stringify([host.limitAddressOf(call), scope])
  const toSharedKey = (key: string, periodsAgo: number) =>
    `list ${Math.floor(clock.now() / periodMs) - periodsAgo} ${key}`

  return {
    async add(call, scope) {
      const key = toRecentKey(call, scope)
      readAt.set(key, clock.now())
      await shared?.take(toSharedKey(key, 0), { ...mark, windowMs: listedMs })
    },
    async has(call, scope) {
      const key = toRecentKey(call, scope)
      // The absolute value, so that an age is not negative after the clock was set back.
      if (Math.abs(clock.now() - (readAt.get(key) ?? -Infinity)) < listedMs) return true
      // Lists of one skill are not recorded.
      if (!shared || scope.of === 'skill' || scope.of === 'share') return false
      // Taking zero from the limit reads the mark. If there is no mark, this leaves a database row that has already
      // expired.
      const asked = [0, 1].map((ago) => shared.take(toSharedKey(key, ago), { ...mark, windowMs: 0 }, 0))
      return (await Promise.all(asked)).some((state) => state?.remaining === 0)
    },
  }
}
