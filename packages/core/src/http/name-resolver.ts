import { readErrorCode } from '@skillstead/protocol'
import { Resolver, lookup } from 'node:dns/promises'
import pLimit from 'p-limit'
import { isUnknownName } from './request-failures.ts'
import { toLiteralAddress, type CheckedAddress } from './request-target.ts'

/** Resolves names. */
export interface NameResolver {
  /**
   * Returns all addresses of a host; throws an error with a `code` such as `ENOTFOUND`. `port` overrides the URL's
   * port.
   */
  lookup(host: string): Promise<{ address: string; port?: number }[]>
  /** Returns the TXT records, each as its strings. */
  txt(name: string): Promise<string[][]>
}

const tryMs = 2000
const triesMax = 2
/** Maximum number of parallel lookups by the operating system. Each blocks one of the few threads of libuv's pool. */
const systemLookupsMax = 2

/**
 * The resolver of the machine. Queries name servers directly first, so that a name whose servers hang does not block
 * other lookups. The operating system, with its hosts file, looks up names that the name servers do not know.
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

/** Each lookup has its own resolver, because a resolver reads the list of name servers only once. */
function openResolver(): Resolver {
  return new Resolver({ timeout: tryMs, tries: triesMax })
}

/** Whether a lookup failed because the name servers do not know the name, or because there are no name servers. */
function isLeftToSystem(error: unknown): boolean {
  return isUnknownName(error) || readErrorCode(error) === 'ECONNREFUSED'
}

/** Resolves all addresses of a host. An IP literal is its own address. */
export async function lookUpHost(resolver: NameResolver, host: string): Promise<CheckedAddress[]> {
  const literal = toLiteralAddress(host)
  if (literal.length > 0) return literal
  const addresses = await resolver.lookup(host)
  if (addresses.length === 0) throw Object.assign(new Error('The host name has no IP address.'), { code: 'ENODATA' })
  return addresses
}

/** Reads the TXT records of a name, each joined from its strings; empty if the name does not exist. */
export async function readTxt(resolver: NameResolver, name: string): Promise<string[]> {
  try {
    return (await resolver.txt(name)).map((parts) => parts.join(''))
  } catch (error) {
    if (isUnknownName(error)) return []
    throw error
  }
}
