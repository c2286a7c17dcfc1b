import type { DiscoveryScope } from '@skillstead/core/internal'
import { LRUCache } from 'lru-cache'
import type { GatewayCall, GatewayHost } from '../gateway.ts'

const listedMs = 60_000
const readersMax = 20_000

/**
 * Remembers which address read the list of which scope within the last minute. Some installers fetch all files of a list
 * only to show them, so these reads are no downloads.
 */
export interface RecentLists {
  add(call: GatewayCall, scope: DiscoveryScope): void
  has(call: GatewayCall, scope: DiscoveryScope): boolean
}

export function createRecentLists(host: GatewayHost): RecentLists {
  const { clock } = host.context
  const readAt = new LRUCache<string, number>({ maxSize: readersMax, sizeCalculation: () => 1 })
  const toKey = (call: GatewayCall, scope: DiscoveryScope) => JSON.stringify([host.limitAddressOf(call), scope])
  return {
    add: (call, scope) => void readAt.set(toKey(call, scope), clock.now()),
    has: (call, scope) => clock.now() - (readAt.get(toKey(call, scope)) ?? -Infinity) < listedMs,
  }
}
