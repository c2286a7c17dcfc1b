import {
  findPublicVersions,
  readContents,
  readLogTexts,
  readVersionFiles,
  toDigest,
  type LogText,
  type PublicVersion,
  type Registry,
} from '@skillstead/core'
import { toManifest, type ManifestFile } from '@skillstead/protocol'
import { explainFiltered, hasFilters } from '../filters.ts'
import type { Filters } from '../types.ts'

/** What goes into a bundle beside the log, found before the first byte of it is written. */
export interface BundleContents {
  /** How long each piece of content is, by its digest, in the order in which the entries need them. */
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
  registry: Registry,
  { since, until, filters }: { since: number; until: number; filters: Filters },
): Promise<BundleContents> {
  const sizes = new Map<string, number>()
  const lists = new Map<string, Buffer>()
  let [versions, complete, bytes] = [0, 0, 0]

  function add({ digest, size }: { digest: string; size: number }): void {
    if (sizes.has(digest)) return
    sizes.set(digest, size)
    bytes += size
  }

  for await (const entries of readLogTexts(registry, { after: since, until })) {
    const told = entries.filter(({ type }) => type === 'version').map(toTold)
    versions += told.length
    const found = await findVersions(registry, told)
    for (const entry of told) {
      const version = found.get(toKey(entry))
      if (!version || (hasFilters(filters) && isFiltered(filters, entry, version))) continue
      complete += 1
      const files = entry.files ?? (await readVersionFiles(registry, version.id))
      if (!entry.files) {
        const list = Buffer.from(toManifest(files))
        const digest = toDigest(list)
        if (!sizes.has(digest)) lists.set(digest, list)
        add({ digest, size: list.length })
      }
      for (const file of files) add(file)
    }
  }
  return { sizes, lists, versions, complete, bytes }
}

/** What a bundle looks at in the entry of a version. */
interface Told {
  readonly digest: string
  readonly skillId: string
  readonly owner: string
  readonly name: string
  readonly version: string
  readonly size: number
  readonly files: readonly ManifestFile[] | null
  readonly keywords: readonly string[]
  readonly category: string
  readonly license: string
}

function toTold({ digest, entry }: LogText): Told {
  const { data } = JSON.parse(entry) as {
    data: Omit<Told, 'digest' | 'skillId' | 'owner' | 'name'> & {
      skill: { id: string; name: string }
      owner: { username: string }
    }
  }
  const { skill, owner, version, size, files, keywords, category, license } = data
  const what = { version, size, files, keywords, category, license }
  return { digest: digest!, skillId: skill.id, owner: owner.username, name: skill.name, ...what }
}

async function findVersions(registry: Registry, told: readonly Told[]): Promise<Map<string, PublicVersion>> {
  const digests = [...new Set(told.map(({ digest }) => digest))]
  const found = await findPublicVersions(registry, digests)
  return new Map(found.map((version) => [toKey(version), version]))
}

function toKey({ skillId, version }: { skillId: string; version: string }): string {
  return `${skillId}@${version}`
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
  registry: Registry,
  { sizes, lists }: BundleContents,
): AsyncGenerator<{ digest: string; bytes: Uint8Array }> {
  for (const digests of toBatches(sizes)) {
    const contents = await readContents(registry, digests)
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
