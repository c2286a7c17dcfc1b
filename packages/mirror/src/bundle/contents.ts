import type { MirrorContext } from '../run.ts'
import {
  findPublicVersions,
  type LogText,
  type PublicVersion,
  readContents,
  readFileRows,
} from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { parseFeedEntry, parseEntry } from '../applying/entry-data.ts'
import { readEntryFiles } from '../applying/entry-files.ts'
import { toManifest, type ManifestFile } from '@skillstead/protocol'
import { toRequestBatches } from '../log/fetch-blobs.ts'
import { explainFiltered, hasFilters, type Filtered } from '../filters.ts'
import type { FeedEntry, Filters } from '../types.ts'
import { createNeeds, type Needs } from './needs.ts'

/** The content of a bundle in addition to the log. It is determined before the first byte of the bundle is written. */
export interface BundleContents {
  /** The size of each blob by digest, in the order of {@link createNeeds}. */
  readonly sizes: ReadonlyMap<string, number>
  /** File lists that are too long for their entries, by the digest of the version. */
  readonly lists: ReadonlyMap<string, Buffer>
  /** `versions`: number of version entries. `complete`: number of those with all their content in the bundle. */
  readonly versions: number
  readonly complete: number
  /** Total size of the content in bytes. */
  readonly bytes: number
}

/** Finds the content of the versions in the log that are public now and pass the filters. */
export async function findContents(
  context: MirrorContext,
  { texts, filters }: { texts: AsyncIterable<readonly LogText[]>; filters: Filters },
): Promise<BundleContents> {
  const sizes = new Map<string, number>()
  const needs = createNeeds()
  const lists = new Map<string, Buffer>()
  let [versions, complete, bytes] = [0, 0, 0]

  function add({ digest, size }: { digest: string; size: number }): void {
    if (sizes.has(digest)) return
    sizes.set(digest, size)
    bytes += size
  }

  for await (const entries of texts) {
    const written = entries.filter(({ type }) => type === 'version').map(({ entry }) => parseEntry(entry))
    versions += written.length
    for (const entry of written) needs.add(entry)
    const listed = written.flatMap(toListedVersions)
    const found = await findVersions(context, listed)
    for (const one of listed) {
      // Skills are also found by full name: a skill that the upstream lost and published again has another id in its
      // log.
      const version =
        found.get(toContentKey(one.skillId, one)) ?? found.get(toContentKey(`${one.owner}/${one.name}`, one))
      if (!version || (hasFilters(filters) && isFiltered(filters, one, version))) continue
      const { files, list } = await readListedFiles(context, one, version)
      if (!files) continue
      complete += 1
      if (list) {
        if (!sizes.has(one.digest)) lists.set(one.digest, list)
        add({ digest: one.digest, size: list.length })
      }
      for (const file of files) add(file)
    }
  }
  return { sizes: await toOrdered(context, { sizes, lists, needs }), lists, versions, complete, bytes }
}

/** Sorts the blobs into the order of the bundle. */
async function toOrdered(
  context: MirrorContext,
  { sizes, lists, needs }: { sizes: ReadonlyMap<string, number>; lists: ReadonlyMap<string, Buffer>; needs: Needs },
): Promise<Map<string, number>> {
  for (const [digest, list] of lists) needs.readList(digest, list)
  // A file can have the same bytes as the file list of another version whose content is not in the bundle. Readers then
  // treat the file as a list, so the files that it names determine the order too.
  const others = [...sizes.keys()].filter((digest) => needs.isList(digest) && !lists.has(digest))
  const contents = others.length === 0 ? [] : await readContents(context, others)
  for (const [digest, bytes] of contents) needs.readList(digest, bytes)
  return new Map([...sizes].toSorted(([a], [b]) => needs.placeOf(a)! - needs.placeOf(b)!))
}

/** The fields of a version's entry that a bundle needs. */
interface ListedVersion extends Filtered {
  readonly entry: FeedEntry
  readonly digest: string
  readonly skillId: string
  readonly version: string
}

/** The version that an entry publishes; empty for other entries and for malformed ones, which were not imported. */
function toListedVersions(entry: FeedEntry): ListedVersion[] {
  const one = parseFeedEntry(entry)
  if (typeof one !== 'object' || one.type !== 'version') return []
  const { skill, owner, version, keywords, category, license } = one.data
  const { size } = entry.data
  const what = { keywords, category, license, ...(typeof size === 'number' && { size }) }
  return [
    { entry, digest: entry.digest!, skillId: skill.id, owner: owner.username, name: skill.name, version, ...what },
  ]
}

async function findVersions(
  context: MirrorContext,
  listed: readonly ListedVersion[],
): Promise<Map<string, PublicVersion>> {
  const digests = [...new Set(listed.map(({ digest }) => digest))]
  const found = await findPublicVersions(context, digests)
  return new Map(
    found.flatMap((version) =>
      [version.skillId, version.fullName].map((skill) => [toContentKey(skill, version), version]),
    ),
  )
}

function toContentKey(skill: string, { version, digest }: { version: string; digest: string }): string {
  return `${skill}@${version} ${digest}`
}

/**
 * The files of a version, and their list if it is too long for the entry. Empty if the entry's digest does not match
 * the stored files, because a false entry of an upstream must not make the bundle contain private files.
 */
async function readListedFiles(
  context: MirrorContext,
  { entry, digest }: ListedVersion,
  { id }: PublicVersion,
): Promise<{ files?: readonly ManifestFile[]; list?: Buffer }> {
  const declared = readEntryFiles(entry, new Map())
  if ('problem' in declared) return {}
  const files = 'files' in declared ? declared.files : await readFileRows(context.database.read, id)
  const list = Buffer.from(toManifest(files))
  if (toDigest(list) !== digest) return {}
  return 'files' in declared ? { files } : { files, list }
}

function isFiltered(filters: Filters, listed: ListedVersion, { securityScore, isVerified }: PublicVersion): boolean {
  if (filters.verified && !isVerified) return true
  if (filters.minSecurityScore !== undefined && (securityScore ?? 0) < filters.minSecurityScore) return true
  return explainFiltered(filters, listed) !== undefined
}

/** Maximum size and number of the blobs that are read at once. */
const readLimits = { bytesMax: 4 * 1024 * 1024, countMax: 250 }

/** Reads the content in the order of the bundle, with at most one batch in memory. */
export async function* readInOrder(
  context: MirrorContext,
  { sizes, lists }: BundleContents,
): AsyncGenerator<{ digest: string; bytes: Uint8Array }> {
  for (const digests of toRequestBatches(sizes.keys(), (digest) => sizes.get(digest)!, readLimits)) {
    const contents = await readContents(context, digests)
    for (const digest of digests) {
      const bytes = lists.get(digest) ?? contents.get(digest)
      if (!bytes) throw new Error(`The blob ${digest} is missing from the storage. Run \`skillstead doctor\`.`)
      yield { digest, bytes }
    }
  }
}
