import { createHash } from 'node:crypto'
import {
  type CatalogueContext,
  isSliceOver,
  nextSlice,
  readOfferedFiles,
  readOfferedPart,
  readReadableFiles,
} from '@skillstead/core/internal'
import { gitAttributes, isPluginRoot, toPathInGit } from '@skillstead/skill-format/archives'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { addToTree, toObject, toTrees } from './git-objects.ts'
import type { BlobSource } from './pack-entries.ts'
import type { PackObject, StoredBlob } from './repository.ts'

/** A version by its id and digest. The digest covers all files, so it determines the tree. */
interface TreeVersion {
  readonly id: string
  readonly digest: string
}

/** Charges the caller for versions before their files are listed. Throws `rate_limited`. */
export type ChargeVersions = (versions: number) => Promise<void>

/** The request for which the trees are computed. */
export interface ForRequest {
  readonly charge?: ChargeVersions
  /** Aborted when the client is gone: the work then ends with the reason. */
  readonly signal?: AbortSignal
}

/** The git trees of versions, computed once per process as long as the caches have room. */
export interface VersionTrees {
  /**
   * The root trees of versions, by the version's digest. Leaves out versions without readable files, such as
   * quarantined ones. Charges the versions whose files have to be read.
   */
  findRoots(versions: readonly TreeVersion[], request?: ForRequest): Promise<ReadonlyMap<string, RootTree>>
  /**
   * All trees and blobs of a version, without the bytes of the blobs. If its folder is `''`, the root of a repository,
   * the root tree contains {@link attributes}. Empty for a version without readable files.
   */
  readContent(version: TreeVersion & { readonly folder: string }): Promise<readonly PackObject[]>
}

/** The `.gitattributes` at the root of each repository. */
export const attributes = toObject('blob', Buffer.from(gitAttributes))
export const attributesEntry = { path: '.gitattributes', id: attributes.id }

interface RootTree {
  readonly id: string
  /** The id of the root tree with {@link attributes}, for a version at the root of a repository. */
  readonly repositoryId: string
  /** See {@link isPluginRoot}. */
  readonly isPluginRoot: boolean
}

/** `root` is null for a version without readable files, for example one that was deleted after it was listed. */
interface CachedRoot {
  readonly root: RootTree | null
}

const rootsMax = 100_000
const blobIdsMax = 100_000
/** Room for the 60,000 files of an owner with 600 skills of 100 files. */
const contentBytesMax = 32 * 1024 * 1024
/** Number of versions read at once: with 512 files each, the rows of four block the event loop for about 10 ms. */
const versionsPerBatch = 4
/** Number of bytes that are hashed at once. */
const hashedBytesMax = 1024 * 1024

export function createVersionTrees(context: CatalogueContext): VersionTrees {
  // `maxSize` in place of `max`: with `max`, `roots` and `blobIds` would allocate all their room at the start, 5 MB in
  // 20 ms.
  /**
   * Root trees by the digest of the version. Versions without readable files are cached by id, because another version
   * may have the same digest.
   */
  const roots = new LRUCache<string, CachedRoot>({ maxSize: rootsMax, sizeCalculation: () => 1 })
  /** The ids of blobs in git (SHA-1), by the digest of the file in the registry. */
  const blobIds = new LRUCache<string, string>({ maxSize: blobIdsMax, sizeCalculation: () => 1 })
  /** The objects of a version: the root tree with {@link attributes}, the root tree without it, and all others. */
  const contents = new LRUCache<string, readonly PackObject[]>({
    maxSize: contentBytesMax,
    sizeCalculation: (objects) => objects.reduce((sum, object) => sum + sizeInMemory(object), 0),
  })
  // At most two builds at a time, so that concurrent requests for a repository share the work, and memory is bounded.
  const inTurn = pLimit(2)

  /** Reads and caches the trees of a few versions. */
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
      const blobs = list.map(({ path, digest, size, executable }) => ({
        path: toPathInGit(path),
        digest,
        size,
        kind: executable ? ('executable' as const) : ('file' as const),
        id: hashed.get(digest)!,
      }))
      const trees = toTrees(blobs)
      const root = trees.at(-1)!
      const repositoryRoot = addToTree(root, attributesEntry)
      const paths = list.map(({ path }) => path)
      const ids = { id: root.id, repositoryId: repositoryRoot.id }
      roots.set(versionDigest, { root: { ...ids, isPluginRoot: isPluginRoot(paths) } })
      const stored = blobs.map(({ id, digest, size }): StoredBlob => ({ kind: 'blob', id, digest, size }))
      contents.set(versionDigest, [repositoryRoot, ...trees.toReversed(), ...stored])
    }
  }

  return {
    async findRoots(versions, { charge, signal } = {}) {
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
          signal?.throwIfAborted()
          const batch = missing.slice(at, at + versionsPerBatch)
          const left = batch.filter((version) => !take(version))
          if (left.length > 0) await build(left)
          for (const version of left) take(version)
        })
      }
      return found
    },
    async readContent(version) {
      const select = ([repositoryRoot, root, ...rest]: readonly PackObject[] = []) => {
        if (!repositoryRoot || !root) return []
        return version.folder === '' ? [repositoryRoot, attributes, ...rest] : [root, ...rest]
      }
      const cached = contents.get(version.digest)
      if (cached) return select(cached)
      return inTurn(async () => {
        if (!contents.has(version.digest)) await build([version])
        return select(contents.get(version.digest))
      })
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

/** The git id of a blob, computed in slices. */
async function hashBlob(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha1').update(`blob ${bytes.length}\0`)
  for (let at = 0; at < bytes.length; at += hashedBytesMax) {
    if (isSliceOver()) await nextSlice()
    hash.update(bytes.subarray(at, at + hashedBytesMax))
  }
  return hash.digest('hex')
}

/** The approximate memory of an object in a list, in bytes: its strings and, for a tree, its content. */
function sizeInMemory(object: PackObject): number {
  return 250 + ('bytes' in object ? object.bytes.length : 0)
}
