import { limits, type Pack, RegistryError, toTimestamp } from '@skillstead/protocol'
import { measureListing } from '@skillstead/skill-format/loading'
import { expressionBuilder, sql } from 'kysely'
import type { StorageContext } from '../../storage/storage-context.ts'
import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import { type Caller, callerId, type UserCaller } from '../../kernel/caller.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import { toOffset, toPage } from '../../kernel/paging.ts'
import { hasRow } from '../../storage/table-rows.ts'
import type { PackRow, Tables } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { getSkill } from '../skills/find-skill.ts'
import { toNamedItems } from '../versions/shown-names.ts'
import { itemColumns } from '../versions/skill-document.ts'
import { isPackOpenTo } from '../../visibility/conditions.ts'
import { keepSeen } from '../../visibility/decisions.ts'
import { selectOrganisationsWith } from '../../visibility/rights.ts'

/** The pack with a slug if the caller may see it; throws `not_found`. */
export async function getPack(context: StorageContext, slug: string, caller: Caller): Promise<PackRow> {
  const rows = await context.database.read
    .selectFrom('packs')
    .selectAll()
    .where('state', '=', 'live')
    .where(isPackOpenTo(caller))
    .where(hasStoredSlug(slug, callerId(caller)))
    .orderBy('created_at')
    .execute()
  // A private pack of the caller comes first, then a private pack of an organisation of the caller.
  const pack =
    rows.find((row) => row.slug === `${callerId(caller)}/${slug}`) ?? rows.find((row) => row.slug !== slug) ?? rows[0]
  if (!pack) throw new RegistryError('not_found', `The pack '${slug}' does not exist, or you have no access to it.`)
  return pack
}

/** The skills of a pack that the caller may see. */
export async function readShownRows(context: StorageContext, packId: string, caller: Caller) {
  const rows = await context.database.read
    .selectFrom('pack_skills')
    .innerJoin('skills', 'skills.id', 'pack_skills.skill_id')
    .select(itemColumns.map((column) => `skills.${column}` as const))
    .select(['skills.visibility', 'skills.state', 'skills.stub', 'pinned_version', 'note'])
    .where('pack_id', '=', packId)
    .orderBy('position')
    .execute()
  // As in every list, a skill with only yanked versions is left out, unless the pack pins the version.
  const offered = rows.filter((row) => row.latest_version !== '' || row.stub === 1 || row.pinned_version !== null)
  return keepSeen(context, offered, caller)
}

/** GET /packs/<slug>: a pack with its skills that the caller may see. */
export async function showPack(context: StorageContext, pack: PackRow, caller: Caller): Promise<Pack> {
  const shown = await readShownRows(context, pack.id, caller)
  const items = await toNamedItems(context, shown, caller)
  const skills = shown.map((row, i) => ({ ...items[i]!, pinnedVersion: row.pinned_version, note: row.note }))
  // Measured with the rows' short names, which the lists of installed skills in agents contain.
  const listingCharacters = measureListing(shown)
  return {
    slug: toShownSlug(pack.slug),
    name: pack.name,
    description: pack.description,
    curator: { username: pack.curator },
    skills,
    skillCount: skills.length,
    visibility: pack.visibility,
    createdAt: toTimestamp(pack.created_at),
    updatedAt: toTimestamp(pack.updated_at),
    budget: { listingCharacters, fits: listingCharacters <= limits.listingCharactersMax },
  }
}

/**
 * GET /packs: visible packs whose name, slug or description contains every word of `q`, newest first; with `skill`,
 * only packs that have this skill. A page shows a limited number of skills in total; `skillCount` is the number of all
 * skills of a pack.
 */
export const listPacks: Operation<'listPacks', StorageContext> = async (context, input, caller) => {
  const { curator } = input
  const skill = input.skill === undefined ? undefined : await getSkill(context, input.skill, caller)
  const words = foldPackText(input.q).split(/\s+/).filter(Boolean).slice(0, 16)
  const visible = context.database.read
    .selectFrom('packs')
    .where('state', '=', 'live')
    .$if(curator !== undefined, (select) => select.where('curator', '=', curator!))
    .$if(skill !== undefined, (select) =>
      select.where('id', 'in', (eb) =>
        eb.selectFrom('pack_skills').select('pack_id').where('skill_id', '=', skill!.id),
      ),
    )
    .where(isPackOpenTo(caller))
    .orderBy('created_at', 'desc')
    .orderBy('slug')
  // The words are compared here, not in the database, because SQLite folds case only for ASCII.
  const briefs = await visible.select(['id', 'name', 'slug', 'description']).execute()
  const matching = briefs.filter(({ name, slug, description }) => {
    const text = foldPackText(`${name} ${toShownSlug(slug)} ${description}`)
    return words.every((word) => text.includes(word))
  })
  const offset = toOffset(input.page, input.limit)
  const ids = matching.slice(offset, offset + input.limit).map(({ id }) => id)
  const rows = ids.length > 0 ? await visible.selectAll().where('id', 'in', ids).execute() : []
  const packs = []
  let left: number = limits.packListSkillsMax
  for (const row of rows) {
    const pack = await showPack(context, row, caller)
    const skills = pack.skills.slice(0, left)
    left -= skills.length
    packs.push({ ...pack, skills })
    if (isSliceOver()) await nextSlice()
  }
  return { packs, ...toPage(matching.length, input.page, input.limit) }
}

/** Normalises the case and the Unicode form of a text. */
function foldPackText(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/**
 * The slug of a private pack is taken only for those who see it: otherwise a refusal to other users would reveal that
 * the pack exists. Such a pack is stored under `<curator's id>/<slug>`, which no slug can equal, until it becomes
 * visible to others. From then on its slug is taken for everyone, even if the pack becomes private again.
 */
export function toStoredSlug(slug: string, { curator_id, visibility }: Pick<PackRow, 'curator_id' | 'visibility'>) {
  return visibility === 'private' ? `${curator_id}/${slug}` : slug
}

export function toShownSlug(stored: string): string {
  return stored.slice(stored.indexOf('/') + 1)
}

/** Whether a row of `packs` has the slug, or has the slug among the private packs that the user may see. */
function hasStoredSlug(slug: string, userId: string | null) {
  const pack = expressionBuilder<Tables, 'packs'>()
  if (userId === null) return pack('packs.slug', '=', slug)
  const ofOrganisations = selectOrganisationsWith('readPrivate', userId)
    .clearSelect()
    .select(sql<string>`organisation_id || ${`/${slug}`}`.as('slug'))
  return pack.or([pack('packs.slug', 'in', [slug, `${userId}/${slug}`]), pack('packs.slug', 'in', ofOrganisations)])
}

/** Throws `name_taken` if a new pack, or a pack that becomes visible to others, cannot have the slug. */
export async function requireFreeSlug(
  trx: WriteTransaction,
  slug: string,
  { id }: Pick<PackRow, 'id'>,
  { userId }: UserCaller,
): Promise<void> {
  // The caller could not address two packs with one slug. If another user's public pack takes the slug later, the
  // private pack has precedence for those who see it.
  const taken = await trx
    .selectFrom('packs')
    .select('id')
    .where(hasStoredSlug(slug, userId))
    .where('id', '!=', id)
    .executeTakeFirst()
  if (taken) throw new RegistryError('name_taken', `There is a pack '${slug}' already. Choose another slug.`)
}

/** Whether a pack has a skill, hidden skills included. Does not check permissions. */
export function hasPackSkill({ database }: StorageContext, packId: string, skillId: string): Promise<boolean> {
  return hasRow(database.read, 'pack_skills', { pack_id: packId, skill_id: skillId })
}
