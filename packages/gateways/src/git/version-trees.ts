import { createHash } from 'node:crypto'
import {
  type CatalogueContext,
  type FileRow,
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

/** The git trees of versions, computed once per process as long as the caches have room. */
export class VersionTrees {
  readonly #context: CatalogueContext
  // `maxSize` in place of `max`: with `max`, `#roots` and `#blobIds` would allocate all their room at the start, 5 MB in
  // 20 ms.
  /**
   * Root trees by the digest of the version. Versions without readable files are cached by id, because another version
   * may have the same digest.
   */
  readonly #roots = new LRUCache<string, CachedRoot>({ maxSize: rootsMax, sizeCalculation: () => 1 })
  /** The ids of blobs in git (SHA-1), by the digest of the file in the registry. */
  readonly #blobIds = new LRUCache<string, string>({ maxSize: blobIdsMax, sizeCalculation: () => 1 })
  /** The objects of a version: the root tree with {@link attributes}, the root tree without it, and all others. */
  readonly #contents = new LRUCache<string, readonly PackObject[]>({
    maxSize: contentBytesMax,
    sizeCalculation: (objects) => objects.reduce((sum, object) => sum + sizeInMemory(object), 0),
  })
  // At most two builds at a time, so that concurrent requests for a repository share the work, and memory is bounded.
  readonly #inTurn = pLimit(2)

  constructor(context: CatalogueContext) {
    this.#context = context
  }

  /**
   * The root trees of versions, by the version's digest. Leaves out versions without readable files, such as
   * quarantined ones. Charges the versions whose files have to be read.
   */
  async findRoots(
    versions: readonly TreeVersion[],
    { charge, signal }: ForRequest = {},
  ): Promise<ReadonlyMap<string, RootTree>> {
    const found = new Map<string, RootTree>()
    const take = ({ id, digest }: TreeVersion) => {
      const cached = this.#roots.get(digest) ?? this.#roots.get(id)
      if (cached?.root) found.set(digest, cached.root)
      return cached !== undefined
    }
    const missing = versions.filter((version) => !take(version))
    if (missing.length > 0) await charge?.(missing.length)
    for (let at = 0; at < missing.length; at += versionsPerBatch) {
      await this.#inTurn(async () => {
        signal?.throwIfAborted()
        const batch = missing.slice(at, at + versionsPerBatch)
        const left = batch.filter((version) => !take(version))
        if (left.length > 0) await this.#build(left)
        for (const version of left) take(version)
      })
    }
    return found
  }

  /**
   * All trees and blobs of a version, without the bytes of the blobs. If its folder is `''`, the root of a repository,
   * the root tree contains {@link attributes}. Empty for a version without readable files.
   */
  async readContent(version: TreeVersion & { readonly folder: string }): Promise<readonly PackObject[]> {
    const select = ([repositoryRoot, root, ...rest]: readonly PackObject[] = []) => {
      if (!repositoryRoot || !root) return []
      return version.folder === '' ? [repositoryRoot, attributes, ...rest] : [root, ...rest]
    }
    const cached = this.#contents.get(version.digest)
    if (cached) return select(cached)
    return this.#inTurn(async () => {
      if (!this.#contents.has(version.digest)) await this.#build([version])
      return select(this.#contents.get(version.digest))
    })
  }

  /** Reads and caches the trees of a few versions. */
  async #build(versions: readonly TreeVersion[]): Promise<void> {
    const files = await readReadableFiles(
      this.#context,
      versions.map(({ id }) => id),
    )
    const blobIds = await this.#hashFiles([...files.values()].flat())
    for (const { id, digest } of versions) {
      if (isSliceOver()) await nextSlice()
      const list = files.get(id)
      if (list) this.#cache(digest, list, blobIds)
      else this.#roots.set(id, { root: null })
    }
  }

  /** The ids of files in git, by their digests. */
  async #hashFiles(files: readonly FileRow[]): Promise<ReadonlyMap<string, string | undefined>> {
    const hashed = new Map(files.map(({ digest }) => [digest, this.#blobIds.get(digest)]))
    const missing = files.filter(({ digest }) => hashed.get(digest) === undefined)
    for await (const [digest, bytes] of readOfferedFiles(this.#context, missing)) {
      const id = await hashBlob(bytes)
      hashed.set(digest, id)
      this.#blobIds.set(digest, id)
    }
    return hashed
  }

  #cache(versionDigest: string, files: readonly FileRow[], blobIds: ReadonlyMap<string, string | undefined>): void {
    const blobs = files.map(({ path, digest, size, executable }) => ({
      path: toPathInGit(path),
      digest,
      size,
      kind: executable ? ('executable' as const) : ('file' as const),
      id: blobIds.get(digest)!,
    }))
    const trees = toTrees(blobs)
    const root = trees.at(-1)!
    const repositoryRoot = addToTree(root, attributesEntry)
    const paths = files.map(({ path }) => path)
    const ids = { id: root.id, repositoryId: repositoryRoot.id }
    this.#roots.set(versionDigest, { root: { ...ids, isPluginRoot: isPluginRoot(paths) } })
    const stored = blobs.map(({ id, digest, size }): StoredBlob => ({ kind: 'blob', id, digest, size }))
    this.#contents.set(versionDigest, [repositoryRoot, ...trees.toReversed(), ...stored])
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
