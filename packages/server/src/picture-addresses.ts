import { apiBase } from './routes.ts'

const member = '"avatarUrl":"'
const ownPicture = Buffer.from(`${member}${apiBase}/users/`)

/**
 * Puts an address before the paths of users' pictures in JSON; an empty address changes nothing. The quotes of texts
 * inside JSON are escaped, so only members match.
 */
export function prefixPictures(json: Uint8Array, getAddress: () => string): Uint8Array {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  let found = bytes.indexOf(ownPicture)
  const address = found === -1 ? '' : getAddress()
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
