import { crc32, inflateSync } from 'node:zlib'

/** What an image or a font says in words: comments and other metadata. Undefined where it is not well-formed. */
type Reader = (buffer: Buffer) => string[] | undefined

/** How much text is taken from one compressed comment. */
const commentBytesMax = 64 * 1024

/** A form whose structure tells where it ends, so that nothing can follow it unseen. */
const readers: Readonly<Record<string, Reader>> = {
  png: readPng,
  jpeg: readJpeg,
  gif: readGif,
  webp: readRiff,
  ico: readIco,
  sfnt: readSfnt,
  woff: (buffer) => (buffer.length >= 44 && buffer.readUInt32BE(8) === buffer.length ? [] : undefined),
}

/** Whether the structure of a form is known here. */
export function hasReader(form: string): boolean {
  return form in readers
}

/** The metadata of a well-formed image or font as texts; undefined for one that is damaged or goes on after its end. */
export function readMetadata(form: string, bytes: Uint8Array): string[] | undefined {
  try {
    return readers[form]?.(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  } catch (error) {
    // Past the end of the buffer: it is cut off.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Chunks until IEND, each with its checksum (PNG, third edition, 5.3). */
function readPng(buffer: Buffer): string[] | undefined {
  const texts: string[] = []
  for (let at = 8; ;) {
    const length = buffer.readUInt32BE(at)
    const type = buffer.toString('latin1', at + 4, at + 8)
    const data = buffer.subarray(at + 8, at + 8 + length)
    if (
      !/^[A-Za-z]{4}$/.test(type) ||
      buffer.readUInt32BE(at + 8 + length) !== crc32(buffer.subarray(at + 4, at + 8 + length))
    )
      return undefined
    if (at === 8 && type !== 'IHDR') return undefined
    // Ancillary chunks begin with a small letter; the text of zTXt and iTXt may be compressed.
    if (/^[a-z]/.test(type) && type !== 'fdAT')
      texts.push(toWords(data), ...(/^[zi]TXt$/.test(type) ? [toWords(inflateComment(data))] : []))
    at += 12 + length
    if (type === 'IEND') return hasNothingFrom(buffer, at) ? texts : undefined
  }
}

/** The compressed text follows the keyword and some flags. */
function inflateComment(data: Buffer): Buffer {
  const start = data.indexOf('\x78', data.indexOf(0) + 1, 'latin1')
  if (start === -1) return Buffer.alloc(0)
  try {
    return inflateSync(data.subarray(start), { maxOutputLength: commentBytesMax })
  } catch {
    return Buffer.alloc(0)
  }
}

/** Segments, and scans of entropy-coded data, to the end of the image (ITU-T T.81, B.1). Cameras append more images. */
function readJpeg(buffer: Buffer): string[] | undefined {
  const texts: string[] = []
  for (let at = 2; ;) {
    if (buffer.readUInt8(at) !== 0xff) return undefined
    const marker = buffer.readUInt8(at + 1)
    at += 2
    if (marker === 0xff) at -= 1
    else if (marker === 0xd9) {
      const isFollowed = buffer.toString('latin1', at, at + 3) === '\xff\xd8\xff'
      if (!isFollowed) return hasNothingFrom(buffer, at) ? texts : undefined
      at += 2
    } else if (marker !== 0x01 && (marker < 0xd0 || marker > 0xd7)) {
      const length = buffer.readUInt16BE(at)
      const isText = marker === 0xfe || (marker >= 0xe0 && marker <= 0xef)
      if (isText) texts.push(toWords(buffer.subarray(at + 2, at + length)))
      at += length
      if (marker === 0xda) at = findMarker(buffer, at)
    }
  }
}

/** In entropy-coded data 0xFF is followed by 0, or by a marker of a restart. */
function findMarker(buffer: Buffer, from: number): number {
  for (let at = buffer.indexOf(0xff, from); at !== -1; at = buffer.indexOf(0xff, at + 2)) {
    const next = buffer.readUInt8(at + 1)
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at
  }
  return buffer.length
}

/** Blocks to the trailer (GIF89a, appendix B). */
function readGif(buffer: Buffer): string[] | undefined {
  const texts: string[] = []
  let at = 13 + toTableBytes(buffer.readUInt8(10))
  const readBlocks = (): Buffer => {
    const blocks: Buffer[] = []
    for (let size = buffer.readUInt8(at++); size > 0; size = buffer.readUInt8(at++)) {
      blocks.push(buffer.subarray(at, at + size))
      at += size
    }
    return Buffer.concat(blocks)
  }
  for (;;) {
    const kind = buffer.readUInt8(at++)
    if (kind === 0x3b) return hasNothingFrom(buffer, at) ? texts : undefined
    if (kind === 0x2c) {
      at += 9 + toTableBytes(buffer.readUInt8(at + 8)) + 1
      readBlocks()
    } else if (kind === 0x21) {
      at += 1
      texts.push(toWords(readBlocks()))
    } else return undefined
  }
}

/** The size of a table of colours. */
function toTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

function readRiff(buffer: Buffer): string[] | undefined {
  const end = 8 + buffer.readUInt32LE(4)
  if (end > buffer.length || !hasNothingFrom(buffer, end)) return undefined
  const texts: string[] = []
  let at = 12
  while (at < end) {
    const type = buffer.toString('latin1', at, at + 4)
    const length = buffer.readUInt32LE(at + 4)
    if (at + 8 + length > end) return undefined
    if (/^(?:EXIF|XMP )$/.test(type) || !/^(?:VP8[ LX]|ALPH|ANIM|ANMF|ICCP)$/.test(type))
      texts.push(toWords(buffer.subarray(at + 8, at + 8 + length)))
    at += 8 + length + (length % 2)
  }
  return texts
}

function readIco(buffer: Buffer): string[] | undefined {
  const count = buffer.readUInt16LE(4)
  let end = 6 + 16 * count
  for (let i = 0; i < count; i++) {
    end = Math.max(end, buffer.readUInt32LE(6 + 16 * i + 8) + buffer.readUInt32LE(6 + 16 * i + 12))
  }
  return count > 0 && end <= buffer.length && hasNothingFrom(buffer, end) ? [] : undefined
}

/** The directory of tables (OpenType, table directory), or of the fonts of a collection. */
function readSfnt(buffer: Buffer): string[] | undefined {
  const isCollection = buffer.toString('latin1', 0, 4) === 'ttcf'
  const fonts = isCollection
    ? Array.from({ length: Math.min(buffer.readUInt32BE(8), 256) }, (_, i) => buffer.readUInt32BE(12 + 4 * i))
    : [0]
  let end = 0
  for (const font of fonts) {
    const count = buffer.readUInt16BE(font + 4)
    if (count === 0) return undefined
    for (let i = 0; i < count; i++) {
      const record = font + 12 + 16 * i
      if (!/^[ -~]{4}$/.test(buffer.toString('latin1', record, record + 4))) return undefined
      end = Math.max(end, buffer.readUInt32BE(record + 8) + buffer.readUInt32BE(record + 12))
    }
  }
  return end <= buffer.length && hasNothingFrom(buffer, end) ? [] : undefined
}

/** Some programs pad what they write. */
function hasNothingFrom(buffer: Buffer, at: number): boolean {
  return (
    at <= buffer.length &&
    buffer.subarray(at).every((byte) => byte === 0 || byte === 0x20 || byte === 0x0a || byte === 0x0d)
  )
}

/** The runs of printable characters, which are what metadata says; the rest is numbers. XMP is padded with spaces. */
function toWords(bytes: Buffer): string {
  const runs = bytes.toString('utf8').match(/[\t\n\r\p{L}\p{N}\p{P}\p{S}\p{Zs}]{6,}/gu) ?? []
  return runs.join('\n').replace(/\s{3,}/g, '\n')
}
