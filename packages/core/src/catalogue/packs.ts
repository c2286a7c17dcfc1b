import { RegistryError, type Pack, type Warning } from '@skillstead/protocol'
import { toSlug } from '@skillstead/skill-format'
import { recordAudit } from '../log/audit.ts'
import { callerId, requireAccount, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { newId } from '../kernel/ids.ts'
import { appendChange } from '../log/append-change.ts'
import { checkTexts, toPackTexts } from './text-scan.ts'
import type { PackRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { getPack } from './find-pack.ts'
import { resolveMembers, type Member, type MemberInput } from './pack-members.ts'
import { showPack } from './pack-form.ts'
import { toPackEntries } from './pack-log.ts'
import { requireFreeSlug, toShownSlug, toStoredSlug } from './pack-slugs.ts'

/** A written pack with the scan findings of its texts. */
type PackAnswer = Pack & { warnings?: Warning[] }

interface PackInput {
  name: string
  slug?: string
  description: string
  skills: MemberInput[]
  visibility: PackRow['visibility']
}

/**
 * POST /packs. Throws `invalid_request` that names each skill the curator cannot see, and `name_taken` for a taken
 * slug.
 */
export async function createPack(context: CatalogueContext, input: PackInput, caller: Caller): Promise<PackAnswer> {
  const user = requireAccount(caller)
  const slug = input.slug ?? toSlug(input.name)
  if (slug === '') throw noSlug(input.name)
  const members = await resolveMembers(context, input.skills, caller)
  const found = await checkTexts(context, toPackTexts({ ...input, skills: members }))
  const now = context.clock.now()
  const pack: PackRow = {
    id: newId(),
    slug: toStoredSlug(slug, { curator_id: user.userId, visibility: input.visibility }),
    name: input.name,
    description: input.description,
    curator_id: user.userId,
    curator: user.username,
    visibility: input.visibility,
    state: 'live',
    origin_upstream: null,
    created_at: now,
    updated_at: now,
  }
  await context.database.writer.write(async (trx) => {
    await requireFreeSlug(trx, slug, pack)
    await trx.insertInto('packs').values(pack).execute()
    await replaceMembers(trx, pack.id, members)
    await finish(trx, { caller, action: 'pack.create', before: undefined, pack })
  })
  return { ...(await showPack(context, pack, caller)), ...found }
}

/**
 * PATCH /packs/<slug>, by the curator. Throws `name_taken` if a private pack becomes visible under a slug that is
 * taken.
 */
export async function updatePack(
  context: CatalogueContext,
  input: { slug: string } & Partial<Omit<PackInput, 'slug'>>,
  caller: Caller,
): Promise<PackAnswer> {
  const { id } = await getOwnPack(context, input.slug, caller)
  const members = input.skills && (await resolveMembers(context, input.skills, caller))
  const found = await checkTexts(context, toPackTexts({ ...input, skills: members }))
  const pack = await context.database.writer.write(async (trx) => {
    const before = await getLivePack(trx, id)
    const visibility = input.visibility ?? before.visibility
    const isShown = before.visibility === 'private' && visibility !== 'private'
    const slug = isShown ? toShownSlug(before.slug) : before.slug
    if (isShown) await requireFreeSlug(trx, slug, before)
    const changed = {
      slug,
      name: input.name ?? before.name,
      description: input.description ?? before.description,
      visibility,
      updated_at: context.clock.now(),
    }
    await trx.updateTable('packs').set(changed).where('id', '=', id).execute()
    if (members) await replaceMembers(trx, id, members)
    const after: PackRow = { ...before, ...changed }
    await finish(trx, { caller, action: 'pack.update', before, pack: after })
    return after
  })
  return { ...(await showPack(context, pack, caller)), ...found }
}

/** DELETE /packs/<slug>, by the curator; the slug stays taken. */
export async function deletePack(
  context: CatalogueContext,
  input: { slug: string },
  caller: Caller,
): Promise<undefined> {
  const { id } = await getOwnPack(context, input.slug, caller)
  await context.database.writer.write(async (trx) => {
    const before = await getLivePack(trx, id)
    const changed = { state: 'withdrawn', updated_at: context.clock.now() } as const
    await trx.updateTable('packs').set(changed).where('id', '=', id).execute()
    await finish(trx, { caller, action: 'pack.delete', before, pack: { ...before, ...changed } })
  })
}

/** Reads the pack again within the transaction: it may have been changed or deleted since the first read. */
async function getLivePack(trx: WriteTransaction, id: string): Promise<PackRow> {
  const pack = await trx.selectFrom('packs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  if (pack.state === 'live') return pack
  throw new RegistryError('not_found', `There is no pack '${toShownSlug(pack.slug)}', or you may not see it.`)
}

async function getOwnPack(context: CatalogueContext, slug: string, caller: Caller): Promise<PackRow> {
  const pack = await getPack(context, slug, caller)
  if (pack.curator_id !== callerId(caller))
    throw new RegistryError('forbidden', `Only the curator of '${slug}' may change it.`)
  return pack
}

async function replaceMembers(trx: WriteTransaction, packId: string, members: readonly Member[]): Promise<void> {
  await trx.deleteFrom('pack_skills').where('pack_id', '=', packId).execute()
  await addMembers(trx, packId, members, 0)
}

/** Adds members to a pack, starting at a position. */
export async function addMembers(
  trx: WriteTransaction,
  packId: string,
  members: readonly Pick<Member, 'skillId' | 'pinnedVersion' | 'note'>[],
  from: number,
): Promise<void> {
  if (members.length === 0) return
  const rows = members.map(({ skillId, pinnedVersion, note }, i) => ({
    pack_id: packId,
    position: from + i,
    skill_id: skillId,
    pinned_version: pinnedVersion,
    note,
  }))
  await trx.insertInto('pack_skills').values(rows).execute()
}

async function readMembers(trx: WriteTransaction, packId: string): Promise<Member[]> {
  const rows = await trx
    .selectFrom('pack_skills')
    .innerJoin('skills', 'skills.id', 'pack_skills.skill_id')
    .select(['skill_id', 'full_name', 'skills.visibility', 'skills.state', 'pinned_version', 'note'])
    .where('pack_id', '=', packId)
    .orderBy('position')
    .execute()
  return rows.map((row) => ({
    skillId: row.skill_id,
    fullName: row.full_name,
    isPublic: row.visibility === 'public' && row.state === 'live',
    pinnedVersion: row.pinned_version,
    note: row.note,
  }))
}

async function finish(
  trx: WriteTransaction,
  what: { caller: Caller; action: string; before: PackRow | undefined; pack: PackRow },
): Promise<void> {
  const { caller, action, before, pack } = what
  // Read again, so that the log names no skill that became private since the members were found.
  const members = await readMembers(trx, pack.id)
  const at = pack.updated_at
  await appendChange(trx, { kind: 'pack', subject: pack.id, at, entries: toPackEntries(before, pack, members) })
  await recordAudit(trx, { caller, action, subject: toShownSlug(pack.slug), at })
}

function noSlug(name: string): RegistryError {
  const message = `cannot be made from the name '${name}'; give one.`
  return new RegistryError('invalid_request', `slug ${message}`, { errors: [{ path: 'slug', message }] })
}
