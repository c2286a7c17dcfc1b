import { inflateRawSync } from 'node:zlib'

export interface ZipEntry {
  readonly name: string
  /** What is packed, where it was read. */
  readonly bytes: Uint8Array | undefined
}

const entriesMax = 200
const entryBytesMax = 1024 * 1024
const archiveBytesMax = 4 * 1024 * 1024
const localHeader = 0x04034b50
const localHeaderBytes = 30
const stored = 0
const deflated = 8

/** The entries of a zip archive (PKWARE APPNOTE, 4.3.7), in order and within limits; what is left out is said in `cut`. */
export function readZip(bytes: Uint8Array): { entries: ZipEntry[]; isEncrypted: boolean; cut: string | undefined } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const entries: ZipEntry[] = []
  let isEncrypted = false
  let room = archiveBytesMax
  let cut: string | undefined
  let at = 0
  while (at + localHeaderBytes <= buffer.length && buffer.readUInt32LE(at) === localHeader) {
    if (entries.length === entriesMax || room <= 0) return { entries, isEncrypted, cut: 'The archive holds too much.' }
    const entry = readEntry(buffer, at)
    const unpacked = entry.isEncrypted ? undefined : unpack(entry, Math.min(entryBytesMax, room))
    if (unpacked === undefined && !entry.isEncrypted) cut = 'Something in the archive could not be unpacked.'
    isEncrypted ||= entry.isEncrypted
    room -= unpacked?.length ?? 0
    entries.push({ name: entry.name, bytes: unpacked })
    at = entry.end
  }
  return { entries, isEncrypted, cut }
}

function readEntry(buffer: Buffer, at: number) {
  const flags = buffer.readUInt16LE(at + 6)
  const nameEnd = at + localHeaderBytes + buffer.readUInt16LE(at + 26)
  const start = nameEnd + buffer.readUInt16LE(at + 28)
  // With bit 3 the size comes behind the data: then the next header tells where it ends.
  const isStreamed = (flags & 8) !== 0 && buffer.readUInt32LE(at + 18) === 0
  const next = buffer.indexOf('PK', start, 'latin1')
  const end = isStreamed ? findNextHeader(buffer, next) : start + buffer.readUInt32LE(at + 18)
  return {
    name: buffer.toString('utf8', at + localHeaderBytes, nameEnd),
    isEncrypted: (flags & 1) !== 0,
    method: buffer.readUInt16LE(at + 8),
    data: buffer.subarray(start, end),
    end: isStreamed ? end : Math.max(end, start),
  }
}

/** From one `PK` to the next that begins a header of an entry or of the directory. */
function findNextHeader(buffer: Buffer, from: number): number {
  for (let at = from; at !== -1 && at + 4 <= buffer.length; at = buffer.indexOf('PK', at + 2, 'latin1')) {
    const header = buffer.readUInt32LE(at)
    if (header === localHeader || header === 0x02014b50) return at
  }
  return buffer.length
}

function unpack({ method, data }: ReturnType<typeof readEntry>, bytesMax: number): Uint8Array | undefined {
  try {
    if (method === stored) return data.length <= bytesMax ? data : undefined
    return method === deflated ? inflateRawSync(data, { maxOutputLength: bytesMax }) : undefined
  } catch {
    return undefined
  }
}
