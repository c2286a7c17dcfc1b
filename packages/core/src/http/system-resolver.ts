import { Resolver, lookup } from 'node:dns/promises'
import pLimit from 'p-limit'
import { isUnknownName } from './request-failures.ts'
import type { NameResolver } from './outgoing.ts'

const tryMs = 2000
const triesMax = 2
/** Look-ups of the system that run at a time. Each holds one of the few threads that everything else needs too. */
const systemLookupsMax = 2

/**
 * The resolver of the machine. Name servers are asked first, in a way that a name whose servers hang holds up nobody
 * else; what they do not know is looked up by the system, with its hosts file and all.
 */
export function createSystemResolver(): NameResolver {
  const takeTurn = pLimit(systemLookupsMax)
  return {
    async lookup(host) {
      const resolver = openResolver()
      const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
      const found = [four, six].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      if (found.length > 0) return found.map((address) => ({ address }))
      if (four.status === 'rejected' && !isLeftToSystem(four.reason)) throw four.reason
      return takeTurn(() => lookup(host, { all: true }))
    },
    txt: (name) => openResolver().resolveTxt(name),
  }
}

/** A new one each time, for it reads once which name servers there are. */
function openResolver(): Resolver {
  return new Resolver({ timeout: tryMs, tries: triesMax })
}

/** Whether name servers do not know a name, or there are none. */
function isLeftToSystem(error: unknown): boolean {
  return isUnknownName(error) || (error as { code?: unknown }).code === 'ECONNREFUSED'
}
