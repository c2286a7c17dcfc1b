import { selectInBatches } from '../applying/prepare-package.ts'
import { readEntryFiles } from '../applying/entry-files.ts'
import { createBlob, readPages, type StorageContext, storeLostBlobs } from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { limits } from '@skillstead/protocol'
import { SyncAlarm } from '../alarms.ts'
import { requireActive, type Run } from '../run.ts'
import type { FeedEntry, LogSource } from '../types.ts'

/** Maximum size and number of the files of one request. A single file may be larger. */
const requestLimits = { bytesMax: 4 * 1024 * 1024, countMax: limits.blobBatchMax }
/** Number of attempts to fetch a file whose bytes do not match its digest, before the sync pauses. */
const triesMax = 2

/** A file to fetch, with the size that the entry declares. */
interface Need {
  readonly digest: string
  /** Undefined for a list of files, whose size entries do not declare. */
  readonly size: number | undefined
}

/**
 * Fetches the blobs that entries need and this node lacks, as far as the source has them. `cached` has blobs that were
 * fetched for earlier entries and are not stored yet. They are not requested again, because a bundle is read forward.
 */
export async function fetchBlobs(
  run: Run,
  source: LogSource,
  entries: readonly FeedEntry[],
  cached: ReadonlyMap<string, Uint8Array>,
): Promise<Map<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>()
  const add = async (needs: readonly Need[]) => {
    const missing = await keepMissing(run, needs)
    for (const { digest } of missing) if (cached.has(digest)) contents.set(digest, cached.get(digest)!)
    const wanted = missing.filter(({ digest }) => !contents.has(digest))
    for (const batch of toRequestBatches(wanted, ({ size = 0 }) => size, requestLimits)) {
      await fetchBatch(run, source, batch, contents)
    }
  }
  await add(entries.flatMap(toListNeeds))
  await add(entries.flatMap((entry) => toFileNeeds(entry, contents)))
  return contents
}

/**
 * The total size of an entry's files as the entry declares it. If the entry does not contain its list of files, the
 * maximum size of a version.
 */
export function toDeclaredBytes(entry: FeedEntry): number {
  const files = readEntryFiles(entry, new Map())
  if ('list' in files) return limits.versionBytesMax
  return 'files' in files ? files.files.reduce((sum, { size }) => sum + size, 0) : 0
}

/** Restores blobs that this node's bucket lost, if they belong to the upstream's skills and the source has them. */
export async function restoreLostBlobs(run: Run, source: LogSource): Promise<void> {
  const { context } = run.parts
  const { read, writer } = context.database
  const readLost = (after: string) =>
    read
      .selectFrom('blobs')
      .select(['digest', 'size'])
      .where('place', '=', 'lost')
      .where('digest', '>', after)
      // Only blobs of the upstream's skills, so that the upstream learns no digests of other content.
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('version_files')
            .innerJoin('versions', 'versions.id', 'version_files.version_id')
            .innerJoin('skills', 'skills.id', 'versions.skill_id')
            .select('version_files.path')
            .whereRef('version_files.digest', '=', 'blobs.digest')
            .where('skills.origin_upstream', '=', run.upstream.name),
        ),
      )
      .orderBy('digest')
      .limit(requestLimits.countMax)
      .execute()
  for await (const rows of readPages('', readLost, ({ digest }) => digest)) {
    for (const batch of toRequestBatches(rows, ({ size }) => size, requestLimits)) {
      requireActive(run)
      const contents = new Map<string, Uint8Array>()
      await fetchBatch(run, source, batch, contents)
      const blobs = await Promise.all([...contents.values()].map(createBlob))
      await writer.write((trx) => storeLostBlobs(context, trx, blobs))
    }
  }
}

/** Those of the digests whose blobs this node lacks, without duplicates, in the given order. */
export async function findMissingBlobs({ database }: StorageContext, digests: readonly string[]): Promise<string[]> {
  const rows = await selectInBatches(digests, (batch) =>
    database.read
      .selectFrom('blobs')
      .select('digest')
      .where('digest', 'in', batch)
      .where('place', 'is distinct from', 'lost')
      .execute(),
  )
  const stored = new Set(rows.map(({ digest }) => digest))
  return [...new Set(digests)].filter((digest) => !stored.has(digest))
}

function toListNeeds(entry: FeedEntry): Need[] {
  const files = readEntryFiles(entry, new Map())
  return 'list' in files ? [{ digest: files.list, size: undefined }] : []
}

function toFileNeeds(entry: FeedEntry, contents: ReadonlyMap<string, Uint8Array>): Need[] {
  const files = readEntryFiles(entry, contents)
  return 'files' in files ? files.files.map(({ digest, size }) => ({ digest, size })) : []
}

async function keepMissing({ parts }: Run, needs: readonly Need[]): Promise<Need[]> {
  if (needs.length === 0) return []
  const byDigest = new Map(needs.map((need) => [need.digest, need]))
  const missing = await findMissingBlobs(parts.context, [...byDigest.keys()])
  return missing.map((digest) => byDigest.get(digest)!)
}

async function fetchBatch(
  run: Run,
  source: LogSource,
  batch: readonly Need[],
  contents: Map<string, Uint8Array>,
): Promise<void> {
  let wanted = new Map(batch.map((need) => [need.digest, need]))
  for (let tries = 1; wanted.size > 0; tries += 1) {
    const altered = new Map<string, Need>()
    for await (const { digest, bytes } of source.readBlobs([...wanted.keys()])) {
      const need = wanted.get(digest)
      if (!need) continue
      run.tally.bytes += bytes.length
      const isRight = (need.size ?? bytes.length) === bytes.length && toDigest(bytes) === digest
      if (isRight) contents.set(digest, bytes)
      else altered.set(digest, need)
    }
    const [first] = altered.keys()
    if (first !== undefined && tries === triesMax) {
      throw new SyncAlarm('altered', `The content that the upstream sent for ${first} does not match this digest.`)
    }
    wanted = altered
  }
}

/** Splits items into batches by their number and their total size. An item above `bytesMax` is a batch of its own. */
export function* toRequestBatches<Item>(
  items: Iterable<Item>,
  sizeOf: (item: Item) => number,
  { bytesMax, countMax }: { bytesMax: number; countMax: number },
): Generator<Item[]> {
  let batch: Item[] = []
  let bytes = 0
  for (const item of items) {
    const size = sizeOf(item)
    if (batch.length > 0 && (bytes + size > bytesMax || batch.length === countMax)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(item)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
