import { webcrypto } from 'node:crypto'
import { isStrictlyReadable } from '@skillstead/skill-format'
import { type ArchiveFile, isPluginRoot, writeZip } from '@skillstead/skill-format/archives'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import { type BlobSource, openBlobs } from '../../storage/read-blobs.ts'
import type { VersionRow } from '../../storage/tables.ts'
import type { Artifact, Artifacts } from '../context/ports.ts'
import { readFileRowsOfMany } from '../versions/version-files.ts'
import type { FileRow } from '../versions/stored-version.ts'

type Content = Pick<VersionRow, 'id' | 'digest'>

/** A cache entry: `artifact` is null for a version whose SKILL.md installers cannot read. */
interface CachedArtifact {
  readonly artifact: Artifact | null
}

/** The maximum number of cached artifacts, of about 400 bytes each. */
const artifactsMax = 20_000

export function createArtifacts(source: BlobSource): Artifacts {
  const cached = new LRUCache<string, CachedArtifact>({ maxSize: artifactsMax, sizeCalculation: () => 1 })
  // Callers read artifacts one after the other, so that they share results and memory is bounded.
  const inTurn = pLimit(1)

  return {
    async describe(versions) {
      const found = new Map<string, Artifact | null>()
      const missing = takeCached(cached, found, versions)
      const files = await readFileRowsOfMany(
        source.read,
        missing.map(({ id }) => id),
      )
      const packed = missing.map(({ id, digest }) => ({ digest, files: files.get(id) ?? [] }))
      for (const batch of toVersionBatches(packed)) {
        await inTurn(async () => {
          for await (const [digest, artifact] of describeArtifacts(source, takeCached(cached, found, batch))) {
            found.set(digest, artifact)
            cached.set(digest, { artifact })
          }
        })
      }
      return found
    },
  }
}

/** Adds cached artifacts to `found`. Returns the uncached versions, one per distinct content. */
function takeCached<T extends Content | PackedVersion>(
  cached: LRUCache<string, CachedArtifact>,
  found: Map<string, Artifact | null>,
  versions: readonly T[],
): T[] {
  const missing = new Map<string, T>()
  for (const version of versions) {
    const known = cached.get(version.digest)
    if (known) found.set(version.digest, known.artifact)
    else missing.set(version.digest, version)
  }
  return [...missing.values()]
}

interface PackedVersion {
  readonly digest: string
  readonly files: readonly FileRow[]
}

function* toVersionBatches(versions: readonly PackedVersion[]): Generator<PackedVersion[]> {
  yield* batchesBySize(versions, ({ files }) => ({
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    files: files.length,
  }))
}

async function* describeArtifacts(
  source: BlobSource,
  versions: readonly PackedVersion[],
): AsyncGenerator<[digest: string, Artifact | null]> {
  const sizes = new Map(versions.flatMap(({ files }) => files.map(({ digest, size }) => [digest, size])))
  const blobs = new Map<string, Uint8Array>()
  for await (const [digest, bytes] of readBlobsByDigest(source, sizes)) blobs.set(digest, bytes)
  for (const { digest, files } of versions) {
    const contents = files.map(({ path, digest: of, executable }) => ({ path, bytes: blobs.get(of)!, executable }))
    yield [digest, await describeArtifact(contents, files)]
    if (isSliceOver()) await nextSlice()
  }
}

async function describeArtifact(contents: readonly ArchiveFile[], files: readonly FileRow[]): Promise<Artifact | null> {
  const skillMd = contents.find(({ path }) => path === 'SKILL.md')
  if (!skillMd || !isStrictlyReadable(new TextDecoder().decode(skillMd.bytes))) return null
  // Web Crypto hashes in another thread: hashing a zip of 16 MiB here would block the event loop.
  const hash = await webcrypto.subtle.digest('SHA-256', writeZip(contents))
  const zipDigest = `sha256:${Buffer.from(hash).toString('hex')}`
  if (files.length === 1) return { type: 'skill-md', digest: files[0]!.digest, zipDigest, isPluginRoot: false }
  return { type: 'archive', digest: zipDigest, zipDigest, isPluginRoot: isPluginRoot(files.map(({ path }) => path)) }
}

/** Bytes read per batch. A larger file is a batch of its own. */
const artifactBatchBytesMax = 1024 * 1024
const artifactBatchFilesMax = 64

/** Splits items into batches of at most `artifactBatchBytesMax` bytes, with at least one item per batch. */
function* batchesBySize<T>(items: Iterable<T>, measure: (item: T) => { bytes: number; files: number }): Generator<T[]> {
  let group: T[] = []
  let left = { bytes: artifactBatchBytesMax, files: artifactBatchFilesMax }
  for (const item of items) {
    const { bytes, files } = measure(item)
    if (group.length > 0 && (bytes > left.bytes || files > left.files)) {
      yield group
      group = []
      left = { bytes: artifactBatchBytesMax, files: artifactBatchFilesMax }
    }
    group.push(item)
    left = { bytes: left.bytes - bytes, files: left.files - files }
  }
  if (group.length > 0) yield group
}

/** Reads blobs in batches. `sizes` has the size of each digest. Throws if the storage lacks a blob. */
export async function* readBlobsByDigest(
  source: BlobSource,
  sizes: ReadonlyMap<string, number>,
): AsyncGenerator<[digest: string, bytes: Uint8Array]> {
  for (const group of batchesBySize(sizes, ([, bytes]) => ({ bytes, files: 1 }))) {
    const digests = group.map(([digest]) => digest)
    const rows = await source.read.selectFrom('blobs').selectAll().where('digest', 'in', digests).execute()
    const lacking = digests.find((digest) => !rows.some((row) => row.digest === digest))
    if (lacking) throw new Error(`Blob ${lacking} is missing from the storage. Run skillstead doctor.`)
    yield* await openBlobs(source, rows)
    if (isSliceOver()) await nextSlice()
  }
}
