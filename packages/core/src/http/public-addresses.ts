import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6
type IpNetwork = [IpAddress, number]

/** Decides which network addresses may be reached. */
export interface AddressRules {
  /** Whether the operator allowed the address, even if the address is not public. */
  isListed(address: string): boolean
  /** Whether the address is listed or public. */
  isAllowed(address: string): boolean
}

/** Accepts networks in CIDR form and single addresses; throws a TypeError for anything else. */
export function createAddressRules(allowNetworks: readonly string[]): AddressRules {
  const networks = allowNetworks.map(parseCidr)
  const isListed = (address: string) => {
    const parsed = parseSocketAddress(address)
    return parsed !== undefined && networks.some((network) => isInsideNetwork(parsed, network))
  }
  return { isListed, isAllowed: (address) => isListed(address) || isPublicAddress(parseSocketAddress(address)) }
}

/** The only part of IPv6 that is allocated to the public (RFC 4291, section 2.4, and IANA's registry). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
/** IPv4 hosts as seen from IPv6-only networks (RFC 6052): public if the embedded IPv4 address is. */
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * Azure's host agent, which serves a virtual machine's metadata and certificates from within the public address range.
 */
const hostAgent = ipaddr.IPv4.parse('168.63.129.16')

function isPublicAddress(address: IpAddress | undefined): boolean {
  if (address === undefined) return false
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && !address.match(hostAgent, 32)
  if (address.match(translated)) return isPublicAddress(ipaddr.fromByteArray(address.toByteArray().slice(12)))
  return address.match(globalUnicast) && address.range() === 'unicast'
}

/** Whether a text is a network in CIDR form or a single address. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  if (isIP(address) === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= toAddressBits(address))
}

function parseCidr(text: string): IpNetwork {
  const [address = '', prefix] = text.split('/')
  if (!isNetwork(text)) throw new TypeError(`'${text}' is not a network. Write it in CIDR form, such as 10.0.0.0/8.`)
  return [ipaddr.parse(address), prefix === undefined ? toAddressBits(address) : Number(prefix)]
}

function toAddressBits(address: string): number {
  return isIP(address) === 6 ? 128 : 32
}

/** Parses an address; an IPv4-mapped IPv6 address becomes IPv4. Undefined for text that sockets would not accept. */
function parseSocketAddress(text: string): IpAddress | undefined {
  if (isIP(text) !== 6) return isIP(text) === 4 ? ipaddr.parse(text) : undefined
  // Expand the address first: ipaddr.js reads `::8.8.8.8` as `::ffff:8.8.8.8`, sockets do not.
  const plain = new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1)
  return ipaddr.process(plain)
}

function isInsideNetwork(address: IpAddress, [network, bits]: IpNetwork): boolean {
  return address.kind() === network.kind() && address.match(network as never, bits)
}
