import { isIP } from 'node:net'
import type { RegistryError } from '@skillstead/protocol'
import { invalidField } from '../kernel/field-errors.ts'
import type { AddressRules } from './public-addresses.ts'

/** Names of this machine or its network, whatever a resolver returns (RFC 6761, RFC 6762, ICANN). */
const localSuffixes = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa']

/** Ports of other protocols, whose servers might misread a request as a command (Fetch standard, "bad port"). */
const badPorts = new Set(
  `0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135
  137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719
  1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080`.split(/\s+/),
)

/** An address of a host that was checked and may be connected to. */
export interface CheckedAddress {
  readonly address: string
  readonly port?: number
}

/**
 * Parses a URL and checks what can be checked without DNS; `field` is named in errors. The parser normalises IPv4
 * addresses in any notation (decimal, octal, hexadecimal). Throws `invalid_request`.
 */
export function parseTarget(address: string, field: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') throw invalidField(field, 'must be an http or https URL')
  if (url.username !== '' || url.password !== '')
    throw invalidField(field, 'must not contain a user name or a password')
  if (badPorts.has(url.port))
    throw invalidField(field, `must not use the port ${url.port}, which belongs to another protocol`)
  return url
}

/** Like {@link parseTarget}, and requires https. */
export function parseSecureTarget(address: string, field: string): URL {
  const url = parseTarget(address, field)
  if (url.protocol !== 'https:') throw invalidField(field, 'must be an https URL')
  return url
}

/** The host as sockets and resolvers accept it: without brackets and trailing dots. */
export function toSocketHost({ hostname }: { readonly hostname: string }): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '')
}

/** The address of a host that is an IP literal; empty for a name. */
export function toLiteralAddress(host: string): CheckedAddress[] {
  return isIP(host) === 0 ? [] : [{ address: host }]
}

/** Whether a name always refers to this machine or its network. */
export function isLocalName(host: string): boolean {
  return localSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
}

/**
 * Rejects a host unless all of its addresses may be reached; local names may only resolve to networks that the operator
 * listed. Throws `invalid_request`, which does not reveal the addresses.
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
  return invalidField(field, 'must be on a public host, not in a local or private network')
}
