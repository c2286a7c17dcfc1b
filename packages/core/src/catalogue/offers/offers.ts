import { RegistryError } from '@skillstead/protocol'
import { isDangerousScore } from '@skillstead/scanner'
import { sql } from 'kysely'
import { readBlobPart } from '../../storage/read-blobs.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { getUserByName } from '../../accounts/find-user.ts'
import { type Caller, guest } from '../../kernel/caller.ts'
import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import { toRegistryError } from '../../storage/storage-error.ts'
import { parseJson, type SkillRow, type VersionRow } from '../../storage/tables.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { readBlobsByDigest } from './artifacts.ts'
import { getPack } from '../sharing/read-packs.ts'
import { getSkillVersion } from '../skills/read-skill.ts'
import { withShare } from '../sharing/share-links.ts'
import type { FileRow } from '../versions/stored-version.ts'
import { searchSkills } from '../finding/skill-search.ts'
import { offeredVersion } from '../versions/recalls.ts'
import { readFileRowsOfMany } from '../versions/version-files.ts'
import { keepSeen } from '../../visibility/decisions.ts'
import { isListedFor, isListedSkill, openVisibilities } from '../../visibility/conditions.ts'

/** A version of a skill that an index may offer. */
export interface Offer extends Pick<VersionRow, 'id' | 'digest' | 'version'> {
  readonly owner: string
  readonly name: string
  readonly description: string
  /** When the version was published, in milliseconds since 1970. */
  readonly publishedAt: number
  /** Whether a pack pins this version. */
  readonly isPinned?: boolean
}

/** Maximum skills read for the index of an owner. Skills that cannot be installed count, too. */
const ownerSkillsMax = 1000

/**
 * The skills of a scope that the caller may see, limited to the skills with `name` if given. The skills of an owner are
 * ordered by downloads. Throws what reading the wanted skill or pack throws.
 */
export async function readOffers(
  context: StorageContext,
  scope: DiscoveryScope,
  caller: Caller,
  name?: string,
): Promise<Offer[]> {
  switch (scope.of) {
    case 'owner':
      if (name === undefined) return readOffersOfOwner(context, scope.owner, caller)
      return [await readOfferOfSkill(context, { name: `${scope.owner}/${name}` }, caller)]
    case 'skill':
      if (name !== undefined && name !== scope.name) return []
      return [await readOfferOfSkill(context, { name: `${scope.owner}/${scope.name}`, version: scope.version }, caller)]
    case 'pack':
      return readOffersOfPack(context, scope.slug, caller, name)
    case 'share': {
      const { fullName, holder } = await openShare(context, scope.token)
      if (name !== undefined && fullName.split('/')[1] !== name) return []
      return [await readOfferOfSkill(context, { name: fullName }, holder)]
    }
  }
}

/** Maximum skills in a repository with all skills of an owner. */
const repositorySkillsMax = 5000

/** Skills per query: a query of SQLite blocks the event loop. */
const offersPerQuery = 200

/** An owner's skills that everyone may see, in no particular order, or a pack's skills that the caller may see. */
export async function readOffersInBulk(
  context: StorageContext,
  scope: Extract<DiscoveryScope, { of: 'owner' | 'pack' }>,
  caller: Caller,
): Promise<Offer[]> {
  if (scope.of === 'pack') return readOffersOfPack(context, scope.slug, caller)
  const { id } = await getUserByName(context, scope.owner)
  const skills = await selectOwnedIds(context, id, repositorySkillsMax).where(isListedFor(guest)).execute()
  const offers: Offer[] = []
  for (let at = 0; at < skills.length; at += offersPerQuery) {
    if (isSliceOver()) await nextSlice()
    const ids = skills.slice(at, at + offersPerQuery).map((skill) => skill.id)
    const rows = await selectLatestOffers(context).where('skills.id', 'in', ids).execute()
    offers.push(...(await toOffers(context, rows, guest)))
  }
  return offers
}

/** Maximum skills in a list of an owner's skills for installers, which download every listed skill. */
export const ownerEntriesMax = 200

/**
 * The number of skills in the list of a scope, without private skills: a rate limit must not reveal how many private
 * skills exist. Throws the errors of reading the owner or the pack.
 */
export async function countListed(context: StorageContext, scope: DiscoveryScope, caller: Caller): Promise<number> {
  const open = openVisibilities(caller)
  if (scope.of === 'owner') {
    const { id } = await getUserByName(context, scope.owner)
    const listed = selectOwnedIds(context, id, ownerEntriesMax).where(isListedSkill)
    return (await listed.where('visibility', 'in', open).execute()).length
  }
  if (scope.of !== 'pack') return 1
  const pack = await getPack(context, scope.slug, caller)
  const { count } = await context.database.read
    .selectFrom('pack_skills')
    .innerJoin('skills', 'skills.id', 'pack_skills.skill_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('pack_skills.pack_id', '=', pack.id)
    .where('skills.visibility', 'in', open)
    .executeTakeFirstOrThrow()
  return count
}

/** A page of all skills that the caller may see, most downloaded first. */
async function readOffersOfPage(
  context: CatalogueContext,
  { page, limit }: { page: number; limit: number },
  caller: Caller,
): Promise<{ offers: Offer[]; totalPages: number }> {
  const everything = { q: '', includeStubs: false, explain: false, facets: false }
  const { skills, totalPages } = await searchSkills(context, { ...everything, page, limit }, caller)
  if (skills.length === 0) return { offers: [], totalPages }
  const ids = skills.map(({ id }) => id)
  const rows = await selectLatestOffers(context).where('skills.id', 'in', ids).execute()
  const found = rows.toSorted((a, b) => ids.indexOf(a.skill_id) - ids.indexOf(b.skill_id))
  return { offers: await toOffers(context, found, caller), totalPages }
}

async function readOfferOfSkill(context: StorageContext, input: { name: string; version?: string }, caller: Caller) {
  const { skill, version } = await getSkillVersion(context, input, caller)
  const { owner, name } = skill
  const description = toOfferDescription(skill, skill.described_by === version.version ? null : version.metadata)
  const { id, digest, version: number, published_at: publishedAt } = version
  return { id, digest, version: number, owner, name, description, publishedAt }
}

async function readOffersOfOwner(context: StorageContext, username: string, caller: Caller): Promise<Offer[]> {
  const { id } = await getUserByName(context, username)
  const rows = await selectLatestOffers(context)
    // Only the selected skills are joined: an owner may have thousands.
    .where('skills.id', 'in', selectOwnedIds(context, id, ownerSkillsMax).where(isListedFor(caller)))
    .orderBy('skills.downloads', 'desc')
    .orderBy('skills.name')
    .execute()
  return toOffers(context, rows, caller)
}

/** The most downloaded skills of an owner. The caller of this function adds who may see them. */
function selectOwnedIds({ database }: StorageContext, ownerId: string, skillsMax: number) {
  return database.read
    .selectFrom('skills')
    .select('id')
    .where('owner_id', '=', ownerId)
    .orderBy('downloads', 'desc')
    .orderBy('name')
    .limit(skillsMax)
}

function selectLatestOffers({ database }: StorageContext) {
  return database.read
    .selectFrom('skills')
    .innerJoin('versions', (join) =>
      join
        .onRef('versions.skill_id', '=', 'skills.id')
        .onRef('versions.version', '=', 'skills.latest_version')
        .on(offeredVersion),
    )
    .leftJoin('scans', 'scans.version_id', 'versions.id')
    .select(offerColumns)
    .select(ownMetadataColumn)
}

async function readOffersOfPack(context: StorageContext, slug: string, caller: Caller, name?: string) {
  const pack = await getPack(context, slug, caller)
  const rows = await context.database.read
    .selectFrom('pack_skills')
    .innerJoin('skills', 'skills.id', 'pack_skills.skill_id')
    .innerJoin('versions', (join) =>
      join
        .onRef('versions.skill_id', '=', 'skills.id')
        .on('versions.version', '=', (eb) => eb.fn.coalesce('pack_skills.pinned_version', 'skills.latest_version')),
    )
    .leftJoin('scans', 'scans.version_id', 'versions.id')
    .select(offerColumns)
    .select([ownMetadataColumn, 'pack_skills.pinned_version'])
    .where('pack_skills.pack_id', '=', pack.id)
    // A pack may pin a yanked version, but a recalled version is never offered.
    .where('versions.recalled_by', 'is', null)
    .$if(name !== undefined, (select) => select.where('skills.name', '=', name!))
    .orderBy('pack_skills.position')
    .execute()
  return toOffers(context, rows, caller)
}

const offerColumns = [
  ...(['skills.id as skill_id', 'skills.owner_id', 'skills.visibility', 'skills.state', 'skills.full_name'] as const),
  ...(['skills.owner', 'skills.name', 'skills.description', 'skills.moderation'] as const),
  ...(['skills.latest_version', 'skills.security_score'] as const),
  ...(['versions.id', 'versions.digest', 'versions.version', 'versions.published_at', 'scans.verdict'] as const),
] as const

/** Metadata from the owner applies only to the version in `described_by`; other versions use that of their SKILL.md. */
const ownMetadataColumn = sql<VersionRow['metadata'] | null>`case when versions.version = skills.described_by then null
  else versions.metadata end`.as('own_metadata')

type OfferRow = Awaited<ReturnType<ReturnType<typeof selectLatestOffers>['execute']>>[number] & {
  readonly pinned_version?: string | null
}

/** The skills that the caller may see, without flagged and dangerous skills, which should not be installed in bulk. */
async function toOffers(context: StorageContext, rows: readonly OfferRow[], caller: Caller): Promise<Offer[]> {
  const skills = rows.map(({ skill_id, owner_id, visibility, state, full_name }) => {
    return { id: skill_id, owner_id, visibility, state, full_name }
  })
  const seen = new Set((await keepSeen(context, skills, caller)).map(({ id }) => id))
  return rows
    .filter((row) => seen.has(row.skill_id) && row.moderation !== 'flagged' && !isDangerousOffer(row))
    .map((row) => {
      const { id, digest, version, owner, name, published_at: publishedAt } = row
      const offer = {
        id,
        digest,
        version,
        owner,
        name,
        description: toOfferDescription(row, row.own_metadata),
        publishedAt,
      }
      return row.pinned_version ? { ...offer, isPinned: true } : offer
    })
}

/** Whether a version is dangerous by its scan or, if it is the latest, by the skill's score, which covers metadata. */
function isDangerousOffer({ verdict, version, latest_version, security_score }: OfferRow): boolean {
  return verdict === 'dangerous' || (version === latest_version && isDangerousScore(security_score))
}

function toOfferDescription(skill: Pick<SkillRow, 'description'>, ownMetadata: VersionRow['metadata'] | null): string {
  return ownMetadata === null ? skill.description : parseJson(ownMetadata).description
}

/** A listed skill with the files of its latest version, SKILL.md first. */
export interface OfferedSkill extends Pick<Offer, 'name' | 'version' | 'description'> {
  readonly fullName: string
  readonly files: readonly FileRow[]
}

/**
 * A page of all skills that the caller may see, most downloaded first. The number of queries does not grow with the
 * page. Skills that should not be installed in bulk are left out, so a page may be short.
 */
export function listOffers(context: CatalogueContext, page: { page: number; limit: number }, caller: Caller) {
  return countAndAnswer(context, async () => {
    const { offers, totalPages } = await readOffersOfPage(context, page, caller)
    const skills = offers.map(({ id, owner, name, version, description }) => {
      return { id, fullName: `${owner}/${name}`, name, version, description }
    })
    return { skills, totalPages }
  })
}

/** Skills that {@link listOffers} returned, with their files. Does not check permissions. */
export async function addOfferedFiles(
  { database }: StorageContext,
  skills: readonly (Omit<OfferedSkill, 'files'> & Pick<Offer, 'id'>)[],
): Promise<OfferedSkill[]> {
  const files = await readFileRowsOfMany(
    database.read,
    skills.map(({ id }) => id),
  )
  return skills.map(({ id, ...skill }) => ({ ...skill, files: files.get(id) ?? [] }))
}

/** The bytes, by digest and in batches, of files that {@link listOffers} returned. Does not check permissions. */
export function readOfferedFiles(context: StorageContext, files: readonly FileRow[]) {
  return readBlobsByDigest(context.database, new Map(files.map(({ digest, size }) => [digest, size])))
}

/** Stored bytes of a file that {@link listOffers} returned, from an offset on. Does not check permissions. */
export function readOfferedPart(context: StorageContext, digest: string, part: { from: number; bytesMax: number }) {
  return readBlobPart(context.database, digest, part)
}

/** The skills that an index covers. */
export type DiscoveryScope =
  | { readonly of: 'owner'; readonly owner: string }
  | { readonly of: 'skill'; readonly owner: string; readonly name: string; readonly version?: string }
  | { readonly of: 'pack'; readonly slug: string }
  /** A private skill, for the holder of its share link. */
  | { readonly of: 'share'; readonly token: string }

/** The full name of a link's skill, and a caller who may read it. Throws the same `not_found` for all invalid links. */
export async function openShare(context: StorageContext, token: string) {
  const holder = await withShare(context, guest, token)
  const fullName = await findSharedName(context, holder.sharedSkillId!)
  if (fullName === undefined) throw new RegistryError('not_found', 'This link does not exist or has expired.')
  return { fullName, holder }
}

/** The name of the skill that a link shares; undefined if the skill was deleted or is hidden. */
export async function findSharedName(context: StorageContext, sharedSkillId: string): Promise<string | undefined> {
  const skill = await context.database.read
    .selectFrom('skills')
    .select('full_name')
    .where('id', '=', sharedSkillId)
    .where('state', 'not in', ['withdrawn', 'hidden'])
    .executeTakeFirst()
  return skill?.full_name
}

/** Runs the handler of a request: counts the call, and maps storage errors to API errors. */
export async function countAndAnswer<T>(context: CatalogueContext, work: () => Promise<T>): Promise<T> {
  context.traffic.calls += 1
  try {
    return await work()
  } catch (error) {
    throw toRegistryError(error)
  }
}
