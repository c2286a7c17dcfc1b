import { LRUCache } from 'lru-cache'
import type { GatewayCall, GatewayHost, Params } from '../gateway.ts'

/** The references, the pack, and one round in which a fetch negotiates; each further round costs a request. */
const uploadsMax = 3
const advertisedMs = 60_000
const entriesMax = 20_000

/**
 * Remembers who read the references of which repository within the last minute on this node: the requests that continue
 * such a clone cost no request of the allowance, so that a clone counts as one.
 */
export interface Advertised {
  add(call: GatewayCall, params: Params): void
  /** Whether the request continues a clone. */
  take(call: GatewayCall, params: Params): boolean
}

export function createAdvertised(host: GatewayHost): Advertised {
  const { clock } = host.context
  // The resolution would need timers of the machine, which the clock of the registry does not follow.
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
