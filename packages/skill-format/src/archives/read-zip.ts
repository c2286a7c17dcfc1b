import { readErrorCode } from '@skillstead/protocol'
import { crc32, inflateRaw } from 'node:zlib'
import { setImmediate } from 'node:timers/promises'
import { toArchiveError } from './archive-error.ts'
import type { ArchiveFile, ReadOptions } from './entry-options.ts'
import type { FileLimits } from './file-paths.ts'

/** Yields to the event loop after this many bytes. */
const turnBytes = 1024 * 1024

/**
 * Reads a zip by its central directory, after checking that it matches the local headers (APPNOTE 6.3.10).
 *
 * @throws {ArchiveError} for an archive that is invalid or too large.
 */
export async function readZip(bytes: Uint8Array, options: ReadOptions): Promise<ArchiveFile[]> {
  const { limits, problems } = options
  const entries = listFiles(readZipDirectory(bytes, limits), options)
  if (problems.length > 0) return []
  const total = entries.reduce((sum, { entry }) => sum + entry.size, 0)
  if (total > limits.versionBytesMax) {
    throw toArchiveError(`The files have ${total} bytes; ${limits.versionBytesMax} are allowed.`)
  }
  const files: ArchiveFile[] = []
  let turn = 0
  for (const { path, entry } of entries) {
    turn += entry.size
    if (turn > turnBytes) {
      turn = 0
      await setImmediate()
    }
    files.push({ path, bytes: await inflateZipEntry(bytes, path, entry) })
  }
  return files
}

function listFiles(entries: readonly ZipEntry[], { limits, keep, problems }: ReadOptions) {
  const files: { path: string; entry: ZipEntry }[] = []
  const paths = new Set<string>()
  for (const entry of entries) {
    const path = entry.name.endsWith('/') ? undefined : keep(entry.name)
    if (path === undefined) continue
    const message = findZipEntryProblem(entry, paths.has(path), limits.fileBytesMax)
    if (message) problems.push({ path, message })
    paths.add(path)
    files.push({ path, entry })
  }
  if (files.length > limits.filesMax) throw toArchiveError(`The archive has more than ${limits.filesMax} files.`)
  return files
}

function findZipEntryProblem(entry: ZipEntry, isDouble: boolean, fileBytesMax: number): string | undefined {
  if (entry.kind === 'link') return 'Links are not allowed.'
  if (entry.kind === 'other') return 'Only plain files are allowed.'
  if (entry.isEncrypted) return 'Encrypted files are not allowed.'
  if (entry.method !== 0 && entry.method !== 8) return 'The file is compressed by a method other than deflate.'
  if (isDouble) return 'The archive contains this path twice.'
  return entry.size > fileBytesMax ? `The file has ${entry.size} bytes; ${fileBytesMax} are allowed.` : undefined
}

async function inflateZipEntry(archive: Uint8Array, path: string, entry: ZipEntry): Promise<Uint8Array> {
  const data = archive.subarray(entry.dataStart, entry.dataEnd)
  // Copy stored files, so that they do not keep the whole archive in memory.
  const bytes = entry.method === 0 ? data.slice() : await inflateEntry(data, path, entry.size)
  if (bytes.length !== entry.size) throw toArchiveError('The file does not have its declared size.', path)
  if (crc32(bytes) !== entry.crc) throw toArchiveError('The checksum of the file is wrong.', path)
  return bytes
}

function inflateEntry(data: Uint8Array, path: string, size: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const refuse = (message: string): void => reject(toArchiveError(message, path))
    // The output stops one byte after the declared size, so a false size cannot exhaust memory.
    inflateRaw(data, { maxOutputLength: size + 1, info: true }, (error, result) => {
      const { buffer, engine } = (result ?? {}) as unknown as { buffer: Buffer; engine: { bytesWritten: number } }
      const isLarger = readErrorCode(error) === 'ERR_BUFFER_TOO_LARGE'
      if (isLarger) return refuse('The file does not have its declared size.')
      if (error) return refuse('The compressed file is damaged.')
      if (engine.bytesWritten !== data.length) return refuse('There are bytes between the compressed files.')
      resolve(buffer)
    })
  })
}

/** An entry of a zip whose local header matches the central directory. */
export interface ZipEntry {
  /** The name as stored; that of a folder ends with a slash. */
  readonly name: string
  readonly kind: 'file' | 'link' | 'other'
  readonly isEncrypted: boolean
  /** Compression method: 0 is stored, 8 is deflated. */
  readonly method: number
  readonly crc: number
  /** The size that the archive declares; must not be trusted before the bytes are read. */
  readonly size: number
  /** Offset of the entry's local header. */
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
  const end = findEndRecord(view)
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
    entries.push(readCentralEntry(view, at, start))
    at = next
  }
  if (at !== end) throw toDamaged()
  refuseOverlaps(entries)
  return entries
}

/** Finds the offset of the end record, which may only be followed by its comment. */
function findEndRecord(view: DataView): number {
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

function readCentralEntry(view: DataView, at: number, directoryStart: number): ZipEntry {
  const nameLength = view.getUint16(at + 28, true)
  const name = readEntryName(view, at + centralBytes, nameLength)
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
    readEntryName(view, start + localBytes, localNameLength) === name &&
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

function readEntryName(view: DataView, at: number, length: number): string {
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
