import type { Registry } from '@skillstead/core'
import type { MirrorContext } from '../run.ts'
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { appendLeaf, hashLeaf, partsOf, signText, toRoot } from '@skillstead/core/internal'
import { RegistryError, withoutUndefined } from '@skillstead/protocol'
import { hasFilters } from '../filters.ts'
import type { Filters } from '../types.ts'
import { readOwnLog, readUpstreamLog, type ChosenLog } from './chosen-log.ts'
import { findContents, readInOrder, type BundleContents } from './contents.ts'
import {
  blobFolder,
  bundleFormat,
  bundleLimits,
  bundleVersion,
  headerName,
  logFolder,
  signatureName,
  toHeaderText,
  type BundleHeader,
} from './format.ts'
import { tarEnd, toPadding, toTarHeader } from './tar.ts'
import { writeWhole } from './write-whole.ts'
import { openCompressor } from './zstd.ts'

/** Options of `createBundle`. */
export interface CreateBundleOptions {
  /**
   * The position after which the bundle has entries: the position up to which the receiving mirror has the log.
   * Default: 0, all entries.
   */
  readonly since?: number
  /**
   * Name of an upstream whose stored log is bundled, with the upstream's signed checkpoint, instead of this node's own
   * log. Readers verify this log with the upstream's key; this mirror signs the rest of the header.
   */
  readonly upstream?: string
  /**
   * Only content that passes the filters is included. The log is complete even so, because a partial log could not be
   * verified.
   */
  readonly filters?: Filters
  /** Replace an existing file. */
  readonly overwrite?: boolean
  /** Called with the progress, counted in blobs. */
  onProgress?(progress: { done: number; total: number }): void
  readonly signal?: AbortSignal
}

/** The result of creating a bundle. */
export interface CreatedBundle {
  readonly file: string
  readonly header: BundleHeader
  /** Size of the file in bytes. */
  readonly size: number
  /** Digest of the file, `sha256:` and hexadecimal, to compare after copying it. */
  readonly digest: string
  readonly durationMs: number
}

/**
 * Creates a bundle: one signed file with the entries of a log after a position, and the content of their versions.
 * Reads one consistent state while the node keeps running, uses a few megabytes of memory, and leaves no incomplete
 * file. Throws `invalid_request` for a position beyond the end of the log, and `conflict` if the file exists or the
 * upstream is not completely imported.
 *
 * @example
 * await createBundle(registry, '/media/stick/skills.bundle', { since: 120 })
 */
export async function createBundle(
  registry: Registry,
  file: string,
  options: CreateBundleOptions = {},
): Promise<CreatedBundle> {
  const context = partsOf(registry)
  const startMs = performance.now()
  const { since = 0, filters = {}, upstream } = options
  const log = upstream === undefined ? await readOwnLog(context) : await readUpstreamLog(context, upstream)
  if (since > log.until) {
    const detail = `The log of ${log.name} has only ${log.until} entries, so there are none after ${since}.`
    throw new RegistryError('invalid_request', detail)
  }
  const contents = await findContents(context, { texts: log.readTexts(since), filters })
  const header = await createBundleHeader(context, { since, filters, log, contents })
  const hash = createHash('sha256')
  const size = await writeWhole(file, {
    overwrite: options.overwrite ?? false,
    bytes: gatherPieces(toTar(context, { log, header, contents }, options)),
    transform: openCompressor(),
    onChunk: (chunk) => void hash.update(chunk),
  })
  return { file, header, size, digest: `sha256:${hash.digest('hex')}`, durationMs: performance.now() - startMs }
}

interface Given {
  readonly since: number
  readonly filters: Filters
  readonly log: ChosenLog
  readonly contents: BundleContents
}

async function createBundleHeader(
  context: MirrorContext,
  { since, filters, log, contents }: Given,
): Promise<BundleHeader> {
  const { origin, epoch, until, checkpoint, keys, maker } = log
  const frontier = await log.readFrontier(since)
  const { sizes, versions, complete, bytes } = contents
  return {
    format: bundleFormat,
    version: bundleVersion,
    origin,
    epoch,
    since,
    until,
    frontier: frontier.map((hash) => hash.toString('base64')),
    checkpoint,
    keys: [...keys],
    ...(maker && { maker }),
    filters: hasFilters(filters) ? withoutUndefined(filters) : {},
    createdAt: new Date(context.clock.now()).toISOString(),
    counts: { entries: until - since, versions, complete, blobs: sizes.size, bytes },
  }
}

async function* toTar(
  context: MirrorContext,
  { log, header, contents }: { log: ChosenLog; header: BundleHeader; contents: BundleContents },
  { onProgress, signal }: CreateBundleOptions,
): AsyncGenerator<Uint8Array> {
  const text = toHeaderText(header)
  const signature = (await signText(context, text)).map((line) => `${line}\n`).join('')
  yield* toFile(headerName, Buffer.from(text))
  yield* toFile(signatureName, Buffer.from(signature))
  for await (const { first, bytes } of toLogParts(log, header)) {
    signal?.throwIfAborted()
    yield* toFile(`${logFolder}${first}.ndjson`, bytes)
  }
  let done = 0
  for await (const { digest, bytes } of readInOrder(context, contents)) {
    signal?.throwIfAborted()
    yield* toFile(`${blobFolder}${digest.slice('sha256:'.length)}`, bytes)
    done += 1
    onProgress?.({ done, total: contents.sizes.size })
  }
  yield tarEnd
}

function* toFile(name: string, bytes: Uint8Array): Generator<Uint8Array> {
  yield toTarHeader(name, bytes.length)
  yield bytes
  yield toPadding(bytes.length)
}

async function* toLogParts(
  log: ChosenLog,
  { since, until, frontier }: BundleHeader,
): AsyncGenerator<{ first: number; bytes: Buffer }> {
  let [first, size] = [since + 1, 0]
  let lines: Buffer[] = []
  const tree = frontier.map((hash) => Buffer.from(hash, 'base64'))
  for await (const entries of log.readTexts(since)) {
    for (const { seq, entry } of entries) {
      appendLeaf(tree, seq - 1, hashLeaf(entry))
      const line = Buffer.from(`${entry}\n`)
      if (lines.length === bundleLimits.logPartEntriesMax || size + line.length > bundleLimits.logPartBytesMax) {
        yield { first, bytes: Buffer.concat(lines) }
        lines = []
        first = seq
        size = 0
      }
      lines.push(line)
      size += line.length
    }
  }
  // The roots can differ because a sync replaced the upstream's log meanwhile, or because the disk is damaged.
  if (toRoot(tree).toString('base64') !== log.checkpoint.split('\n')[2]) {
    const detail = `The ${until} entries of ${log.name} do not match the signed checkpoint: they changed during the export, or the database is damaged. Create the bundle again.`
    throw new RegistryError('conflict', detail)
  }
  if (lines.length > 0) yield { first, bytes: Buffer.concat(lines) }
}

const chunkBytesMin = 512 * 1024

/** Joins pieces to large chunks for the compressor's worker thread, and lets other events run after each chunk. */
async function* gatherPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let gathered: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    gathered.push(piece)
    size += piece.length
    if (size < chunkBytesMin) continue
    yield Buffer.concat(gathered)
    await setImmediate()
    gathered = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(gathered)
}
