import { posix } from 'node:path'
import { createGunzip } from 'node:zlib'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { ArchiveError, toArchiveError } from './archive-error.ts'
import {
  readLimits,
  toEntryPath,
  toTooManyBytes,
  toTooManyEntries,
  type ArchiveEntry,
  type ReadOptions,
} from './entry-options.ts'
import { isExecutableMode } from './executable.ts'
import { isEscape, notUtf8 } from './select-files.ts'

/** Maximum inflated bytes in addition to the files: headers, padding and entries that are left out. */
const inflatedSlackBytes = 16 * 1024 * 1024

/**
 * Reads a gzipped tar while inflating it, and stops at the first limit that is exceeded.
 *
 * @throws {ArchiveError} for an archive that is invalid or too large.
 */
export async function readTar(bytes: Uint8Array, options: ReadOptions): Promise<ArchiveEntry[]> {
  const { limits = readLimits } = options
  const inflated = inflateLimited(bytes, limits.bytesMax + inflatedSlackBytes)
  // Loaded on use: loading this module takes longer than scanning most skills.
  const { ReadableStream: NodeReadableStream } = await import('node:stream/web')
  // Only the types of web streams and Node.js streams differ; at run time the streams are compatible.
  const source = NodeReadableStream.from(inflated) as unknown as ReadableStream<Uint8Array<ArrayBuffer>>
  const tar = source.pipeThrough(createTarDecoder({ strict: true }))
  const files: ArchiveEntry[] = []
  const paths = new Set<string>()
  let [entries, total] = [0, 0]
  try {
    for await (const entry of tar) {
      entries += 1
      if (entries > limits.entriesMax) throw toTooManyEntries(limits)
      const path = toTarPath(entry, paths, options)
      if (path === undefined) {
        await entry.body.cancel()
        continue
      }
      const special = options.takesLinks ? toSpecialEntry(entry, path) : undefined
      if (special) {
        files.push(special)
        await entry.body.cancel()
        continue
      }
      total += entry.header.size
      if (total > limits.bytesMax) throw toTooManyBytes(limits)
      files.push({ path, bytes: await readTarBody(entry), executable: isExecutableMode(entry.header.mode ?? 0) })
    }
  } catch (error) {
    throw error instanceof ArchiveError
      ? error
      : toArchiveError('The archive is damaged or not a gzipped tar. Pack the folder again with `tar czf`.')
  }
  return files
}

/** Inflates at most one chunk beyond the limit, however large the result would be. */
async function* inflateLimited(bytes: Uint8Array, bytesMax: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const gunzip = createGunzip({ chunkSize: 64 * 1024 })
  gunzip.end(bytes)
  let total = 0
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer<ArrayBuffer>>) {
      total += chunk.length
      if (total > bytesMax) throw toTooManyBytes({ bytesMax })
      yield chunk
    }
  } finally {
    gunzip.destroy()
  }
}

/** The path of an entry to read. Undefined for an entry that is left out, or is not allowed, which adds a problem. */
function toTarPath(
  { header }: ParsedTarEntry,
  paths: Set<string>,
  { keep, problems, takesLinks }: ReadOptions,
): string | undefined {
  const path = header.type === 'directory' ? undefined : keep(header.name)
  if (path === undefined) return undefined
  const refuse = (message: string): undefined => void problems.push({ path, message })
  const isLink = header.type === 'symlink' || header.type === 'link'
  if (isLink && !takesLinks) return refuse('Links are not allowed.')
  if (header.type !== 'file' && !takesLinks) return refuse('Only plain files are allowed.')
  const isSparse = Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse'))
  if (isSparse) return refuse('Sparse files are not allowed. Pack without `--sparse`.')
  // modern-tar decodes names, so that their bytes cannot be shown as those of folders and zips are.
  if (path.includes('\uFFFD')) return refuse(notUtf8)
  if (paths.has(path)) return refuse('The archive contains this path twice.')
  paths.add(path)
  return path
}

/** A link or device, which has no content; undefined for files. */
function toSpecialEntry({ header }: ParsedTarEntry, path: string): ArchiveEntry | undefined {
  const bytes = new Uint8Array()
  if (header.type === 'file') return undefined
  if (header.type === 'symlink') return { path, bytes, kind: 'link', target: header.linkname }
  if (header.type !== 'link') return { path, bytes, kind: 'other' }
  // A hard link names a path of the archive.
  const target = toEntryPath(header.linkname ?? '')
  const way = posix.relative(posix.dirname(path), target)
  return { path, bytes, kind: 'link', target: isEscape(target) ? undefined : way }
}

async function readTarBody({ header, body }: ParsedTarEntry): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  if (bytes.length !== header.size) throw toArchiveError('The file is cut off. Pack the folder again.', header.name)
  return bytes
}
