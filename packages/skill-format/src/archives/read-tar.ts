import { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { createGunzip } from 'node:zlib'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { ArchiveError, toArchiveError } from './archive-error.ts'
import type { ArchiveFile, ReadOptions } from './read-archive.ts'

/** Entries that are left out count too, so there may be some more of them than files. */
const entriesPerFileMax = 8
/** Headers, padding and what is left out come on top of the files. */
const inflatedSlackBytes = 16 * 1024 * 1024

/**
 * Reads a gzipped tar as it is inflated, and stops at the first bound that is passed.
 *
 * @throws {ArchiveError} for what is no such archive or too large.
 */
export async function readTar(bytes: Uint8Array, options: ReadOptions): Promise<ArchiveFile[]> {
  const { limits } = options
  const inflated = inflate(bytes, limits.versionBytesMax + inflatedSlackBytes)
  // The types of the web's streams and of Node's differ, the streams do not.
  const source = NodeReadableStream.from(inflated) as unknown as ReadableStream<Uint8Array<ArrayBuffer>>
  const tar = source.pipeThrough(createTarDecoder({ strict: true }))
  const files: ArchiveFile[] = []
  const paths = new Set<string>()
  let [entries, total] = [0, 0]
  try {
    for await (const entry of tar) {
      entries += 1
      if (entries > limits.filesMax * entriesPerFileMax) throw toArchiveError('The archive has too many entries.')
      const path = readPath(entry, paths, options)
      if (path === undefined) {
        await entry.body.cancel()
        continue
      }
      total += entry.header.size
      if (total > limits.versionBytesMax)
        throw toArchiveError(`The files have more than ${limits.versionBytesMax} bytes.`)
      files.push({ path, bytes: await readBody(entry) })
      if (files.length > limits.filesMax) throw toArchiveError(`The archive has more than ${limits.filesMax} files.`)
    }
  } catch (error) {
    throw error instanceof ArchiveError ? error : toArchiveError('The archive is damaged or no gzipped tar.')
  }
  return files
}

/** Never holds more than a chunk beyond the bound, however much a few bytes would inflate to. */
async function* inflate(bytes: Uint8Array, bytesMax: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const gunzip = createGunzip({ chunkSize: 64 * 1024 })
  gunzip.end(bytes)
  let total = 0
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer<ArrayBuffer>>) {
      total += chunk.length
      if (total > bytesMax) throw toArchiveError(`The archive inflates to more than ${bytesMax} bytes.`)
      yield chunk
    }
  } finally {
    gunzip.destroy()
  }
}

/** The path of a file that counts, or undefined for one that does not; notes what may not be in an archive. */
function readPath({ header }: ParsedTarEntry, paths: Set<string>, { keep, problems }: ReadOptions): string | undefined {
  const path = header.type === 'directory' ? undefined : keep(header.name)
  if (path === undefined) return undefined
  const refuse = (message: string): undefined => void problems.push({ path, message })
  if (header.type === 'symlink' || header.type === 'link') return refuse('Links are not allowed.')
  if (header.type !== 'file') return refuse('Only plain files are allowed.')
  const isSparse = Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse'))
  if (isSparse) return refuse('Sparse files are not allowed.')
  if (paths.has(path)) return refuse('The archive holds this path twice.')
  paths.add(path)
  return path
}

async function readBody({ header, body }: ParsedTarEntry): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  if (bytes.length !== header.size) throw toArchiveError('The file is cut off.', header.name)
  return bytes
}
