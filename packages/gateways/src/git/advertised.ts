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
  const left = new LRUCache<string, { count: number; readonly atMs: number }>({ max: entriesMax })
  const toKey = (call: GatewayCall, params: Params) => JSON.stringify([host.limitKeyOf(call), params])
  return {
    add: (call, params) => void left.set(toKey(call, params), { count: uploadsMax, atMs: clock.now() }),
    take(call, params) {
      const entry = left.get(toKey(call, params))
      // The absolute value, so that an age is not negative after the clock was set back.
      if (entry === undefined || entry.count === 0 || Math.abs(clock.now() - entry.atMs) >= advertisedMs) return false
      entry.count -= 1
      return true
    },
  }
}
