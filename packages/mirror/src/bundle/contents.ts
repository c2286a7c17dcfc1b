import type { MirrorContext } from '../run.ts'
import {
  findPublicVersions,
  type LogText,
  type PublicVersion,
  readContents,
  readVersionFiles,
} from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { parseEntry } from '../applying/entry-data.ts'
import { readEntryFiles } from '../applying/entry-files.ts'
import { parseForeignJson, toManifest, type ManifestFile } from '@skillstead/protocol'
import { explainFiltered, hasFilters, type Filtered } from '../filters.ts'
import type { FeedEntry, Filters } from '../types.ts'
import { createNeeds, type Needs } from './needs.ts'

/** What goes into a bundle beside the log, found before the first byte of it is written. */
export interface BundleContents {
  /** How long each piece of content is, by its digest, in the order of {@link createNeeds}. */
  readonly sizes: ReadonlyMap<string, number>
  /** Lists of files that their entries have no room for, by the digest of the version. */
  readonly lists: ReadonlyMap<string, Buffer>
  /** Entries of versions, and how many of these have all of their content here. */
  readonly versions: number
  readonly complete: number
  /** Of the content together. */
  readonly bytes: number
}

/** The content of the versions that the entries tell of, that everyone may read now and that pass the filters. */
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
    const written = entries
      .filter(({ type }) => type === 'version')
      .map(({ entry }) => parseForeignJson(entry) as FeedEntry)
    versions += written.length
    for (const entry of written) needs.add(entry)
    const told = written.flatMap(toTold)
    const found = await findVersions(context, told)
    for (const one of told) {
      // Under another id a skill is here which the upstream lost, and has again.
      const version = found.get(toKey(one.skillId, one)) ?? found.get(toKey(`${one.owner}/${one.name}`, one))
      if (!version || (hasFilters(filters) && isFiltered(filters, one, version))) continue
      const { files, list } = await readFiles(context, one, version)
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

/** In the order of the bundle. */
async function toOrdered(
  context: MirrorContext,
  { sizes, lists, needs }: { sizes: ReadonlyMap<string, number>; lists: ReadonlyMap<string, Buffer>; needs: Needs },
): Promise<Map<string, number>> {
  for (const [digest, list] of lists) needs.readList(digest, list)
  // A file can be the list of another version, whose own content is not in the bundle: readers take it for a list.
  const others = [...sizes.keys()].filter((digest) => needs.isList(digest) && !lists.has(digest))
  const contents = others.length === 0 ? [] : await readContents(context, others)
  for (const [digest, bytes] of contents) needs.readList(digest, bytes)
  return new Map([...sizes].toSorted(([a], [b]) => needs.placeOf(a)! - needs.placeOf(b)!))
}

/** What a bundle looks at in the entry of a version. */
interface Told extends Filtered {
  readonly entry: FeedEntry
  readonly digest: string
  readonly skillId: string
  readonly version: string
}

/** None of an entry that an upstream made up: nothing came in by it. */
function toTold(entry: FeedEntry): Told[] {
  const one = parseEntry(entry)
  if (typeof one !== 'object' || one.type !== 'version') return []
  const { skill, owner, version, keywords, category, license } = one.data
  const { size } = entry.data
  const what = { keywords, category, license, ...(typeof size === 'number' && { size }) }
  return [
    { entry, digest: entry.digest!, skillId: skill.id, owner: owner.username, name: skill.name, version, ...what },
  ]
}

async function findVersions(context: MirrorContext, told: readonly Told[]): Promise<Map<string, PublicVersion>> {
  const digests = [...new Set(told.map(({ digest }) => digest))]
  const found = await findPublicVersions(context, digests)
  return new Map(
    found.flatMap((version) => [version.skillId, version.fullName].map((skill) => [toKey(skill, version), version])),
  )
}

function toKey(skill: string, { version, digest }: { version: string; digest: string }): string {
  return `${skill}@${version} ${digest}`
}

/**
 * The files of a version, and their list where the entry has no room for it. An upstream may have written an entry about
 * what is here with other files than these, to be handed content that is nobody's to read: of that there are none.
 */
async function readFiles(
  context: MirrorContext,
  { entry, digest }: Told,
  { id }: PublicVersion,
): Promise<{ files?: readonly ManifestFile[]; list?: Buffer }> {
  const said = readEntryFiles(entry, new Map())
  if ('problem' in said) return {}
  const files = 'files' in said ? said.files : await readVersionFiles(context, id)
  const list = Buffer.from(toManifest(files))
  if (toDigest(list) !== digest) return {}
  return 'files' in said ? { files } : { files, list }
}

function isFiltered(filters: Filters, told: Told, { securityScore, isVerified }: PublicVersion): boolean {
  if (filters.verified && !isVerified) return true
  if (filters.minSecurityScore !== undefined && (securityScore ?? 0) < filters.minSecurityScore) return true
  return explainFiltered(filters, told) !== undefined
}

/** How much content is read at a time. */
const batchBytesMax = 4 * 1024 * 1024
const batchMax = 250

/** The content in its order, with no more of it in memory than a batch. */
export async function* readInOrder(
  context: MirrorContext,
  { sizes, lists }: BundleContents,
): AsyncGenerator<{ digest: string; bytes: Uint8Array }> {
  for (const digests of toBatches(sizes)) {
    const contents = await readContents(context, digests)
    for (const digest of digests) {
      const bytes = lists.get(digest) ?? contents.get(digest)
      if (!bytes) throw new Error(`The storage lacks the blob ${digest}.`)
      yield { digest, bytes }
    }
  }
}

function* toBatches(sizes: ReadonlyMap<string, number>): Generator<string[]> {
  let batch: string[] = []
  let bytes = 0
  for (const [digest, size] of sizes) {
    if (batch.length > 0 && (batch.length === batchMax || bytes + size > batchBytesMax)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(digest)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
