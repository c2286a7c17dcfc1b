import { crc32, inflateRaw } from 'node:zlib'
import { setImmediate } from 'node:timers/promises'
import { toArchiveError } from './archive-error.ts'
import type { ArchiveFile, ReadOptions } from './read-archive.ts'
import { readZipDirectory, type ZipEntry } from './read-zip-directory.ts'

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
    files.push({ path, bytes: await readEntry(bytes, path, entry) })
  }
  return files
}

function listFiles(entries: readonly ZipEntry[], { limits, keep, problems }: ReadOptions) {
  const files: { path: string; entry: ZipEntry }[] = []
  const paths = new Set<string>()
  for (const entry of entries) {
    const path = entry.name.endsWith('/') ? undefined : keep(entry.name)
    if (path === undefined) continue
    const message = checkEntry(entry, paths.has(path), limits.fileBytesMax)
    if (message) problems.push({ path, message })
    paths.add(path)
    files.push({ path, entry })
  }
  if (files.length > limits.filesMax) throw toArchiveError(`The archive has more than ${limits.filesMax} files.`)
  return files
}

function checkEntry(entry: ZipEntry, isDouble: boolean, fileBytesMax: number): string | undefined {
  if (entry.kind === 'link') return 'Links are not allowed.'
  if (entry.kind === 'other') return 'Only plain files are allowed.'
  if (entry.isEncrypted) return 'Encrypted files are not allowed.'
  if (entry.method !== 0 && entry.method !== 8) return 'The file is compressed by a method other than deflate.'
  if (isDouble) return 'The archive contains this path twice.'
  return entry.size > fileBytesMax ? `The file has ${entry.size} bytes; ${fileBytesMax} are allowed.` : undefined
}

async function readEntry(archive: Uint8Array, path: string, entry: ZipEntry): Promise<Uint8Array> {
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
      const isLarger = (error as NodeJS.ErrnoException | null)?.code === 'ERR_BUFFER_TOO_LARGE'
      if (isLarger) return refuse('The file does not have its declared size.')
      if (error) return refuse('The compressed file is damaged.')
      if (engine.bytesWritten !== data.length) return refuse('There are bytes between the compressed files.')
      resolve(buffer)
    })
  })
}
