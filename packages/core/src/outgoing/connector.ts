import tls, { type SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import type { NameResolver } from './outgoing.ts'
import type { AddressRules } from './public-addresses.ts'
import { requireAllowed, toLiteral, type CheckedAddress } from './target.ts'

/** What every connection to the outside goes by. */
export interface Guard {
  readonly resolver: NameResolver
  readonly rules: AddressRules
  readonly secureContext: SecureContext | undefined
}

/** Trust in certificates besides the system's; undefined for the system's alone. Throws where one cannot be read. */
export function toSecureContext(ca: readonly string[]): SecureContext | undefined {
  if (ca.length === 0) return undefined
  // Also what NODE_EXTRA_CA_CERTS and --use-system-ca added; Node.js before 22.15 does not tell.
  const known = tls.getCACertificates?.('default') ?? tls.rootCertificates
  return tls.createSecureContext({ ca: [...known, ...ca] })
}

/**
 * How undici connects: the host is looked up once, every address of it is checked, and those are connected to and no
 * others. A connection that is not allowed fails with an `invalid_request` that names `url`.
 */
export async function createConnector(guard: Guard): Promise<buildConnector.connector> {
  // Loaded when it is first needed: short commands never ask the outside anything.
  const { buildConnector } = await import('undici')
  return (options, callback) => {
    const connect = (addresses: readonly CheckedAddress[]) => {
      const { secureContext } = guard
      const port = String(addresses[0]!.port ?? options.port)
      buildConnector({ secureContext, allowH2: false, lookup: toLookup(addresses) as never })(
        { ...options, port },
        callback,
      )
    }
    findAllowed(guard, options.hostname.replace(/\.$/, '')).then(connect, (error: Error) => callback(error, null))
  }
}

async function findAllowed({ resolver, rules }: Guard, host: string): Promise<CheckedAddress[]> {
  const addresses = await lookUp(resolver, host)
  requireAllowed(host, addresses, rules, 'url')
  return addresses
}

/** All addresses of a host, an address being its own. */
export async function lookUp(resolver: NameResolver, host: string): Promise<CheckedAddress[]> {
  const literal = toLiteral(host)
  if (literal.length > 0) return literal
  const addresses = await resolver.lookup(host)
  if (addresses.length === 0) throw Object.assign(new Error('There is no address.'), { code: 'ENODATA' })
  return addresses
}

/** Answers with what was checked, so that a second question cannot be answered differently. Literals never ask. */
function toLookup(addresses: readonly CheckedAddress[]) {
  const found = addresses.map(({ address }) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_host: string, options: { all?: boolean }, callback: (...answer: unknown[]) => void) => {
    if (options.all) callback(null, found)
    else callback(null, found[0]!.address, found[0]!.family)
  }
}
