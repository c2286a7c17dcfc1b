import { toArchiveError } from './archive-error.ts'
import type { FileLimits } from './file-paths.ts'

/** An entry of a zip whose local header matches the central directory. */
export interface ZipEntry {
  /** As stored; the name of a folder ends with a slash. */
  readonly name: string
  readonly kind: 'file' | 'link' | 'other'
  readonly isEncrypted: boolean
  /** 0 stored, 8 deflated. */
  readonly method: number
  readonly crc: number
  /** As declared by the archive; must not be trusted before the bytes are read. */
  readonly size: number
  /** Offset of its local header. */
  readonly start: number
  readonly dataStart: number
  readonly dataEnd: number
}

/** Entries per allowed file: entries that are left out count too. */
const entriesPerFileMax = 8
const endBytes = 22
const centralBytes = 46
const localBytes = 30
const commentBytesMax = 0xffff

/**
 * Reads the central directory of a zip without reading any file. The archive must mean the same to every reader: it
 * must end with its end record, and no two entries may share bytes.
 *
 * @throws {ArchiveError} for an invalid or contradictory zip, too many entries, and zip64.
 */
export function readZipDirectory(bytes: Uint8Array, { filesMax }: FileLimits): ZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = findEnd(view)
  const { count, start } = readEnd(view, end)
  // Checked before any entry is read: an attacker could declare hundreds of thousands.
  if (count > filesMax * entriesPerFileMax) throw toArchiveError(`The archive has ${count} entries, which is too many.`)
  const entries: ZipEntry[] = []
  let at = start
  for (let index = 0; index < count; index += 1) {
    if (at + centralBytes > end || view.getUint32(at, true) !== 0x02014b50) throw toDamaged()
    const next =
      at + centralBytes + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
    if (next > end) throw toDamaged()
    entries.push(readEntry(view, at, start))
    at = next
  }
  if (at !== end) throw toDamaged()
  refuseOverlaps(entries)
  return entries
}

/** Finds the offset of the end record, which may only be followed by its comment. */
function findEnd(view: DataView): number {
  const last = view.byteLength - endBytes
  for (let at = last; at >= Math.max(0, last - commentBytesMax); at -= 1) {
    if (view.getUint32(at, true) !== 0x06054b50) continue
    if (at + endBytes + view.getUint16(at + 20, true) === view.byteLength) return at
    throw toArchiveError('There are bytes after the end of the zip archive.')
  }
  throw toArchiveError('The archive is truncated or not a zip.')
}

function readEnd(view: DataView, end: number): { count: number; start: number } {
  const [disk, startDisk] = [view.getUint16(end + 4, true), view.getUint16(end + 6, true)]
  const [diskCount, count] = [view.getUint16(end + 8, true), view.getUint16(end + 10, true)]
  const [size, start] = [view.getUint32(end + 12, true), view.getUint32(end + 16, true)]
  const hasLocator = end >= 20 && view.getUint32(end - 20, true) === 0x07064b50
  if (hasLocator || count === 0xffff || size === 0xffffffff || start === 0xffffffff) {
    throw toArchiveError('The archive is in zip64 format, which is not supported.')
  }
  if (disk !== 0 || startDisk !== 0 || diskCount !== count) throw toArchiveError('The archive is one of several parts.')
  if (start + size !== end) throw toDamaged()
  return { count, start }
}

function readEntry(view: DataView, at: number, directoryStart: number): ZipEntry {
  const nameLength = view.getUint16(at + 28, true)
  const name = readName(view, at + centralBytes, nameLength)
  const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)]
  const [crc, packedSize, size] = [
    view.getUint32(at + 16, true),
    view.getUint32(at + 20, true),
    view.getUint32(at + 24, true),
  ]
  const start = view.getUint32(at + 42, true)
  if ([packedSize, size, start].includes(0xffffffff))
    throw toArchiveError('Entries in zip64 format are not supported.', name)
  if (start + localBytes > directoryStart || view.getUint32(start, true) !== 0x04034b50) throw toDamaged(name)
  const localNameLength = view.getUint16(start + 26, true)
  const dataStart = start + localBytes + localNameLength + view.getUint16(start + 28, true)
  const dataEnd = dataStart + packedSize
  if (dataEnd > directoryStart) throw toDamaged(name)
  // With bit 3 of the flags the sizes are stored after the data; otherwise both headers must describe the same file.
  const isDeferred = (flags & 8) !== 0
  const isSame =
    localNameLength === nameLength &&
    readName(view, start + localBytes, localNameLength) === name &&
    view.getUint16(start + 8, true) === method &&
    (isDeferred || (view.getUint32(start + 18, true) === packedSize && view.getUint32(start + 22, true) === size))
  if (!isSame) throw toArchiveError('The two headers of the entry differ.', name)
  if (method === 0 && packedSize !== size) throw toArchiveError('The file does not have its declared size.', name)
  const isEncrypted = (flags & 0x2041) !== 0
  return { name, kind: readKind(view, at), isEncrypted, method, crc, size, start, dataStart, dataEnd }
}

/** On Unix, readers use the file mode in the high half of the attributes, whatever system the entry names. */
function readKind(view: DataView, at: number): ZipEntry['kind'] {
  const type = (view.getUint32(at + 38, true) >>> 28) & 0xf
  if (type === 0xa) return 'link'
  return type === 0 || type === 0x8 || type === 0x4 ? 'file' : 'other'
}

function readName(view: DataView, at: number, length: number): string {
  if (at + length > view.byteLength) throw toDamaged()
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      new Uint8Array(view.buffer, view.byteOffset + at, length),
    )
  } catch {
    throw toArchiveError('The name of an entry is not UTF-8.')
  }
}

/** Entries that share bytes let a small archive inflate to petabytes (D. Fifield, A better zip bomb, 2019). */
function refuseOverlaps(entries: readonly ZipEntry[]): void {
  const sorted = entries.toSorted((a, b) => a.start - b.start)
  for (const [index, entry] of sorted.entries()) {
    const next = sorted[index + 1]
    if (next && entry.dataEnd > next.start) throw toArchiveError('The entry overlaps another one.', next.name)
  }
}

function toDamaged(path = '') {
  return toArchiveError('The zip archive is damaged.', path)
}
