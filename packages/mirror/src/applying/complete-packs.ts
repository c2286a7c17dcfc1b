import type { CatalogueContext, WriteTransaction } from '@skillstead/core/internal'
import { sql } from 'kysely'
import { withUpstreams } from '../tables/mirror-tables.ts'
import { applyPack, findPackSkills } from './apply-pack.ts'
import { parseFeedEntry, type PackEntry, parseEntry } from './entry-data.ts'
import type { MirrorOutcome, MirrorSource } from './mirrored-types.ts'
import { toRelaying } from './relay-entries.ts'

export interface CompletePacks {
  readonly upstream: MirrorSource
  /** Number of applied entries of the upstream's log. */
  readonly applied: number
  /** Whether a pack with this slug may be imported. */
  accepts(slug: string): boolean
  /** Called in the transaction that changes a pack. */
  also(trx: WriteTransaction, slug: string, outcome: MirrorOutcome): Promise<void>
}

/**
 * Adds skills to packs that were imported before these skills, and creates packs that were skipped because none of
 * their skills was stored. Each pack is written in its own transaction; packs that lack no skill are not written.
 */
export async function completePacks(context: CatalogueContext, order: CompletePacks): Promise<void> {
  for (const slug of await readSlugs(context, order)) {
    if (!order.accepts(slug)) continue
    const parts = await readPackParts(context, order, slug)
    if (parts.length === 0 || !(await lacksMembers(context, order, slug, parts))) continue
    await context.database.writer.write(async (trx) => {
      let outcome: MirrorOutcome = { result: 'unchanged' }
      for (const part of parts) {
        outcome = await applyPack(context, trx, part, toRelaying(part, order.upstream))
        if (outcome.result !== 'applied') break
      }
      await order.also(trx, slug, outcome)
    })
  }
}

/** The applied entries of packs. Uses the index on packs, because the condition on the type has the index's text. */
function selectPackEntries({ database }: CatalogueContext, { upstream, applied }: CompletePacks) {
  return withUpstreams(database.read)
    .selectFrom('upstream_log')
    .where('upstream', '=', upstream.name)
    .where(sql<boolean>`type = 'pack'`)
    .where('seq', '<=', applied)
}

async function readSlugs(context: CatalogueContext, order: CompletePacks): Promise<string[]> {
  const rows = await selectPackEntries(context, order).select('subject').distinct().orderBy('subject').execute()
  return rows.map(({ subject }) => subject)
}

/** The entries that together state the current content of a pack; none for a withdrawn pack. */
async function readPackParts(
  context: CatalogueContext,
  order: CompletePacks,
  slug: string,
): Promise<readonly PackEntry[]> {
  const query = selectPackEntries(context, order).select('entry').where('subject', '=', slug).orderBy('seq')
  let parts: PackEntry[] = []
  for (const { entry } of await query.execute()) {
    const one = parseFeedEntry(parseEntry(entry))
    if (typeof one !== 'object' || one.type !== 'pack') continue
    const { withdrawn, part } = one.data
    if (withdrawn || !part || part.number <= 1) parts = []
    if (!withdrawn) parts.push(one)
  }
  return parts
}

async function lacksMembers(
  { database: { read } }: CatalogueContext,
  { upstream }: CompletePacks,
  slug: string,
  parts: readonly PackEntry[],
): Promise<boolean> {
  const names = parts.flatMap(({ data }) => data.skills.map(({ fullName }) => fullName))
  const missing = new Set((await findPackSkills(read, names)).values())
  if (missing.size === 0) return false
  const pack = await read
    .selectFrom('packs')
    .select(['id', 'state', 'origin_upstream'])
    .where('slug', '=', slug)
    .executeTakeFirst()
  if (!pack) return true
  const rows = await read.selectFrom('pack_skills').select('skill_id').where('pack_id', '=', pack.id).execute()
  for (const { skill_id } of rows) missing.delete(skill_id)
  // False for a pack that was deleted on this node, which stays deleted, and for a pack of another source, which was
  // refused.
  return pack.state === 'live' && pack.origin_upstream === upstream.name && missing.size > 0
}
