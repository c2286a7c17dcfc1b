import type { EncodedJson } from '@skillstead/core/internal'
import type { Addresses } from './addresses.ts'
import type { Call } from './call.ts'
import { isPlainHost } from './cross-origin.ts'
import { apiBase } from './routes.ts'

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
  // Clients of a node use few hosts, usually one: parsing it again costs as much as the rest of a cached response.
  let last = { host: null as string | null, origin: '' }
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

/** Encodes JSON with the node's address before the paths of users' pictures, because responses are cached with paths. */
export function encodeJson(json: string | EncodedJson, address: string): Uint8Array {
  if (typeof json === 'string') return Buffer.from(prefixPictures(json, address))
  const last = encoded.get(json)
  if (last?.address === address) return last.bytes
  const bytes = Buffer.from(prefixPictures(json.json, address))
  // A response that no cache holds is sent once: to remember it would only cost memory.
  if (json.isCached) encoded.set(json, { address, bytes })
  return bytes
}

/** By cached response, the bytes that were sent last. */
const encoded = new WeakMap<EncodedJson, { readonly address: string; readonly bytes: Uint8Array }>()

const member = '"avatarUrl":"'
const ownPicture = `${member}${apiBase}/users/`

/**
 * Puts an address before the paths of users' pictures in JSON; an empty address changes nothing. The quotes of texts
 * inside JSON are escaped, so only members match.
 */
function prefixPictures(json: string, address: string): string {
  if (address === '') return json
  const prefixed = `${member}${JSON.stringify(address).slice(1, -1)}${apiBase}/users/`
  return json.replaceAll(ownPicture, () => prefixed)
}
