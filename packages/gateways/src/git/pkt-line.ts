/** Framing of git's wire protocol (gitprotocol-common): four hex digits with the length, then the content. */

/** A malformed or unacceptable request of git. The client gets the message. */
export class GitError extends Error {
  override readonly name = 'GitError'
}

/** One packet of a request. `end` is returned after the last packet. */
export type Packet =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'flush' | 'delimiter' | 'responseEnd' | 'end' }

/** Maximum size of a packet, including its length field. */
const packetBytesMax = 65_520
const lengthBytes = 4
/** Maximum size of the content of a `side-band-64k` packet: without its length field and its band number. */
export const bandBytesMax = packetBytesMax - lengthBytes - 1

const markers = ['flush', 'delimiter', 'responseEnd'] as const

/** Reads the packets of a complete request. Throws {@link GitError} for a malformed packet. */
export function createPacketReader(bytes: Uint8Array): { read(): Packet } {
  const input = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  return {
    read() {
      if (at === input.length) return { type: 'end' }
      const digits = input.toString('latin1', at, at + lengthBytes)
      if (!/^[0-9a-f]{4}$/i.test(digits)) throw new GitError('The request has a packet without a length in hex digits.')
      const length = Number.parseInt(digits, 16)
      at += lengthBytes
      const marker = markers[length]
      if (marker) return { type: marker }
      if (length < lengthBytes || length > packetBytesMax) {
        throw new GitError(`The request has a packet with the invalid length ${digits}.`)
      }
      const end = at + length - lengthBytes
      if (end > input.length) throw new GitError('The request ends within a packet.')
      const text = input.toString('utf8', at, end)
      at = end
      return { type: 'line', text: text.endsWith('\n') ? text.slice(0, -1) : text }
    },
  }
}

/** A packet with a line of text. */
export function toPacket(text: string): Buffer {
  const content = Buffer.from(text)
  return Buffer.concat([toPacketLength(content.length), content])
}

/** A packet with an error, which git prints as `remote error: <message>`. */
export function toErrorPacket(message: string): Buffer {
  return toPacket(`ERR ${message}\n`)
}

export const flushPacket: Buffer = Buffer.from('0000')
export const delimiterPacket: Buffer = Buffer.from('0001')

/** A packet of a band of `side-band-64k`: band 1 has the pack, 2 progress, 3 the error that ends the response. */
export function toBandPacket(band: 1 | 2 | 3, parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 1)
  return Buffer.concat([toPacketLength(length), Buffer.of(band), ...parts])
}

function toPacketLength(contentBytes: number): Buffer {
  return Buffer.from((contentBytes + lengthBytes).toString(16).padStart(lengthBytes, '0'))
}
