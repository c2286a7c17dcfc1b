import { crc32, deflateSync } from 'node:zlib'

/** A chunk of a PNG, with its length and checksum. Strings are Latin-1. */
export function pngChunk(type: string, data: Uint8Array | string): Buffer {
  const body = Buffer.concat([Buffer.from(type), Buffer.from(data as string, 'latin1')])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(body.length - 4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** A well-formed PNG of one pixel. */
export function png(...more: Buffer[]): Buffer {
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', '\0\0\0\x01\0\0\0\x01\x08\0\0\0\0'),
    ...more,
    pngChunk('IDAT', deflateSync(Buffer.of(0, 0))),
    pngChunk('IEND', ''),
  ])
}

/** A well-formed GIF of one pixel. */
export const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/** A JPEG of the necessary segments only. */
export const jpeg = Buffer.from('\xff\xd8\xff\xe0\0\x04ab\xff\xda\0\x04cd\x01\xff\0\x02\xff\xd9', 'latin1')
