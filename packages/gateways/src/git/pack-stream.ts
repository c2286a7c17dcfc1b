import { isSliceOver, nextSlice } from '@skillstead/core/internal'
import { createHash } from 'node:crypto'
import { type PackEntries, toOffsetDelta } from './pack-entries.ts'
import { flushPacket, GitError, toBandPacket } from './pkt-line.ts'
import type { Commit, CommitVersion, PackObject } from './repository.ts'
import type { Selection } from './select-commits.ts'
import type { ChargeVersions, VersionTrees } from './version-trees.ts'

/** Maximum length of a chain of deltas: with a longer chain, its last object would cost clients much to read. */
const deltaDepthMax = 64
/** Maximum chain length for clients that read no offsets: go-git 5.4 finds a base by id only among whole objects. */
const idDeltaDepthMax = 1

/**
 * The content of a pack. The plan takes little memory, because the objects of versions are listed again while the pack
 * is sent.
 */
export interface PackPlan {
  /** Commits, tags and generated trees and files. */
  readonly objects: readonly PackObject[]
  /** Whether deltas name a base in the pack by its offset instead of its id. */
  readonly hasOffsets: boolean
  /** The versions whose trees and blobs follow `objects`. */
  readonly versions: readonly PlannedVersion[]
  readonly count: number
  /** Total size of the files, objects and deltas before compression. */
  readonly bytes: number
}

interface PlannedVersion {
  readonly version: CommitVersion
  /** For each object of the version, 1 if the pack contains it because of this version. */
  readonly isSent: Uint8Array
}

type ReadContent = VersionTrees['readContent']

interface Planning {
  readonly readContent: ReadContent
  readonly charge: ChargeVersions
  /** Aborted when the client is gone. */
  readonly signal?: AbortSignal
}

/**
 * Lists the objects of a selection, each once: commits and tags, the generated trees and files, then the trees and
 * blobs of versions that the client lacks. The base of a delta comes before the delta; with `isThin`, the base may
 * instead be an object that the client has. A version is charged and listed once, however many commits contain it.
 */
export async function planPack(selection: Selection, planning: Planning): Promise<PackPlan> {
  const { readContent, charge, signal } = planning
  const isContinued = createIsContinued(selection)
  const objects = await listTexts(selection, isContinued, signal)
  const { sent, had } = await selectVersionsToSend(selection, isContinued, signal)
  if (sent.length > 0) await charge(sent.length + had.length)
  const taken = new Set(objects.keys())
  for (const version of had) {
    if (isSliceOver()) await nextSlice(signal)
    for (const { id } of await readContent(version)) taken.add(id)
  }
  const versions: PlannedVersion[] = []
  let count = objects.size
  let bytes = 0
  for (const object of objects.values()) bytes += toObjectSize(object)
  for (const version of sent) {
    if (isSliceOver()) await nextSlice(signal)
    const content = await readContent(version)
    if (content.length === 0) throw new GitError(deletedMeanwhile)
    const isSent = new Uint8Array(content.length)
    for (const [i, object] of content.entries()) {
      if (taken.has(object.id)) continue
      taken.add(object.id)
      isSent[i] = 1
      count += 1
      bytes += toObjectSize(object)
    }
    versions.push({ version, isSent })
  }
  return { objects: [...objects.values()], hasOffsets: selection.readsOffsets, versions, count, bytes }
}

/** The error for a version without objects: a pack without them would break the clone. */
const deletedMeanwhile = 'A version was deleted meanwhile. Fetch again.'

function toObjectSize(object: PackObject): number {
  return 'bytes' in object ? object.bytes.length : object.size
}

/** Whether the client has the objects of a commit's parent, or gets them with this pack. */
type IsContinued = (commit: Commit) => boolean

function createIsContinued({ commits, known }: Selection): IsContinued {
  const parents = new Set([...commits, ...known].map(({ object }) => object.id))
  return ({ parent }) => parent !== undefined && parents.has(parent)
}

/** The commits, the tags, and the generated trees and files that the client lacks. */
async function listTexts(
  { commits, tags, known, isThin, readsOffsets }: Selection,
  isContinued: IsContinued,
  signal?: AbortSignal,
): Promise<Map<string, PackObject>> {
  const had = new Set(known.flatMap(({ texts }) => texts.map(({ id }) => id)))
  const objects = new Map<string, PackObject>()
  for (const { object } of [...commits, ...tags]) objects.set(object.id, object)
  const depths = new Map<string, number>()
  const depthMax = readsOffsets ? deltaDepthMax : idDeltaDepthMax
  // The commits are sorted newest first; the base of a delta is in an older commit.
  for (const commit of commits.toReversed()) {
    if (isSliceOver()) await nextSlice(signal)
    for (const object of isContinued(commit) ? commit.changedTexts : commit.texts) {
      if (had.has(object.id) || objects.has(object.id)) continue
      if (object.kind !== 'delta') {
        objects.set(object.id, object)
        continue
      }
      const depth = (depths.get(object.base) ?? 0) + 1
      const isUsable = depth <= depthMax && (objects.has(object.base) || (isThin && had.has(object.base)))
      objects.set(object.id, isUsable ? object : object.whole)
      if (isUsable) depths.set(object.id, depth)
    }
  }
  return objects
}

/**
 * The versions to send (`sent`), and the versions that the client has in the same folders (`had`), because the two may
 * share objects. Each digest occurs once.
 */
async function selectVersionsToSend(
  { history, commits, known }: Selection,
  isContinued: IsContinued,
  signal?: AbortSignal,
) {
  const inClient = await listCommitVersions(history, new Set(known), signal)
  const wanted = await listCommitVersions(history, new Set(commits.filter((commit) => !isContinued(commit))), signal)
  for (const commit of commits) {
    if (!isContinued(commit)) continue
    for (const version of commit.versions) wanted.set(version.digest, version)
  }
  const sent = [...wanted.values()].filter(({ digest }) => !inClient.has(digest))
  const folders = new Set(sent.map(({ folder }) => folder))
  return { sent, had: [...inClient.values()].filter(({ folder }) => folders.has(folder)) }
}

/**
 * The versions that `commits` of a history contain, by digest. Goes through the history once, newest first: one of the
 * commits contains a version if it lies between the version and the next version in the same folder.
 */
async function listCommitVersions(history: readonly Commit[], commits: ReadonlySet<Commit>, signal?: AbortSignal) {
  const versions = new Map<string, CommitVersion>()
  if (commits.size === 0) return versions
  /** For each folder, the number of `commits` that are newer than the folder's next version. */
  const passed = new Map<string, number>()
  let count = 0
  for (let at = history.length - 1; at >= 0; at--) {
    if (isSliceOver()) await nextSlice(signal)
    const commit = history[at]!
    if (commits.has(commit)) count += 1
    for (const version of commit.versions) {
      if (count > (passed.get(version.folder) ?? 0)) versions.set(version.digest, version)
      passed.set(version.folder, count)
    }
    if (commit.isCumulative) continue
    passed.clear()
    count = 0
  }
  return versions
}

/** Number of objects of versions that are listed at a time. */
const listedObjectsMax = 256

/** Writes a pack (gitformat-pack), version 2. */
export async function* writePack(
  entries: PackEntries,
  { objects, hasOffsets, versions, count }: PackPlan,
  { readContent, signal }: Omit<Planning, 'charge'>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha1')
  const head = Buffer.alloc(12)
  head.write('PACK', 'latin1')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(count, 8)
  hash.update(head)
  yield head
  /** The offsets in the pack of the objects that may be bases of deltas, by the object's id. */
  const places = new Map<string, number>()
  let at = head.length
  let index = 0
  // `entries` yields one entry per generated object, in the order of `objects`.
  for await (const entry of entries.read(objects, signal)) {
    const object = objects[index++]!
    const base = hasOffsets && object.kind === 'delta' ? places.get(object.base) : undefined
    const sent = base === undefined ? entry : toOffsetDelta(entry, at - base)
    if (hasOffsets) places.set(object.id, at)
    at += sent.length
    hash.update(sent)
    yield sent
  }
  for (let next = 0; next < versions.length;) {
    const batch: PackObject[] = []
    for (; next < versions.length && batch.length < listedObjectsMax; next++) {
      const { version, isSent } = versions[next]!
      const content = await readContent(version)
      if (content.length !== isSent.length) throw new GitError(deletedMeanwhile)
      for (const [i, object] of content.entries()) if (isSent[i] === 1) batch.push(object)
    }
    for await (const entry of entries.read(batch, signal)) {
      hash.update(entry)
      yield entry
    }
  }
  yield hash.digest()
}

/** Puts a pack into packets. If the pack fails, ends the response with the text that `toMessage` returns. */
export async function* toBands(
  pack: AsyncIterable<Uint8Array>,
  dataBytesMax: number,
  toMessage: (error: unknown) => string,
): AsyncGenerator<Uint8Array> {
  try {
    let parts: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of pack) {
      for (let at = 0; at < chunk.length;) {
        const part = chunk.subarray(at, at + dataBytesMax - bytes)
        parts.push(part)
        bytes += part.length
        at += part.length
        if (bytes < dataBytesMax) continue
        yield toBandPacket(1, parts)
        parts = []
        bytes = 0
      }
    }
    if (bytes > 0) yield toBandPacket(1, parts)
  } catch (error) {
    yield toBandPacket(3, [Buffer.from(`${toMessage(error)}\n`)])
  }
  yield flushPacket
}

/** Yields the packets before a pack (`head`), and then the pack. */
export async function* prependPackets(head: Uint8Array, pack: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head
  yield* pack
}
