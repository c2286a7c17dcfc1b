import { Resolver, lookup } from 'node:dns/promises'
import type { NameResolver } from './outgoing.ts'

const tryMs = 2000
const triesMax = 2

/** The resolver of the machine: its hosts file and all for addresses, its name servers for TXT records. */
export function createSystemResolver(): NameResolver {
  const resolver = new Resolver({ timeout: tryMs, tries: triesMax })
  return {
    lookup: (host) => lookup(host, { all: true }),
    txt: (name) => resolver.resolveTxt(name),
  }
}
