import { RegistryError } from '@skillstead/protocol'
import type { Outgoing } from './outgoing.ts'
import type { AddressRules } from './public-addresses.ts'
import { parseTarget, requireAllowed, toHost, toLiteral } from './request-target.ts'

/**
 * The HTTP client of an offline node: opens no socket and sends no DNS query. Literal addresses are checked; what a
 * name resolves to is checked when a node with network access connects.
 */
export function createOffline(rules: AddressRules): Outgoing {
  return {
    isOffline: true,
    async requirePublic(address, field) {
      const url = parseTarget(address, field)
      const host = toHost(url)
      requireAllowed(host, toLiteral(host), rules, field)
      return url
    },
    get: refuse,
    post: refuse,
    readTxt: refuse,
    close: async () => {},
  }
}

async function refuse(): Promise<never> {
  throw new RegistryError('offline', 'This node is in offline mode and makes no outgoing requests.')
}
