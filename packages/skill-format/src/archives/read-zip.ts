import { readErrorCode } from '@skillstead/protocol'
import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { setImmediate } from 'node:timers/promises'
import { toArchiveError } from './archive-error.ts'
import {
  readLimits,
  toEntryPath,
  toTooManyBytes,
  toTooManyEntries,
  type ArchiveEntry,
  type ReadLimits,
  type ReadOptions,
} from './entry-options.ts'
import { isExecutableMode } from './executable.ts'
import { escapeBytes } from './file-paths.ts'
import { notUtf8 } from './select-files.ts'

/** Yields to the event loop after this many bytes. */
const turnBytes = 1024 * 1024

const again = 'Zip the folder again.'
const wrongSize = `The file does not have its declared size. ${again}`

/**
 * Reads a zip by its central directory, after checking that it matches the local headers (APPNOTE 6.3.10).
 *
 * @throws {ArchiveError} for an archive that is invalid or too large.
 */
export async function readZip(bytes: Uint8Array, options: ReadOptions): Promise<ArchiveEntry[]> {
  const { limits = readLimits, problems } = options
  const entries = listFiles(withModes(readZipDirectory(bytes, limits)), options)
  if (problems.length > 0 && !options.skipsProblems) return []
  if (entries.reduce((sum, { entry }) => sum + entry.size, 0) > limits.bytesMax) throw toTooManyBytes(limits)
  const files: ArchiveEntry[] = []
  let turn = 0
  for (const { path, entry } of entries) {
    turn += entry.size
    if (turn > turnBytes) {
      turn = 0
      await setImmediate()
    }
    files.push(await readZipEntry(bytes, path, entry))
  }
  return files
}

/**
 * If any entry has a mode, an entry without one is no program: `git archive` writes modes of programs and links only.
 */
function withModes(entries: readonly ZipEntry[]): readonly ZipEntry[] {
  if (entries.every(({ executable }) => executable === undefined)) return entries
  return entries.map((entry) => ({ ...entry, executable: entry.executable ?? false }))
}

function listFiles(entries: readonly ZipEntry[], { keep, problems, takesLinks }: ReadOptions) {
  const files: { path: string; entry: ZipEntry }[] = []
  const paths = new Set<string>()
  for (const entry of entries) {
    const isFolder = entry.name.endsWith('/')
    if (isFolder && entry.size === 0) continue
    const kept = keep(entry.isNameUtf8 ? entry.name : entry.name.replaceAll('\\', '_'))
    if (kept === undefined) continue
    const path = entry.isNameUtf8 ? kept : toEntryPath(entry.name)
    const isSpecial = entry.kind !== 'file' && takesLinks
    const file = isSpecial ? ({ ...entry, kind: 'file' } as const) : entry
    const message = findZipEntryProblem(file, paths.has(path))
    paths.add(path)
    if (message) problems.push({ path, message })
    else files.push({ path, entry })
  }
  return files
}

function findZipEntryProblem(entry: ZipEntry, isDouble: boolean): string | undefined {
  if (!entry.isNameUtf8) return notUtf8
  if (entry.name.endsWith('/')) return `The folder has content, as only a file may have. ${again}`
  if (entry.kind === 'link') return 'Links are not allowed.'
  if (entry.kind === 'other') return 'Only plain files are allowed.'
  if (entry.isEncrypted) return 'Encrypted files are not allowed. Zip the folder again without a password.'
  if (entry.method !== 0 && entry.method !== 8)
    return 'The file is compressed by a method other than deflate. Zip the folder again with deflate.'
  return isDouble ? 'The archive contains this path twice.' : undefined
}

/** The content of a link is its target; the content of a device is not read. */
async function readZipEntry(archive: Uint8Array, path: string, entry: ZipEntry): Promise<ArchiveEntry> {
  const empty = new Uint8Array()
  if (entry.kind === 'other') return { path, bytes: empty, kind: 'other' }
  const bytes = await inflateZipEntry(archive, path, entry)
  if (entry.kind === 'file') return { path, bytes, executable: entry.executable }
  return { path, bytes: empty, kind: 'link', target: isUtf8(bytes) ? Buffer.from(bytes).toString() : undefined }
}

async function inflateZipEntry(archive: Uint8Array, path: string, entry: ZipEntry): Promise<Uint8Array> {
  const data = archive.subarray(entry.dataStart, entry.dataEnd)
  // Copy stored files, so that they do not keep the whole archive in memory.
  const bytes = entry.method === 0 ? data.slice() : await inflateEntry(data, path, entry.size)
  if (bytes.length !== entry.size) throw toArchiveError(wrongSize, path)
  if (crc32(bytes) !== entry.crc) throw toArchiveError(`The checksum of the file is wrong. ${again}`, path)
  return bytes
}

function inflateEntry(data: Uint8Array, path: string, size: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const refuse = (message: string): void => reject(toArchiveError(message, path))
    // The output stops one byte after the declared size, so a false size cannot exhaust memory.
    inflateRaw(data, { maxOutputLength: size + 1, info: true }, (error, result) => {
      const { buffer, engine } = (result ?? {}) as unknown as { buffer: Buffer; engine: { bytesWritten: number } }
      const isLarger = readErrorCode(error) === 'ERR_BUFFER_TOO_LARGE'
      if (isLarger) return refuse(wrongSize)
      if (error) return refuse(`The compressed file is damaged. ${again}`)
      if (engine.bytesWritten !== data.length) return refuse(`There are bytes between the compressed files. ${again}`)
      resolve(buffer)
    })
  })
}

/** An entry of a zip whose local header matches the central directory. */
export interface ZipEntry {
  /** The name as stored; that of a folder ends with a slash. Escaped if it is not UTF-8. */
  readonly name: string
  readonly isNameUtf8: boolean
  readonly kind: 'file' | 'link' | 'other'
  /** Undefined for an entry without a Unix mode. */
  readonly executable: boolean | undefined
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

const endBytes = 22
const centralBytes = 46
const localBytes = 30
const commentBytesMax = 0xffff

interface DirectoryOptions extends Pick<ReadLimits, 'entriesMax'> {
  /** Whether there may be bytes between the entries that belong to no entry. Default: true. */
  readonly hasGaps?: boolean
}

/**
 * Reads the central directory of a zip without reading any file. The archive must mean the same to every reader: it
 * must end with its end record, list all of its entries, and no two entries may share bytes.
 *
 * @throws {ArchiveError} for an invalid or contradictory zip, and too many entries.
 */
export function readZipDirectory(bytes: Uint8Array, options: DirectoryOptions = readLimits): ZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { count, start, end } = readEnd(view, findEndRecord(view))
  // Checked before any entry is read: an attacker could declare hundreds of thousands of entries.
  if (count > options.entriesMax) throw toTooManyEntries(options)
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
  const sorted = entries.toSorted((a, b) => a.start - b.start)
  refuseOverlaps(sorted)
  refuseUnlisted(bytes, sorted, { directoryStart: start, ...options })
  return entries
}

/**
 * Finds the offset of the end record, which may only be followed by its comment. The comment may have the signature of
 * an end record, but no end record of a directory, because readers differ in which of two end records they take.
 */
function findEndRecord(view: DataView): number {
  const last = view.byteLength - endBytes
  let isCommented = false
  for (let at = last; at >= Math.max(0, last - commentBytesMax); at -= 1) {
    if (view.getUint32(at, true) !== 0x06054b50) continue
    if (at + endBytes + view.getUint16(at + 20, true) === view.byteLength) return at
    if (hasDirectory(view, at)) throw toArchiveError(bytesAfter)
    isCommented = true
  }
  throw toArchiveError(isCommented ? bytesAfter : `The archive is truncated or not a zip. ${again}`)
}

const bytesAfter = 'There are bytes after the end of the zip archive.'

/** Whether any reader would find a directory by an end record: an empty one, at its stated offset, or directly before. */
function hasDirectory(view: DataView, end: number): boolean {
  const [size, start] = [view.getUint32(end + 12, true), view.getUint32(end + 16, true)]
  const isAt = (at: number) => at >= 0 && at + 4 <= end && view.getUint32(at, true) === 0x02014b50
  return size === 0 || isAt(start) || isAt(end - size)
}

/** The values that mean "see the zip64 record" in fields of two and four bytes (APPNOTE 6.3.10, section 4.4.1.4). */
const [seeZip64Short, seeZip64] = [0xffff, 0xffffffff]
const locatorBytes = 20
const end64Bytes = 56

interface EndRecord {
  readonly count: number
  /** The offsets of the central directory and of what follows it. */
  readonly start: number
  readonly end: number
}

function readEnd(view: DataView, end: number): EndRecord {
  const [disk, startDisk] = [view.getUint16(end + 4, true), view.getUint16(end + 6, true)]
  const [diskCount, count] = [view.getUint16(end + 8, true), view.getUint16(end + 10, true)]
  const [size, start] = [view.getUint32(end + 12, true), view.getUint32(end + 16, true)]
  const locator = end - locatorBytes
  const found =
    locator >= 0 && view.getUint32(locator, true) === 0x07064b50
      ? readZip64End(view, locator)
      : { disk, startDisk, diskCount, count, size, start, end }
  // Readers without zip64 must see the same archive, or none.
  const isSame =
    [seeZip64Short, found.disk].includes(disk) &&
    [seeZip64Short, found.count].includes(count) &&
    [seeZip64, found.size].includes(size) &&
    [seeZip64, found.start].includes(start)
  if (!isSame || found.start + found.size !== found.end) throw toDamaged()
  if (found.disk !== 0 || found.startDisk !== 0 || found.diskCount !== found.count)
    throw toArchiveError('The archive is one of several parts. Zip the folder again as one file.')
  return found
}

/** The end record of zip64, which ends where its locator starts (sections 4.3.14 and 4.3.15). */
function readZip64End(view: DataView, locator: number) {
  const end = readSize(view, locator + 8)
  if (end + end64Bytes > locator || view.getUint32(end, true) !== 0x06064b50) throw toDamaged()
  if (end + 12 + readSize(view, end + 4) !== locator || view.getUint32(locator + 16, true) > 1) throw toDamaged()
  return {
    disk: view.getUint32(end + 16, true),
    startDisk: view.getUint32(end + 20, true),
    diskCount: readSize(view, end + 24),
    count: readSize(view, end + 32),
    size: readSize(view, end + 40),
    start: readSize(view, end + 48),
    end,
  }
}

/** A number of eight bytes; more than an archive can have becomes a number that no check accepts. */
function readSize(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true))
}

function readCentralEntry(view: DataView, at: number, directoryStart: number): ZipEntry {
  const nameLength = view.getUint16(at + 28, true)
  const extra = readExtra(view, at + centralBytes + nameLength, view.getUint16(at + 30, true))
  const { name, isNameUtf8 } = readEntryName(view, at + centralBytes, nameLength, extra)
  const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)]
  const crc = view.getUint32(at + 16, true)
  const written = [view.getUint32(at + 24, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true)]
  const [size, packedSize, start] = readZip64Fields(written, extra, name) as [number, number, number]
  if (start + localBytes > directoryStart || view.getUint32(start, true) !== 0x04034b50) throw toDamaged(name)
  const localNameLength = view.getUint16(start + 26, true)
  const dataStart = start + localBytes + localNameLength + view.getUint16(start + 28, true)
  const dataEnd = dataStart + packedSize
  if (dataEnd > directoryStart) throw toDamaged(name)
  const localExtra = readExtra(view, start + localBytes + localNameLength, view.getUint16(start + 28, true))
  const localSizes = [view.getUint32(start + 22, true), view.getUint32(start + 18, true)]
  // With bit 3 of the flags the sizes are stored after the data; otherwise both headers must describe the same file.
  const isDeferred = (flags & view.getUint16(start + 6, true) & 8) !== 0
  const isSame =
    localNameLength === nameLength &&
    readEntryName(view, start + localBytes, localNameLength, localExtra).name === name &&
    view.getUint16(start + 8, true) === method &&
    (isDeferred ||
      (view.getUint32(start + 14, true) === crc &&
        isDeepStrictEqual(readZip64Fields(localSizes, localExtra, name), [size, packedSize])))
  if (!isSame) throw toArchiveError('The two headers of the entry differ. Zip the folder again.', name)
  if (method === 0 && packedSize !== size) throw toArchiveError(wrongSize, name)
  const isEncrypted = (flags & 0x2041) !== 0
  const kinds = { kind: readKind(view, at), executable: readExecutable(view, at) }
  return { name, isNameUtf8, ...kinds, isEncrypted, method, crc, size, start, dataStart, dataEnd }
}

/** The extra fields of a header, by their id. */
type ExtraFields = ReadonlyMap<number, DataView>

const zip64Field = 0x0001
const unicodePathField = 0x7075

function readExtra(view: DataView, start: number, length: number): ExtraFields {
  const fields = new Map<number, DataView>()
  const end = start + length
  if (end > view.byteLength) throw toDamaged()
  for (let at = start; at + 4 <= end;) {
    const [id, bytes] = [view.getUint16(at, true), view.getUint16(at + 2, true)]
    if (at + 4 + bytes > end) break
    // Readers differ in which of two fields with one id they take.
    if (fields.has(id) && (id === zip64Field || id === unicodePathField)) throw toDamaged()
    fields.set(id, new DataView(view.buffer, view.byteOffset + at + 4, bytes))
    at += 4 + bytes
  }
  return fields
}

/** The numbers of a header; those that do not fit into four bytes are in the zip64 field, in this order. */
function readZip64Fields(written: readonly number[], extra: ExtraFields, name: string): number[] {
  let at = 0
  return written.map((number) => {
    if (number !== seeZip64) return number
    const field = extra.get(zip64Field)
    if (!field || at + 8 > field.byteLength) throw toDamaged(name)
    at += 8
    return readSize(field, at - 8)
  })
}

/** On Unix, readers use the file mode in the high half of the attributes, whatever system the entry names. */
function readKind(view: DataView, at: number): ZipEntry['kind'] {
  const type = (view.getUint32(at + 38, true) >>> 28) & 0xf
  if (type === 0xa) return 'link'
  return type === 0 || type === 0x8 || type === 0x4 ? 'file' : 'other'
}

/** Writers for Windows leave the Unix mode empty, which then says nothing. */
function readExecutable(view: DataView, at: number): boolean | undefined {
  const mode = view.getUint16(at + 40, true)
  return mode === 0 ? undefined : isExecutableMode(mode)
}

function readEntryName(view: DataView, at: number, length: number, extra: ExtraFields) {
  if (at + length > view.byteLength) throw toDamaged()
  const bytes = new Uint8Array(view.buffer, view.byteOffset + at, length)
  const name = decodeName(bytes)
  const unicode = readUnicodePath(extra.get(unicodePathField), bytes)
  // Readers differ in which of the two names they take.
  if (name !== undefined && unicode !== undefined && name !== unicode)
    throw toArchiveError(`The entry has a second name, '${unicode}'. Zip the folder again.`, name)
  const found = name ?? unicode
  return { name: found ?? escapeBytes(bytes), isNameUtf8: found !== undefined }
}

/** The UTF-8 name in a Unicode path field; undefined if the field is for another name (APPNOTE 6.3.10, 4.6.9). */
function readUnicodePath(field: DataView | undefined, name: Uint8Array): string | undefined {
  if (!field || field.byteLength < 5 || field.getUint8(0) !== 1 || field.getUint32(1, true) !== crc32(name))
    return undefined
  return decodeName(new Uint8Array(field.buffer, field.byteOffset + 5, field.byteLength - 5))
}

function decodeName(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? Buffer.from(bytes).toString() : undefined
}

/** Entries that share bytes let a small archive inflate to petabytes (D. Fifield, A better zip bomb, 2019). */
function refuseOverlaps(sorted: readonly ZipEntry[]): void {
  for (const [index, entry] of sorted.entries()) {
    const next = sorted[index + 1]
    if (next && entry.dataEnd > next.start) throw toArchiveError(`The entry overlaps another one. ${again}`, next.name)
  }
}

/** Programs that go from header to header would read an entry that the directory does not list. */
function refuseUnlisted(
  bytes: Uint8Array,
  sorted: readonly ZipEntry[],
  { directoryStart, hasGaps = true }: DirectoryOptions & { readonly directoryStart: number },
): void {
  let from = 0
  for (const { start, dataEnd } of [...sorted, { start: directoryStart, dataEnd: directoryStart }]) {
    const gap = Buffer.from(bytes.buffer, bytes.byteOffset + from, start - from)
    if (gap.includes(localSignature))
      throw toArchiveError(`The archive has an entry that its directory does not list. ${again}`)
    if (!hasGaps && from > 0 && !descriptorBytes.has(gap.length))
      throw toArchiveError(`There are bytes between the entries. ${again}`)
    from = dataEnd
  }
}

/**
 * Lengths of a data descriptor (signature, checksum and both sizes, in 32 or 64 bits) that may follow a streamed entry.
 */
const descriptorBytes: ReadonlySet<number> = new Set([0, 12, 16, 20, 24])
const localSignature = Buffer.from('PK\x03\x04')

function toDamaged(path = '') {
  return toArchiveError(`The zip archive is damaged. ${again}`, path)
}
