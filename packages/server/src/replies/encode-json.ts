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
  const prefixed = `${member}${JSON.stringify(address).slice(1, -1)}${apiBase}/users/`
  return Buffer.from(json.replaceAll(ownPicture, () => prefixed))
}
