import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { RegistryError, limits, readErrorCode } from '@skillstead/protocol'
import {
  blobFolder,
  bundleLimits,
  damagedBundle,
  headerName,
  logFolder,
  noBundle,
  parseBundleHeader,
  signatureName,
  type BundleHeader,
} from './format.ts'
import { readBundleTar, type TarFile } from './tar.ts'
import { findFrameEnd, openDecompressor } from './zstd.ts'

/** One part of a bundle. The parts come in this order: the header, then the parts of the log, then the blobs. */
export type BundlePart =
  | { readonly kind: 'header'; readonly header: BundleHeader; readonly text: string; readonly signature: string }
  /** Entries as canonical JSON; `first` is the number of the first entry. */
  | { readonly kind: 'log'; readonly first: number; readonly entries: readonly string[] }
  /** A blob, whose bytes have not been compared with the digest yet. */
  | { readonly kind: 'blob'; readonly digest: string; readonly bytes: Buffer }

/**
 * Reads a bundle once from start to end, with one part in memory. Checks the order and size of the parts, the number of
 * entries, and that the file is complete; the caller checks the content of the parts. Throws `invalid_request`.
 */
export async function* readBundle(file: string): AsyncGenerator<BundlePart> {
  const place: Place = { stage: 'header' }
  const tar = readBundleTar(unpackBundle(file), (name) => toBytesMax(place, name))
  const { header, text } = readBundleHeader(await readNextFile(tar))
  place.stage = 'signature'
  yield { kind: 'header', header, text, signature: decodeBundleText(await readNextFile(tar)) }
  place.stage = 'parts'
  place.next = header.since + 1
  let blobs = 0
  for await (const { name, bytes } of tar) {
    if (name.startsWith(logFolder)) {
      const entries = splitBundleLines(name, bytes)
      const first = place.next
      place.next += entries.length
      if (place.next > header.until + 1) throw damagedBundle('it has more entries than its header states')
      yield { kind: 'log', first, entries }
    } else {
      if (place.next <= header.until) throw damagedBundle(`its log ends at entry ${place.next - 1} of ${header.until}`)
      place.hasBlobs = true
      blobs += 1
      if (blobs > header.counts.blobs) throw damagedBundle('it has more content than its header states')
      yield { kind: 'blob', digest: `sha256:${name.slice(blobFolder.length)}`, bytes }
    }
  }
  if (place.next <= header.until) throw damagedBundle(`its log ends at entry ${place.next - 1} of ${header.until}`)
  if (blobs < header.counts.blobs) throw damagedBundle(`it has ${blobs} of ${header.counts.blobs} blobs`)
}

/** The header of a bundle, unverified. */
export interface InspectedBundle {
  readonly file: string
  /** Size of the file in bytes. */
  readonly size: number
  readonly header: BundleHeader
}

/** Reads the header at the beginning of a bundle, and nothing after it. Throws `not_found` and `invalid_request`. */
export async function inspectBundle(file: string): Promise<InspectedBundle> {
  const parts = readBundle(file)
  try {
    const { value } = await parts.next()
    if (value?.kind !== 'header') throw damagedBundle('it ends early')
    return { file, size: (await stat(file)).size, header: value.header }
  } finally {
    await parts.return(undefined)
  }
}

/** How far a bundle was read, which decides which part may come next. */
interface Place {
  stage: 'header' | 'signature' | 'parts'
  /** Number of the next entry. */
  next?: number
  hasBlobs?: boolean
}

function toBytesMax({ stage, next: seq, hasBlobs }: Place, name: string): number | undefined {
  if (stage === 'header') {
    if (name !== headerName) throw noBundle(`it does not start with ${headerName}`)
    return bundleLimits.headerBytesMax
  }
  if (stage === 'signature') return name === signatureName ? bundleLimits.signatureBytesMax : undefined
  if (name === `${logFolder}${seq}.ndjson`) return hasBlobs ? undefined : bundleLimits.logPartBytesMax
  return /^blobs\/[0-9a-f]{64}$/.test(name) ? bundleLimits.blobBytesMax : undefined
}

async function readNextFile(tar: AsyncGenerator<TarFile>): Promise<TarFile> {
  const { value, done } = await tar.next()
  if (done) throw damagedBundle('it ends early')
  return value
}

function readBundleHeader({ bytes }: TarFile): { header: BundleHeader; text: string } {
  const text = decodeBundleText({ name: headerName, bytes })
  return { header: parseBundleHeader(text), text }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeBundleText({ name, bytes }: TarFile): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw damagedBundle(`'${name}' is not UTF-8 text`)
  }
}

function splitBundleLines(name: string, bytes: Buffer): string[] {
  const lines = decodeBundleText({ name, bytes }).split('\n', bundleLimits.logPartEntriesMax + 2)
  const isWhole = lines.pop() === '' && lines.length > 0 && lines.length <= bundleLimits.logPartEntriesMax
  // The limit is compared with the characters of a line, of which there are never more than bytes.
  if (isWhole && lines.every((line) => line.length <= limits.logEntryBytesMax)) return lines
  throw damagedBundle(`'${name}' is not a part of a log`)
}

/** Decompresses the archive of a bundle. Failures become error messages for the operator. */
async function* unpackBundle(file: string): AsyncGenerator<Buffer> {
  await requireOneFrame(file)
  const unpacked = openDecompressor()
  // The errors of all streams of the pipeline reach `unpacked`, its last stream, which is read below.
  pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), unpacked, () => {})
  let isEmpty = true
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      isEmpty = false
      yield chunk
    }
  } catch (error) {
    throw toBundleError(file, error, isEmpty)
  } finally {
    unpacked.destroy()
  }
}

const isNotCompressed = 'it is not compressed with Zstandard, or is incomplete'

async function requireOneFrame(file: string): Promise<void> {
  const handle = await open(file).catch((error: unknown) => {
    throw toBundleError(file, error, true)
  })
  try {
    const end = await findFrameEnd(handle)
    // Checked here, because a decompressor would skip frames without content (RFC 8878, section 3.1.2). An incomplete
    // frame passes: the decompressor rejects it.
    if (end === undefined) throw noBundle(isNotCompressed)
    if (end < (await handle.stat()).size) throw damagedBundle('it has data after its end')
  } catch (error) {
    throw toBundleError(file, error, true)
  } finally {
    await handle.close()
  }
}

function toBundleError(file: string, error: unknown, isEmpty: boolean): unknown {
  const code = readErrorCode(error) ?? ''
  if (code === 'ENOENT') return new RegistryError('not_found', `${file} does not exist.`)
  if (code === 'EISDIR') return new RegistryError('invalid_request', `${file} is a folder, not a bundle.`)
  if (code === 'EACCES' || code === 'EPERM') {
    return new RegistryError('invalid_request', `${file} cannot be read: permission denied.`)
  }
  if (/^(?:ZSTD_|Z_|ERR_ZLIB)/.test(code)) {
    return isEmpty ? noBundle(isNotCompressed) : damagedBundle('it cannot be decompressed')
  }
  return error
}
