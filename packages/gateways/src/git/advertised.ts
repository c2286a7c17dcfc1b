import { LRUCache } from 'lru-cache'
import type { GatewayCall, GatewayHost, Params } from '../gateway.ts'

/**
 * Number of requests of a clone after its first one that are not charged: for negotiation and the pack. Each request
 * beyond is charged.
 */
const uploadsMax = 3
const advertisedMs = 60_000
const entriesMax = 20_000

/**
 * Remembers which callers read the references of which repository within the last minute on this node. Their next
 * requests to the repository are not charged, so that a clone counts as one request.
 */
export interface Advertised {
  add(call: GatewayCall, params: Params): void
  /** Whether the request continues a clone and is not charged. Counts the request. */
  take(call: GatewayCall, params: Params): boolean
}

export function createAdvertised(host: GatewayHost): Advertised {
  const { clock } = host.context
  // A resolution other than 0 would use timers of the machine, which do not follow the clock of the registry.
  const left = new LRUCache<string, { count: number }>({
    max: entriesMax,
    ttl: advertisedMs,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  })
  const toKey = (call: GatewayCall, params: Params) => JSON.stringify([host.limitKeyOf(call), params])
  return {
    add: (call, params) => void left.set(toKey(call, params), { count: uploadsMax }),
    take(call, params) {
      const entry = left.get(toKey(call, params))
      if (entry === undefined || entry.count === 0) return false
      entry.count -= 1
      return true
    },
  }
}
