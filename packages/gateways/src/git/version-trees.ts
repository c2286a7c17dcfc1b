import { createHash } from 'node:crypto'
import {
  type CatalogueContext,
  isSliceOver,
  nextSlice,
  readOfferedFiles,
  readOfferedPart,
  readReadableFiles,
} from '@skillstead/core/internal'
import { isPluginRoot } from '@skillstead/skill-format/archives'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { type GitObject, toTrees } from './git-objects.ts'
import type { BlobSource } from './pack-entries.ts'
import type { PackObject, StoredBlob } from './repository.ts'

/** A version by its id and digest. The digest covers all files, so that it determines the tree. */
interface TreeVersion {
  readonly id: string
  readonly digest: string
}

/** Charges the caller for versions before their files are listed. Throws `rate_limited`. */
export type ChargeVersions = (versions: number) => Promise<void>

/** The trees of versions, computed once per process as long as the caches have room. */
export interface VersionTrees {
  /** The root trees, by digest. Leaves out quarantined versions. Charges those that have to be read. */
  findRoots(versions: readonly TreeVersion[], charge?: ChargeVersions): Promise<ReadonlyMap<string, RootTree>>
  /** All trees and blobs of a version, without the bytes of the blobs. */
  readContent(version: TreeVersion): Promise<readonly PackObject[]>
}

interface RootTree {
  readonly id: string
  /** See {@link isPluginRoot}. */
  readonly isPluginRoot: boolean
}

/** Null for a version that is quarantined or was deleted meanwhile. */
interface CachedRoot {
  readonly root: RootTree | null
}

const rootsMax = 100_000
const blobIdsMax = 100_000
const contentBytesMax = 16 * 1024 * 1024
/** Versions that are read at once: with 512 files each, the rows of a few block the event loop for about 10 ms. */
const versionsPerBatch = 4
/** Bytes that are hashed at once. */
const hashedBytesMax = 1024 * 1024

export function createVersionTrees(context: CatalogueContext): VersionTrees {
  // With `max`, the two caches would allocate all their room at the start: 5 MB in 20 ms.
  /** By digest; those of versions without readable files by id, because another version may have the same digest. */
  const roots = new LRUCache<string, CachedRoot>({ maxSize: rootsMax, sizeCalculation: () => 1 })
  /** SHA-1 as a blob of git, by digest in the registry. */
  const blobIds = new LRUCache<string, string>({ maxSize: blobIdsMax, sizeCalculation: () => 1 })
  const contents = new LRUCache<string, CachedContent>({
    maxSize: contentBytesMax,
    sizeCalculation: ({ trees, blobs }) => trees.reduce((sum, tree) => sum + 250 + tree.bytes.length, blobs.length),
  })
  // Concurrent requests for one repository share the work, and memory is bounded.
  const inTurn = pLimit(2)

  /** Builds the trees of a few versions. */
  async function build(versions: readonly TreeVersion[]): Promise<void> {
    const files = await readReadableFiles(
      context,
      versions.map(({ id }) => id),
    )
    const all = [...files.values()].flat()
    const hashed = new Map(all.map(({ digest }) => [digest, blobIds.get(digest)]))
    const missing = all.filter(({ digest }) => hashed.get(digest) === undefined)
    for await (const [digest, bytes] of readOfferedFiles(context, missing)) {
      const id = await hashBlob(bytes)
      hashed.set(digest, id)
      blobIds.set(digest, id)
    }
    for (const { id: versionId, digest: versionDigest } of versions) {
      if (isSliceOver()) await nextSlice()
      const list = files.get(versionId)
      if (!list) {
        roots.set(versionId, { root: null })
        continue
      }
      const blobs = list.map(({ path, digest, size }) => ({ path, digest, size, id: hashed.get(digest)! }))
      const trees = toTrees(blobs)
      const paths = list.map(({ path }) => path)
      roots.set(versionDigest, { root: { id: trees.at(-1)!.id, isPluginRoot: isPluginRoot(paths) } })
      contents.set(versionDigest, { trees: trees.toReversed(), blobs: encodeBlobs(blobs) })
    }
  }

  return {
    async findRoots(versions, charge) {
      const found = new Map<string, RootTree>()
      const take = ({ id, digest }: TreeVersion) => {
        const cached = roots.get(digest) ?? roots.get(id)
        if (cached?.root) found.set(digest, cached.root)
        return cached !== undefined
      }
      const missing = versions.filter((version) => !take(version))
      if (missing.length > 0) await charge?.(missing.length)
      for (let at = 0; at < missing.length; at += versionsPerBatch) {
        await inTurn(async () => {
          const batch = missing.slice(at, at + versionsPerBatch)
          const left = batch.filter((version) => !take(version))
          if (left.length > 0) await build(left)
          for (const version of left) take(version)
        })
      }
      return found
    },
    async readContent(version) {
      const cached =
        contents.get(version.digest) ??
        (await inTurn(async () => {
          if (!contents.has(version.digest)) await build([version])
          return contents.get(version.digest)
        }))
      return cached ? [...cached.trees, ...decodeBlobs(cached.blobs)] : []
    },
  }
}

/** Reads the stored blobs. */
export function createBlobSource(context: CatalogueContext): BlobSource {
  return {
    read: (blobs) =>
      readOfferedFiles(
        context,
        blobs.map(({ digest, size }) => ({ path: '', digest, size })),
      ),
    readPart: (digest, part) => readOfferedPart(context, digest, part),
  }
}

/** The id of a blob, computed in slices. */
async function hashBlob(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha1').update(`blob ${bytes.length}\0`)
  for (let at = 0; at < bytes.length; at += hashedBytesMax) {
    if (isSliceOver()) await nextSlice()
    hash.update(bytes.subarray(at, at + hashedBytesMax))
  }
  return hash.digest('hex')
}

/** A version in a quarter of the memory that its objects take. */
interface CachedContent {
  readonly trees: readonly GitObject[]
  /** For each blob its id, digest and size. */
  readonly blobs: Buffer
}

const [idBytes, digestBytes, sizeBytes] = [20, 32, 4]
const digestPrefix = 'sha256:'

function encodeBlobs(blobs: readonly Omit<StoredBlob, 'kind'>[]): Buffer {
  const encoded = Buffer.alloc(blobs.length * (idBytes + digestBytes + sizeBytes))
  let at = 0
  for (const { id, digest, size } of blobs) {
    at += encoded.write(id, at, 'hex')
    at += encoded.write(digest.slice(digestPrefix.length), at, 'hex')
    at = encoded.writeUInt32BE(size, at)
  }
  return encoded
}

function decodeBlobs(encoded: Buffer): StoredBlob[] {
  const blobs: StoredBlob[] = []
  for (let at = 0; at < encoded.length; at += idBytes + digestBytes + sizeBytes) blobs.push(new CachedBlob(encoded, at))
  return blobs
}

/** Decodes the digest only for a blob that has to be read. */
class CachedBlob implements StoredBlob {
  readonly kind = 'blob'
  readonly id: string
  readonly size: number
  readonly #encoded: Buffer
  readonly #at: number

  constructor(encoded: Buffer, at: number) {
    this.id = encoded.toString('hex', at, at + idBytes)
    this.size = encoded.readUInt32BE(at + idBytes + digestBytes)
    this.#encoded = encoded
    this.#at = at + idBytes
  }

  get digest(): string {
    return digestPrefix + this.#encoded.toString('hex', this.#at, this.#at + digestBytes)
  }
}
