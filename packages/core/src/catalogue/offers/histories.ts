import { RegistryError, compareVersions } from '@skillstead/protocol'
import { findGitProblems } from '@skillstead/skill-format/archives'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { CallOptions } from '../../kernel/call-options.ts'
import type { Caller } from '../../kernel/caller.ts'
import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { countAndAnswer, type DiscoveryScope, type Offer, readOffersInBulk } from './offers.ts'
import { getSkill } from '../skills/find-skill.ts'
import { countDownload } from '../skills/read-skill.ts'
import { selectListedVersions } from '../versions/skill-document.ts'
import { isOffered } from '../versions/recalls.ts'
import { readFileRowsOfMany } from '../versions/version-files.ts'
import type { FileRow } from '../versions/stored-version.ts'
import { parseJson, type VersionMetadata, type VersionRow } from '../../storage/tables.ts'

/** A skill with all its versions, for protocols that serve its history. */
export interface SkillHistory {
  readonly name: string
  /** Empty if no version is offered. */
  readonly latestVersion: string
  /** Lowest first, including yanked and recalled versions. */
  readonly versions: readonly {
    readonly id: string
    readonly version: string
    readonly digest: string
    /** Milliseconds since 1970. */
    readonly publishedAt: number
    /** The user who published the version, who need not be the owner of the skill now. */
    readonly publisher: string
    /** Neither yanked nor recalled. */
    readonly isOffered: boolean
    readonly isRecalled: boolean
  }[]
  /** Counts a download of the latest version by anyone but the owner. */
  countDownload(options: Pick<CallOptions, 'client' | 'kind' | 'address'>): void
}

/** The history of a skill. Throws the errors of reading a skill, and `not_found` for a skill without content. */
export function readSkillHistory(context: CatalogueContext, name: string, caller: Caller): Promise<SkillHistory> {
  return countAndAnswer(context, async () => {
    const skill = await getSkill(context, name, caller)
    const rows = await selectListedVersions(context.database.read, { skillId: skill.id })
    if (rows.length === 0) throw new RegistryError('not_found', `${skill.full_name} has no versions.`)
    return {
      name: skill.name,
      latestVersion: skill.latest_version,
      versions: rows.toReversed().map((row) => {
        const { id, version, digest, published_at, publisher } = row
        return {
          id,
          version,
          digest,
          publishedAt: published_at,
          publisher,
          isOffered: isOffered(row),
          isRecalled: row.recalled_by !== null,
        }
      }),
      countDownload: (options) =>
        countDownload(context, { skill, version: { version: skill.latest_version } }, caller, options),
    }
  })
}

/**
 * The files of versions, by version id. Leaves out versions that are quarantined for files that git would use as a
 * repository: no one may read their content. Does not check other permissions.
 */
export async function readReadableFiles({ database }: StorageContext, versionIds: readonly string[]) {
  const readable = new Map<string, readonly FileRow[]>()
  for (const [id, list] of await readFileRowsOfMany(database.read, versionIds)) {
    if (isSliceOver()) await nextSlice()
    if (findGitProblems(list.map(({ path }) => path)).length === 0) readable.set(id, list)
  }
  return readable
}

/** A version in the history of an owner or of a pack. */
export interface RepositoryVersion extends Pick<VersionRow, 'id' | 'digest' | 'version' | 'size'> {
  readonly owner: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly publishedAt: number
}

/** Maximum versions of an owner or of a pack. If there are more, only the current versions are read. */
const repositoryVersionsMax = 20_000
/** Approximate number of versions per query: a query of SQLite blocks the event loop. */
const rowsPerQuery = 1000
const offersFirst = 20
const idsPerQuery = 250

/**
 * The versions of an owner's skills that everyone may see, or of a pack's skills that the caller may see, in the order
 * of their publication. Leaves out yanked, recalled and dangerous versions. Of a skill that the pack pins, the only
 * version is the pinned version, even if it is yanked. The highest version of each skill is its current version. Throws
 * the reason of the signal if the client disconnected.
 */
export function readRepositoryVersions(
  context: CatalogueContext,
  scope: Extract<DiscoveryScope, { of: 'owner' | 'pack' }>,
  caller: Caller,
  signal?: AbortSignal,
): Promise<RepositoryVersion[]> {
  return countAndAnswer(context, async () => {
    const offers = await readOffersInBulk(context, scope, caller)
    const versions =
      (await readOfferedVersions(context, offers, { signal })) ??
      (await readOfferedVersions(context, offers, { signal, areOnlyOffered: true })) ??
      []
    return sortVersions(versions, signal)
  })
}

/** Sorts versions by time, skill and number. Comparing 20,000 versions at once would block the event loop. */
async function sortVersions(versions: readonly RepositoryVersion[], signal?: AbortSignal) {
  const skills = Map.groupBy(versions, ({ owner, name }) => `${owner}/${name}`)
  const sorted: RepositoryVersion[] = []
  for (const [, list] of [...skills].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (isSliceOver()) await nextSlice(signal)
    sorted.push(...list.toSorted((a, b) => compareVersions(a.version, b.version)))
  }
  return sorted.toSorted((a, b) => a.publishedAt - b.publishedAt)
}

/** All versions of the offered skills, or only the offered versions. Undefined above `repositoryVersionsMax`. */
async function readOfferedVersions(
  { database }: StorageContext,
  offers: readonly Offer[],
  { signal, areOnlyOffered = false }: { signal: AbortSignal | undefined; areOnlyOffered?: boolean },
) {
  const versions: RepositoryVersion[] = []
  let left = repositoryVersionsMax
  let size = offersFirst
  for (let at = 0; at < offers.length;) {
    signal?.throwIfAborted()
    if (isSliceOver()) await nextSlice(signal)
    const batch = new Map(offers.slice(at, at + size).map((offer) => [offer.id, offer]))
    at += size
    const rows = await database.read
      .selectFrom('versions as offered')
      .innerJoin('versions', 'versions.skill_id', 'offered.skill_id')
      .leftJoin('scans', 'scans.version_id', 'versions.id')
      .select(['offered.id as offered_id', 'versions.id', 'versions.digest', 'versions.version', 'versions.size'])
      .select(['versions.published_at', 'versions.yanked', 'versions.recalled_by', 'scans.verdict'])
      .where('offered.id', 'in', [...batch.keys()])
      .$if(areOnlyOffered, (select) => select.whereRef('versions.id', '=', 'offered.id'))
      .limit(left + 1)
      .execute()
    left -= rows.length
    if (left < 0) return undefined
    // The batch size adapts, because a skill may have one version or hundreds.
    size = rows.length < rowsPerQuery / 2 ? Math.min(size * 2, idsPerQuery) : Math.ceil(size / 2)
    for (const { offered_id, published_at: publishedAt, verdict, yanked, recalled_by, ...version } of rows) {
      const { owner, name, isPinned = false } = batch.get(offered_id)!
      const isOlder = !isPinned && isOffered({ yanked, recalled_by }) && verdict !== 'dangerous'
      if (recalled_by === null && (version.id === offered_id || isOlder))
        versions.push({ ...version, owner, name, publishedAt })
    }
  }
  return versions
}

/**
 * The descriptions, licenses and keywords in the SKILL.md of versions, by version id. Later metadata changes by the
 * owner do not apply.
 */
export async function readVersionTexts({ database }: StorageContext, versionIds: readonly string[]) {
  const texts = new Map<string, Pick<VersionMetadata, 'description' | 'license' | 'keywords'>>()
  for (let at = 0; at < versionIds.length; at += idsPerQuery) {
    if (isSliceOver()) await nextSlice()
    const rows = await database.read
      .selectFrom('versions')
      .select(['id', 'metadata'])
      .where('id', 'in', versionIds.slice(at, at + idsPerQuery))
      .execute()
    for (const { id, metadata } of rows) {
      const { description, license, keywords } = parseJson(metadata)
      texts.set(id, { description, license, keywords })
    }
  }
  return texts
}
