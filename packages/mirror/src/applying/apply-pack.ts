import { limits, toVisibleText } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import {
  ensureNamespace,
  type CatalogueContext,
  appendChange,
  addMembers,
  toPackTexts,
  type PackRow,
  type Tables,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { toCreatedAt, type PackEntry } from './entry-data.ts'
import { refuseTexts } from './refuse-texts.ts'
import { refuse, type Refusal } from './place-skill.ts'
import { wasSaid, type Relaying } from './relay-entries.ts'
import type { MirrorOutcome } from './mirrored-types.ts'

/**
 * A pack of an upstream as it is there now, or that it is gone. Of its skills it holds those that are here; a slug has
 * one source, as a name has.
 */
export async function applyPack(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data, entry }: PackEntry,
  { upstream, relay }: Relaying,
): Promise<MirrorOutcome> {
  const { slug } = data.pack
  const before = await trx.selectFrom('packs').selectAll().where('slug', '=', slug).executeTakeFirst()
  const refusal =
    (before && refuseOther(before, upstream)) ??
    (await refuseClaimed(trx, data)) ??
    (before ? undefined : await refuseNew(trx, data))
  // It came from there before the name of its curator was claimed.
  const isKnown = refusal && before?.origin_upstream === upstream && (await wasSaid(trx, relay))
  if (refusal) return isKnown ? { result: 'unchanged' } : refusal
  const textRefusal = await refuseTexts(context, toPackTexts(data), `the pack ${slug}`)
  if (textRefusal) return textRefusal
  if (!before && data.withdrawn) return { result: 'unchanged' }
  const at = context.clock.now()
  const curator = await ensureNamespace(trx, data.curator.username, at, data.curator.id)
  const texts = data.withdrawn ? {} : toTexts(data)
  const state: PackRow['state'] = data.withdrawn ? 'withdrawn' : 'live'
  const id = before?.id ?? data.pack.id
  const row = { curator_id: curator.id, curator: curator.username, state, updated_at: at, ...texts }
  if (before) await trx.updateTable('packs').set(row).where('id', '=', id).execute()
  else {
    const fresh = { id, slug, name: slug, description: '', visibility: 'public', origin_upstream: upstream } as const
    const createdAt = toCreatedAt(entry, at)
    await trx
      .insertInto('packs')
      .values({ ...fresh, ...row, created_at: createdAt })
      .execute()
  }
  if (!data.withdrawn) await putMembers(trx, id, data)
  await appendChange(trx, { kind: 'pack', subject: id, at, entries: [relay] })
  return { result: 'applied', fullName: slug }
}

function refuseOther({ slug, origin_upstream }: PackRow, upstream: string): Refusal | undefined {
  if (origin_upstream === upstream) return undefined
  if (origin_upstream === null)
    return refuse('owned_locally', `The pack ${slug} is from here, and is not written over.`)
  return refuse('other_source', `The pack ${slug} comes from ${origin_upstream}, and a pack has one source.`)
}

/** That it is gone is followed all the same. */
async function refuseClaimed(
  trx: WriteTransaction,
  { curator, withdrawn }: PackEntry['data'],
): Promise<Refusal | undefined> {
  if (withdrawn) return undefined
  const { username } = curator
  const user = await trx.selectFrom('users').select('claimed').where('username', '=', username).executeTakeFirst()
  if (!user?.claimed) return undefined
  return refuse('owned_locally', `${username} is a user of this node, so no one else makes packs under that name.`)
}

async function refuseNew(trx: WriteTransaction, { pack }: PackEntry['data']): Promise<Refusal | undefined> {
  const taken = await trx.selectFrom('packs').select('slug').where('id', '=', pack.id).executeTakeFirst()
  return taken && refuse('name_taken', `The pack ${pack.slug} has the id of the pack ${taken.slug}.`)
}

function toTexts({ name, description }: PackEntry['data']) {
  return {
    name: toVisibleText(name).slice(0, limits.displayNameCharactersMax).toWellFormed(),
    description: toVisibleText(description).slice(0, limits.descriptionCharactersMax).toWellFormed(),
  }
}

/** As published packs have them. */
const noteCharactersMax = 1000

/** A long list comes in parts: the first begins it anew, each further one goes on with it. */
async function putMembers(trx: WriteTransaction, packId: string, { skills, part }: PackEntry['data']): Promise<void> {
  const isFirst = !part || part.number <= 1
  if (isFirst) await trx.deleteFrom('pack_skills').where('pack_id', '=', packId).execute()
  const there = await trx
    .selectFrom('pack_skills')
    .select(['skill_id', 'position'])
    .where('pack_id', '=', packId)
    .orderBy('position')
    .execute()
  const taken = new Set(there.map(({ skill_id }) => skill_id))
  const ids = await findSkills(
    trx,
    skills.map(({ fullName }) => fullName),
  )
  const members = skills.flatMap(({ fullName, pinnedVersion, note }) => {
    const skillId = ids.get(fullName)
    if (skillId === undefined || taken.has(skillId)) return []
    taken.add(skillId)
    return [{ skillId, pinnedVersion, note: toVisibleText(note).slice(0, noteCharactersMax).toWellFormed() }]
  })
  await addMembers(trx, packId, members, (there.at(-1)?.position ?? -1) + 1)
}

/** So many names are looked up with one query. */
const lookedUpMax = 500

/** The ids of those that are here, by their full names. */
export async function findSkills(db: Kysely<Tables>, fullNames: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let i = 0; i < fullNames.length; i += lookedUpMax) {
    const names = fullNames.slice(i, i + lookedUpMax)
    const rows = await db.selectFrom('skills').select(['id', 'full_name']).where('full_name', 'in', names).execute()
    for (const { id, full_name } of rows) found.set(full_name, id)
  }
  return found
}
