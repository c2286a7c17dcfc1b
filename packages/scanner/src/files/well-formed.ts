import { readErrorCode } from '@skillstead/protocol'
import { crc32, inflateSync } from 'node:zlib'
import { NotInspected } from './tar-entries.ts'
import type { UnpackBudget } from './unpack.ts'

/** The compressed or split metadata of an image. Undefined if the image or font is not well-formed. */
type Reader = (buffer: Buffer, budget: UnpackBudget) => Buffer[] | undefined

/** Formats whose structure defines their end, so that no data can follow unnoticed. */
const readers: Readonly<Record<string, Reader>> = {
  png: readPng,
  jpeg: readJpeg,
  gif: readGif,
  webp: readRiff,
  ico: readIco,
  sfnt: readSfnt,
  woff: readWoff,
}

/** Whether the structure of a format is known here. */
export function hasReader(form: string): boolean {
  return form in readers
}

/**
 * Reads the metadata of a well-formed image that its bytes do not show, because it is compressed or split. Undefined if
 * the image or font is damaged, has data after its end, or its metadata expands to too much data.
 */
export function readMetadata(form: string, bytes: Uint8Array, budget: UnpackBudget): Buffer[] | undefined {
  try {
    return readers[form]?.(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), budget)
  } catch (error) {
    // Expected errors: reading past the end of a truncated buffer, and errors of zlib, which have a code too.
    const isExpected = error instanceof NotInspected || readErrorCode(error) !== undefined
    if (isExpected) return undefined
    throw error
  }
}

/** Reads chunks until IEND, each with its checksum (PNG, third edition, 5.3). */
function readPng(buffer: Buffer, budget: UnpackBudget): Buffer[] | undefined {
  const texts: Buffer[] = []
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
    const start = findCompressed(type, data)
    if (start !== undefined) {
      const text = inflateSync(data.subarray(start), { maxOutputLength: budget.bytes + 1 })
      budget.take(text.length)
      texts.push(text)
    }
    at += 12 + length
    if (type === 'IEND') return hasNothingFrom(buffer, at) ? texts : undefined
  }
}

/** Start of the compressed part of a chunk: after a keyword and, in iTXt, two flags and two more strings. */
function findCompressed(type: string, data: Buffer): number | undefined {
  const end = data.indexOf(0)
  if (type === 'zTXt' || type === 'iCCP') return end + 2
  if (type !== 'iTXt' || data[end + 1] !== 1) return undefined
  return data.indexOf(0, data.indexOf(0, end + 3) + 1) + 1
}

/** Segments and entropy-coded data up to the end (ITU-T T.81, B.1). Reads images that a camera appended, too. */
function readJpeg(buffer: Buffer): Buffer[] | undefined {
  for (let at = 2; ;) {
    if (buffer.readUInt8(at) !== 0xff) return undefined
    const marker = buffer.readUInt8(at + 1)
    at += 2
    if (marker === 0xff) at -= 1
    else if (marker === 0xd9) {
      const isFollowed = buffer.toString('latin1', at, at + 3) === '\xff\xd8\xff'
      if (!isFollowed) return hasNothingFrom(buffer, at) ? [] : undefined
      at += 2
    } else if (marker !== 0x01 && (marker < 0xd0 || marker > 0xd7)) {
      at += buffer.readUInt16BE(at)
      if (marker === 0xda) at = findMarker(buffer, at)
    }
  }
}

/** In entropy-coded data 0xFF is followed by 0 or by a restart marker. */
function findMarker(buffer: Buffer, from: number): number {
  for (let at = buffer.indexOf(0xff, from); at !== -1; at = buffer.indexOf(0xff, at + 2)) {
    const next = buffer.readUInt8(at + 1)
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at
  }
  return buffer.length
}

/** Reads blocks up to the trailer (GIF89a, appendix B). */
function readGif(buffer: Buffer): Buffer[] | undefined {
  const texts: Buffer[] = []
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
      texts.push(readBlocks())
    } else return undefined
  }
}

function toTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

function readRiff(buffer: Buffer): Buffer[] | undefined {
  const end = 8 + buffer.readUInt32LE(4)
  if (end > buffer.length || !hasNothingFrom(buffer, end)) return undefined
  for (let at = 12; at < end;) {
    const length = buffer.readUInt32LE(at + 4)
    if (at + 8 + length > end) return undefined
    at += 8 + length + (length % 2)
  }
  return []
}

/** Checks that no data follows the images in an icon's directory. */
function readIco(buffer: Buffer): Buffer[] | undefined {
  const count = buffer.readUInt16LE(4)
  const ends = Array.from({ length: count }, (_, i) => {
    const [size, start] = [buffer.readUInt32LE(6 + 16 * i + 8), buffer.readUInt32LE(6 + 16 * i + 12)]
    return start + size
  })
  return count > 0 && hasNothingFrom(buffer, Math.max(...ends)) ? [] : undefined
}

/** Checks that no data follows the tables of a font, or of the fonts of a collection (OpenType, table directory). */
function readSfnt(buffer: Buffer): Buffer[] | undefined {
  const isCollection = buffer.toString('latin1', 0, 4) === 'ttcf'
  const fonts = isCollection
    ? Array.from({ length: Math.min(buffer.readUInt32BE(8), 256) }, (_, i) => buffer.readUInt32BE(12 + 4 * i))
    : [0]
  let end = 0
  for (const font of fonts) {
    const count = buffer.readUInt16BE(font + 4)
    if (count === 0) return undefined
    for (let record = font + 12; record < font + 12 + 16 * count; record += 16) {
      if (!/^[ -~]{4}$/.test(buffer.toString('latin1', record, record + 4))) return undefined
      end = Math.max(end, buffer.readUInt32BE(record + 8) + buffer.readUInt32BE(record + 12))
    }
  }
  return hasNothingFrom(buffer, end) ? [] : undefined
}

/** Checks that the header states the size of the file (WOFF 1.0, 4; WOFF 2.0, 4.1). */
function readWoff(buffer: Buffer): Buffer[] | undefined {
  const headerBytes = buffer.toString('latin1', 0, 4) === 'wOFF' ? 44 : 48
  return buffer.length >= headerBytes && buffer.readUInt32BE(8) === buffer.length ? [] : undefined
}

/** Whether only padding follows an offset: some programs write it at the end of a file. */
function hasNothingFrom(buffer: Buffer, at: number): boolean {
  return (
    at <= buffer.length &&
    buffer.subarray(at).every((byte) => byte === 0 || byte === 0x20 || byte === 0x0a || byte === 0x0d)
  )
}
