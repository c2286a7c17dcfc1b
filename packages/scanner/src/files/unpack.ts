import { readErrorCode } from '@skillstead/protocol'
import { crc32, gunzipSync, inflateRawSync } from 'node:zlib'
import { ArchiveError, readZipDirectory, type ZipEntry } from '@skillstead/skill-format/archives'
import { forms } from './file-forms.ts'
import { NotInspected, readTarEntries, type UnpackedEntry } from './tar-entries.ts'

/** Limits of all archives of one skill together, so that a small archive cannot exhaust memory or time. */
export class UnpackBudget {
  #bytes = 16 * 1024 * 1024
  #entries = 2000

  get bytes(): number {
    return this.#bytes
  }

  /** Throws {@link NotInspected} if the limits leave no room for another entry of this size. */
  take(bytes: number): void {
    this.#bytes -= bytes
    this.#entries -= 1
    if (this.#bytes < 0 || this.#entries < 0)
      throw new NotInspected('The archives contain too many files or bytes to be inspected.')
  }
}

export interface Unpacked {
  readonly entries: readonly UnpackedEntry[]
  /** The bytes outside of uncompressed entries: headers, names, comments, and compressed data. */
  readonly rest: Uint8Array
  /** Why a part was not inspected, as a sentence. */
  readonly cut: string | undefined
}

/** Reads the entries of a zip by its central directory, after checking that all readers would see the same entries. */
export function unpackZip(bytes: Uint8Array, budget: UnpackBudget): Unpacked {
  return unpackEntries(bytes, function* () {
    const entries = readZipDirectory(bytes, { entriesMax: Infinity, hasGaps: false })
    for (const entry of entries.toSorted((a, b) => a.start - b.start)) {
      budget.take(entry.isEncrypted ? 0 : entry.size)
      if (entry.name.endsWith('/') && entry.size === 0) continue
      yield { name: entry.name, bytes: entry.isEncrypted ? undefined : readZipEntry(bytes, entry) }
    }
  })
}

/** Reads the content of a gzip: one file, or the entries of a tar. */
export function unpackGzip(path: string, bytes: Uint8Array, budget: UnpackBudget): Unpacked {
  return unpackEntries(bytes, function* () {
    const inner = inflateWithin(
      () => gunzipSync(bytes, { maxOutputLength: budget.bytes + 1, info: true }),
      bytes.length,
    )
    budget.take(inner.length)
    const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.t?gz$|\.gzip$|\.svgz$/i, '')
    yield { name, bytes: inner }
  })
}

/** Reads the files of a tar. */
export function unpackTar(bytes: Uint8Array, budget: UnpackBudget): Unpacked {
  return unpackEntries(bytes, function* () {
    for (const entry of readTarEntries(bytes)) {
      budget.take(0)
      yield entry
    }
  })
}

/** Formats of archives that a script may have behind its last line. */
const archives: ReadonlySet<string> = new Set(['gzip', 'xz', 'bzip2', 'zstd', '7z', 'rar'])

/** The content of an archive that begins after a line of another file, or why it was not inspected, as a sentence. */
interface Embedded {
  readonly inner?: readonly { readonly path: string; readonly bytes: Uint8Array }[]
  readonly cut?: string | undefined
}

/** Finds an archive that begins after a line of a text: a script that unpacks its own end. */
export function findEmbedded(path: string, bytes: Uint8Array, budget: UnpackBudget): Embedded {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  for (const { name, magic } of forms) {
    const at = archives.has(name) ? buffer.indexOf(`\n${magic[0]}`, 0, 'latin1') : -1
    if (at === -1) continue
    if (name !== 'gzip') return { cut: `It ends with a ${name} archive, which the scan cannot open.` }
    const { entries, cut } = unpackGzip(path, buffer.subarray(at + 1), budget)
    return {
      inner: entries.flatMap((entry) => (entry.bytes ? [{ path: `${path}!/data`, bytes: entry.bytes }] : [])),
      cut: cut === undefined ? undefined : `Not all of the archive at its end was inspected. ${cut}`,
    }
  }
  return {}
}

/** Runs a reader to its end or its first error. Entries that were read before the error are inspected too. */
function unpackEntries(archive: Uint8Array, read: () => Generator<UnpackedEntry>): Unpacked {
  const entries: UnpackedEntry[] = []
  try {
    for (const entry of read()) entries.push(entry)
    return { entries, rest: toRestOfArchive(archive, entries), cut: undefined }
  } catch (error) {
    if (error instanceof NotInspected || error instanceof ArchiveError)
      return { entries, rest: archive, cut: error.message }
    throw error
  }
}

/** Uncompressed entries are inspected as files, and left out of the archive's own bytes. */
function toRestOfArchive(archive: Uint8Array, entries: readonly UnpackedEntry[]): Uint8Array {
  const parts: Uint8Array[] = []
  let at = 0
  for (const { bytes } of entries) {
    const start = bytes?.buffer === archive.buffer ? bytes.byteOffset - archive.byteOffset : -1
    if (!bytes || start < at || start + bytes.length > archive.length) continue
    parts.push(archive.subarray(at, start))
    at = start + bytes.length
  }
  return Buffer.concat([...parts, archive.subarray(at)])
}

function readZipEntry(archive: Uint8Array, { name, method, dataStart, dataEnd, size, crc }: ZipEntry): Uint8Array {
  const data = archive.subarray(dataStart, dataEnd)
  if (method !== 0 && method !== 8)
    throw new NotInspected(`${name}: It is compressed with a method other than deflate.`)
  const bytes =
    method === 0
      ? data
      : inflateWithin(() => inflateRawSync(data, { maxOutputLength: size + 1, info: true }), data.length)
  if (bytes.length !== size || crc32(bytes) !== crc)
    throw new NotInspected(`${name}: Its size or checksum does not match the archive.`)
  return bytes
}

/** Runs a call of zlib with the option `info`, which returns how much of the input was read: all of it must be. */
function inflateWithin(run: () => unknown, inputBytes: number): Uint8Array {
  let result: { buffer: Buffer; engine: { bytesWritten: number } }
  try {
    result = run() as typeof result
  } catch (error) {
    const isLarge = readErrorCode(error) === 'ERR_BUFFER_TOO_LARGE'
    throw new NotInspected(
      isLarge ? 'The archives contain too many files or bytes to be inspected.' : 'The archive is damaged.',
    )
  }
  if (result.engine.bytesWritten !== inputBytes) throw new NotInspected('There are bytes after the compressed data.')
  return result.buffer
}
