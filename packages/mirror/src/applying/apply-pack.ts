import {
  addPackMembers,
  appendChange,
  ensureNamespace,
  putPack,
  replacePackMembers,
  toPackTexts,
  type CatalogueContext,
  type PackRow,
  type Tables,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { limits, toVisibleText } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { toEntryTime, type PackEntry } from './entry-data.ts'
import type { MirrorOutcome } from './mirrored-types.ts'
import { refusePlace, refuseClaimedName, type Refusal } from './place-skill.ts'
import { selectInBatches } from './prepare-package.ts'
import { wasRelayed, type Relaying } from './relay-entries.ts'
import { refuseTexts } from './scan-refusal.ts'

/**
 * Applies the entry of a pack: its current state, or its withdrawal. The stored pack contains those of its skills that
 * are stored on this node. Like a full name, a slug belongs to one source.
 */
export async function applyPack(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data, entry }: PackEntry,
  { upstream, relay }: Relaying,
): Promise<MirrorOutcome> {
  const { slug } = data.pack
  const before = await trx.selectFrom('packs').selectAll().where('slug', '=', slug).executeTakeFirst()
  const refusal = await refusePack(trx, before, data, upstream)
  if (refusal) {
    // Unchanged if the pack was imported before a user of this node claimed the name of its curator.
    const isKnown = before?.origin_upstream === upstream && (await wasRelayed(trx, relay))
    return isKnown ? { result: 'unchanged' } : refusal
  }
  const textRefusal = await refuseTexts(context, toPackTexts(data), `the pack ${slug}`)
  if (textRefusal) return textRefusal
  if (!before && data.withdrawn) return { result: 'unchanged' }
  const at = context.clock.now()
  const curator = await ensureNamespace(trx, data.curator.username, at, data.curator.id)
  const pack: PackRow = {
    ...(before ?? toNewPack(data, toEntryTime(entry, at), upstream)),
    curator_id: curator.id,
    curator: curator.username,
    state: data.withdrawn ? 'withdrawn' : 'live',
    updated_at: at,
    ...(!data.withdrawn && {
      name: toPackText(data.name, limits.displayNameCharactersMax),
      description: toPackText(data.description, limits.descriptionCharactersMax),
    }),
  }
  await putPack(trx, before, pack)
  if (!data.withdrawn) await putMembers(trx, pack.id, data)
  await appendChange(trx, { kind: 'pack', subject: pack.id, at, entries: [relay] })
  return { result: 'applied', fullName: slug }
}

function toNewPack({ pack: { id, slug } }: PackEntry['data'], createdAt: number, upstream: string) {
  const fields = { name: slug, description: '', visibility: 'public', origin_upstream: upstream } as const
  return { id, slug, ...fields, created_at: createdAt }
}

async function refusePack(
  trx: WriteTransaction,
  before: PackRow | undefined,
  { pack, curator, withdrawn }: PackEntry['data'],
  upstream: string,
): Promise<Refusal | undefined> {
  if (before && before.origin_upstream === null) {
    return refusePlace('owned_locally', `The pack ${before.slug} belongs to this node and is not overwritten.`)
  }
  if (before && before.origin_upstream !== upstream) {
    return refusePlace(
      'other_source',
      `The pack ${before.slug} comes from ${before.origin_upstream}. A pack has one source.`,
    )
  }
  // A withdrawal is applied even if the name of the curator was claimed after the import.
  const claimed = withdrawn ? undefined : await refuseClaimedName(trx, curator.username)
  if (claimed || before) return claimed
  const taken = await trx.selectFrom('packs').select('slug').where('id', '=', pack.id).executeTakeFirst()
  return taken && refusePlace('name_taken', `The pack ${pack.slug} has the id of the pack ${taken.slug}.`)
}

const noteCharactersMax = 1000

/** Makes a text of an upstream displayable, and shortens it to the length that users of this node may publish. */
function toPackText(text: string, charactersMax: number): string {
  return toVisibleText(text).slice(0, charactersMax).toWellFormed()
}

/**
 * Writes the members of a pack. The list of a large pack comes in several entries: the first part replaces the stored
 * list, later parts extend it.
 */
async function putMembers(trx: WriteTransaction, packId: string, { skills, part }: PackEntry['data']): Promise<void> {
  const isFirst = !part || part.number <= 1
  const present = isFirst
    ? []
    : await trx
        .selectFrom('pack_skills')
        .select(['skill_id', 'position'])
        .where('pack_id', '=', packId)
        .orderBy('position')
        .execute()
  const taken = new Set(present.map(({ skill_id }) => skill_id))
  const ids = await findPackSkills(
    trx,
    skills.map(({ fullName }) => fullName),
  )
  const members = skills.flatMap(({ fullName, pinnedVersion, note }) => {
    const skillId = ids.get(fullName)
    if (skillId === undefined || taken.has(skillId)) return []
    taken.add(skillId)
    return [{ skillId, pinnedVersion, note: toPackText(note, noteCharactersMax) }]
  })
  if (isFirst) await replacePackMembers(trx, packId, members)
  else await addPackMembers(trx, packId, members, (present.at(-1)?.position ?? -1) + 1)
}

/** The ids of those of the skills that are stored, by full name. */
export async function findPackSkills(db: Kysely<Tables>, fullNames: readonly string[]): Promise<Map<string, string>> {
  const rows = await selectInBatches(fullNames, (batch) =>
    db.selectFrom('skills').select(['id', 'full_name']).where('full_name', 'in', batch).execute(),
  )
  return new Map(rows.map(({ id, full_name }) => [full_name, id]))
}
