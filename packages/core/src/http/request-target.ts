import { isIP } from 'node:net'
import { RegistryError } from '@skillstead/protocol'
import type { AddressRules } from './public-addresses.ts'

/** Names that mean this machine or the network around it, whatever a resolver says (RFC 6761, RFC 6762, ICANN). */
const localSuffixes = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa']

/** Ports of other protocols, whose servers might take a request for something else (Fetch standard, "bad port"). */
const badPorts = new Set(
  `0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135
  137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719
  1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080`.split(/\s+/),
)

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
  if (badPorts.has(url.port))
    throw refuseField(field, `must not have the port ${url.port}, which is another protocol's`)
  return url
}

/** As {@link parseTarget}, for what must not be sent in the clear. */
export function parseSecureTarget(address: string, field: string): URL {
  const url = parseTarget(address, field)
  if (url.protocol !== 'https:') throw refuseField(field, 'must be an https address')
  return url
}

/** The host as sockets and resolvers take it: no brackets, no dots at the end. */
export function toHost({ hostname }: { readonly hostname: string }): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '')
}

/** The address of a host that needs no resolver. */
export function toLiteral(host: string): CheckedAddress[] {
  return isIP(host) === 0 ? [] : [{ address: host }]
}

/** Whether a name means this machine or the network around it. */
export function isLocalName(host: string): boolean {
  return localSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
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
  const isLocal = isLocalName(host)
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
