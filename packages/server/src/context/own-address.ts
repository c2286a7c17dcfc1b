import { isPlainHost, type Addresses } from './addresses.ts'
import type { Call } from './call.ts'

/** The URL of a node for links in its responses, without a trailing slash; empty if unknown. */
export type AddressOf = (call: Call) => string

/**
 * Returns the URL that the operator configured, that a trusted proxy reports, or that the caller used if it is an IP
 * address or `localhost`. Other host names are not trusted, and the socket's own address must not be disclosed. Without
 * a URL the links are paths, which cannot point to another host.
 */
export function createAddressOf(publicUrl: string | undefined, addresses: Addresses): AddressOf {
  const configured = publicUrl?.replace(/\/+$/, '')
  if (configured !== undefined) return () => configured
  // The last host is cached: clients of a node use few hosts, usually one, and parsing a host costs as much as the rest
  // of a cached response.
  let last: { host: string | null; origin: string } = { host: null, origin: '' }
  return (call) => {
    const told = addresses.originOf(call.request)
    if (told !== undefined) return told
    const host = call.header('host')
    if (host !== last.host) last = { host, origin: toPlainOrigin(host) }
    return last.origin
  }
}

function toPlainOrigin(host: string | null): string {
  const origin = URL.parse(`http://${host}`)
  return origin !== null && isPlainHost(origin.hostname) ? origin.origin : ''
}
