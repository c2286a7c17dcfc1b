import { RegistryError } from '@skillstead/protocol'
import type { Outgoing } from './outgoing.ts'
import type { AddressRules } from './public-addresses.ts'
import { parseTarget, requireAllowed, toHost, toLiteral } from './request-target.ts'

/**
 * The way out of a node without one: it opens no socket and asks no name server. Addresses are judged by what they say
 * themselves; where a name leads is looked at when a connection is made, by a node that makes one.
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
  throw new RegistryError('offline', 'This node is in offline mode and asks nobody outside.')
}
