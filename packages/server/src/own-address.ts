import type { Addresses } from './addresses.ts'
import type { Call } from './call.ts'
import { isPlainHost } from './cross-origin.ts'
import { apiBase } from './routes.ts'

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

const member = '"avatarUrl":"'
const ownPicture = Buffer.from(`${member}${apiBase}/users/`)

/**
 * JSON with the node's address before the paths of users' pictures. Answers are cached with paths, since an address is
 * known per request. Texts inside JSON have their quotes escaped, so that only members match.
 */
export function withAddress(json: Uint8Array, call: Call, addressOf: AddressOf): Uint8Array {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  let found = bytes.indexOf(ownPicture)
  const address = found === -1 ? '' : addressOf(call)
  if (address === '') return json
  const prefix = Buffer.from(JSON.stringify(address).slice(1, -1))
  const parts: Uint8Array[] = []
  let from = 0
  while (found !== -1) {
    const to = found + member.length
    parts.push(bytes.subarray(from, to), prefix)
    from = to
    found = bytes.indexOf(ownPicture, from)
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}
