import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { ServerRequest } from 'srvx'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Reads addresses of a request: its client, its proxies, and the URL that the client used. */
export interface Addresses {
  /** The nearest hop that is not a trusted proxy. Rate limits and access to `/metrics` use its address. */
  clientOf(request: ServerRequest): string
  /** `https://host` as reported by a trusted proxy; undefined if no trusted proxy reports a host. */
  originOf(request: ServerRequest): string | undefined
  /** Whether an address belongs to a trusted proxy. */
  isProxy(address: string): boolean
  /** Whether the request was made on this machine and was not forwarded by a proxy. */
  isLoopback(request: ServerRequest): boolean
}

/** Throws a TypeError for a network that is not in CIDR form. */
export function createAddresses(trustedProxies: readonly string[]): Addresses {
  const networks = trustedProxies.map(parseIpNetwork)
  const isTrusted = (address: string) => {
    const parsed = parseIpAddress(address)
    return parsed !== undefined && networks.some((network) => isInNetwork(parsed, network))
  }

  function clientOf(request: ServerRequest): string {
    let client = peerOf(request)
    if (networks.length === 0 || !isTrusted(client)) return client
    const hops = request.headers.get('x-forwarded-for')?.split(',') ?? []
    // Read from the right: each proxy appends the address of its client, so only entries added by trusted proxies
    // count.
    for (const hop of hops.toReversed()) {
      const address = stripPort(hop.trim())
      if (!parseIpAddress(address)) break
      client = address
      if (!isTrusted(address)) break
    }
    return client
  }

  return {
    clientOf,
    isProxy: isTrusted,
    originOf(request) {
      if (networks.length === 0 || !isTrusted(peerOf(request))) return undefined
      const host = lastOf(request.headers.get('x-forwarded-host')) ?? request.headers.get('host')
      const scheme = lastOf(request.headers.get('x-forwarded-proto')) === 'https' ? 'https' : 'http'
      const origin = `${scheme}://${host}`
      return host && URL.canParse(origin) && new URL(origin).host === host.toLowerCase() ? origin : undefined
    },
    isLoopback(request) {
      const client = clientOf(request)
      // A client that an untrusted proxy on this machine forwards would otherwise count as loopback.
      const handedOn = request.headers.has('x-forwarded-for') || request.headers.has('forwarded')
      if (handedOn && client === peerOf(request)) return false
      return parseIpAddress(client)?.range() === 'loopback'
    },
  }
}

/** Whether a host needs no DNS lookup: an IP address, or `localhost`. */
export function isPlainHost(hostname: string): boolean {
  return hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/**
 * The key of per-address limits: an IPv4 address, or the /64 of an IPv6 address, which usually is one household or
 * host.
 */
export function toLimitKey(address: string): string {
  if (!address.includes(':')) return address
  const parsed = parseIpAddress(address)
  if (!parsed) return 'unknown'
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}

function peerOf(request: ServerRequest): string {
  return request.ip ?? 'unknown'
}

function parseIpNetwork(text: string): [Address, number] {
  const whole = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`
  if (!ipaddr.isValidCIDR(whole)) throw new TypeError(`\`${text}\` is not a network. Use the form 10.0.0.0/8.`)
  return ipaddr.parseCIDR(whole)
}

/** Parses an address. Converts an IPv4 address in IPv6 notation to IPv4. */
function parseIpAddress(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined
}

function isInNetwork(address: Address, [network, bits]: [Address, number]): boolean {
  if (address instanceof ipaddr.IPv6) return network instanceof ipaddr.IPv6 && address.match(network, bits)
  return network instanceof ipaddr.IPv4 && address.match(network, bits)
}

/** Some proxies write `address:port` or `[address]:port`. */
function stripPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(hop)
  if (bracketed) return bracketed[1]!
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop
}

function lastOf(list: string | null): string | undefined {
  return list?.split(',').at(-1)?.trim() || undefined
}
