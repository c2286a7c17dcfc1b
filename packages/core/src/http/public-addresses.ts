import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [Address, number]

/** Which network addresses may be reached. */
export interface AddressRules {
  /** Whether an address is one that the operator lets through. */
  isListed(address: string): boolean
  /** Whether an address is listed, or anybody's to reach. */
  isAllowed(address: string): boolean
}

/** Takes networks in CIDR form or single addresses; throws a TypeError for anything else. */
export function createAddressRules(allowNetworks: readonly string[]): AddressRules {
  const networks = allowNetworks.map(parseNetwork)
  const isListed = (address: string) => {
    const parsed = parseAddress(address)
    return parsed !== undefined && networks.some((network) => isInside(parsed, network))
  }
  return { isListed, isAllowed: (address) => isListed(address) || isPublic(parseAddress(address)) }
}

/** The only part of IPv6 that is handed out to the public (RFC 4291, section 2.4, and IANA's registry). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
/** Where IPv6-only networks show IPv4 hosts (RFC 6052): as public as the address inside. */
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** Azure's host agent, with the metadata and certificates of a virtual machine, in the middle of public addresses. */
const hostAgent = ipaddr.IPv4.parse('168.63.129.16')

function isPublic(address: Address | undefined): boolean {
  if (address === undefined) return false
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && !address.match(hostAgent, 32)
  if (address.match(translated)) return isPublic(ipaddr.fromByteArray(address.toByteArray().slice(12)))
  return address.match(globalUnicast) && address.range() === 'unicast'
}

/** Whether a text is a network in CIDR form, or a single address. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  if (isIP(address) === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= toBits(address))
}

function parseNetwork(text: string): Network {
  const [address = '', prefix] = text.split('/')
  if (!isNetwork(text)) throw new TypeError(`'${text}' is not a network; write it as in 10.0.0.0/8.`)
  return [ipaddr.parse(address), prefix === undefined ? toBits(address) : Number(prefix)]
}

function toBits(address: string): number {
  return isIP(address) === 6 ? 128 : 32
}

/** An IPv4 address in the dress of an IPv6 one comes out as what it is. What no socket takes is none at all. */
function parseAddress(text: string): Address | undefined {
  if (isIP(text) !== 6) return isIP(text) === 4 ? ipaddr.parse(text) : undefined
  // Written out first: ipaddr.js takes `::8.8.8.8` for `::ffff:8.8.8.8`, where sockets do not.
  const plain = new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1)
  return ipaddr.process(plain)
}

function isInside(address: Address, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network as never, bits)
}
