import { apiBase } from '../context/options.ts'

/** The media type of JSON. */
export const jsonType = 'application/json; charset=utf-8'

const member = '"avatarUrl":"'
const ownPicture = `${member}${apiBase}/users/`

/**
 * Encodes JSON, and adds the node's address to the paths of users' pictures, because responses are built and cached
 * with paths. The quotes of texts inside JSON are escaped, so only members match. An empty address changes nothing.
 */
export function encodeJson(json: string, address: string): Buffer {
  if (address === '') return Buffer.from(json)
  return Buffer.from(json.replaceAll(ownPicture, () => toPicture(address)))
}

/** Splits JSON at the places of the node's address, into parts of which each character is one byte (Latin-1). */
export function splitAtAddress(json: string): string[] {
  return Buffer.from(json).toString('latin1').split(ownPicture)
}

/** The bytes that {@link encodeJson} gives, as Latin-1, from what {@link splitAtAddress} gave. */
export function joinWithAddress(parts: readonly string[], address: string): string {
  return parts.join(Buffer.from(toPicture(address)).toString('latin1'))
}

function toPicture(address: string): string {
  return `${member}${JSON.stringify(address).slice(1, -1)}${apiBase}/users/`
}
