import { isIP } from 'node:net'
import { RegistryError } from '@skillstead/protocol'
import type { AddressRules } from './public-addresses.ts'

/** Names that mean this machine or the network around it, whatever a resolver says (RFC 6761, RFC 6762, ICANN). */
const localSuffixes = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa']

/** A host's address that was checked, and may be connected to. */
export interface CheckedAddress {
  readonly address: string
  readonly port?: number
}

/**
 * The URL of an address, with what can be told by the address alone; `field` is whose fault it is. Numbers of any base
 * and length that stand for IPv4 addresses are written out by the parser. Throws `invalid_request`.
 */
export function parseTarget(address: string, field: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw refuseField(field, 'must be an http or https address')
  if (url.username !== '' || url.password !== '') throw refuseField(field, 'must not hold a user name or a password')
  return url
}

/** The host as sockets and resolvers take it: no brackets, no dot at the end. */
export function toHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

/** The address of a host that needs no resolver. */
export function toLiteral(host: string): CheckedAddress[] {
  return isIP(host) === 0 ? [] : [{ address: host }]
}

/**
 * Refuses a host unless every address of it may be reached; local names only lead to networks that the operator listed.
 * Throws `invalid_request`, which tells nothing of the addresses.
 */
export function requireAllowed(
  host: string,
  addresses: readonly CheckedAddress[],
  rules: AddressRules,
  field: string,
): void {
  const isLocal = localSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
  const isAllowed = isLocal ? rules.isListed : rules.isAllowed
  if (isLocal && addresses.length === 0) throw refuseHost(field)
  if (!addresses.every(({ address }) => isAllowed(address))) throw refuseHost(field)
}

function refuseHost(field: string): RegistryError {
  return refuseField(field, 'must lead to a public host, not into a local or private network')
}

function refuseField(path: string, message: string): RegistryError {
  return new RegistryError('invalid_request', `${path} ${message}.`, { errors: [{ path, message }] })
}
