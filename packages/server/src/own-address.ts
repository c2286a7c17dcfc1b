import type { Addresses } from './addresses.ts'
import type { Call } from './call.ts'
import { isPlainHost } from './cross-origin.ts'
import { prefixPictures } from './picture-addresses.ts'

/** The address of a node for links in its answers, without a slash at its end; empty where none is known. */
export type AddressOf = (call: Call) => string

/**
 * Gives the address that the operator configured, a trusted proxy reports, or the caller asked for by an address or
 * `localhost`. A host name may be anything, and the socket's own address is no one's to know; without one of these links
 * are paths, which name no other place.
 */
export function createAddressOf(publicUrl: string | undefined, addresses: Addresses): AddressOf {
  const configured = publicUrl?.replace(/\/+$/, '')
  if (configured !== undefined) return () => configured
  return (call) => addresses.originOf(call.request) ?? toPlainOrigin(call.header('host'))
}

function toPlainOrigin(host: string | null): string {
  const origin = URL.parse(`http://${host}`)
  return origin !== null && isPlainHost(origin.hostname) ? origin.origin : ''
}

/** JSON with the node's address before the paths of users' pictures: answers are cached with paths. */
export function withAddress(json: Uint8Array, call: Call, addressOf: AddressOf): Uint8Array {
  return prefixPictures(json, () => addressOf(call))
}
