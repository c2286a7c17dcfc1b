import { apiBase } from './routes.ts'

const member = '"avatarUrl":"'
const ownPicture = Buffer.from(`${member}${apiBase}/users/`)

/**
 * JSON with an address before the paths of users' pictures; unchanged for an empty one. Texts inside JSON have their
 * quotes escaped, so that only members match.
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
