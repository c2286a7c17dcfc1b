import { parseForeignJson } from '@skillstead/protocol'
import { sql } from 'kysely'
import type { CatalogueContext, WriteTransaction } from '@skillstead/core/internal'
import { applyPack, findSkills } from './apply-pack.ts'
import { parseEntry, type PackEntry } from './entry-data.ts'
import { toRelaying } from './relay-entries.ts'
import type { EntryOutcome, FeedEntry, MirrorSource } from './mirrored-types.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

export interface CompletePacks {
  readonly upstream: MirrorSource
  /** How many entries of its log are in place. */
  readonly applied: number
  /** Whether a pack of this slug may come in. */
  accepts(slug: string): boolean
  /** Runs in the transaction that changes a pack. */
  also(trx: WriteTransaction, slug: string, outcome: EntryOutcome): Promise<void>
}

/**
 * Gives the packs of an upstream those of their skills that came in after the packs did, and makes those that were let be
 * because none of their skills was here. Each in a write of its own; nothing is written where nothing lacks.
 */
export async function completePacks(context: CatalogueContext, order: CompletePacks): Promise<void> {
  for (const slug of await readSlugs(context, order)) {
    if (!order.accepts(slug)) continue
    const parts = await readParts(context, order, slug)
    if (parts.length === 0 || !(await lacksMembers(context.database.read, order, slug, parts))) continue
    await context.database.writer.write(async (trx) => {
      let outcome: EntryOutcome = { result: 'unchanged' }
      for (const part of parts) {
        outcome = await applyPack(context, trx, part, toRelaying(part, order.upstream))
        if (outcome.result !== 'applied') break
      }
      await order.also(trx, slug, outcome)
    })
  }
}

/** As the index has it that only packs are in. */
const isPack = sql<boolean>`type = 'pack'`

async function readSlugs({ database }: CatalogueContext, { upstream, applied }: CompletePacks): Promise<string[]> {
  const rows = await withUpstreams(database.read)
    .selectFrom('upstream_log')
    .select('subject')
    .distinct()
    .where('upstream', '=', upstream.name)
    .where(isPack)
    .where('seq', '<=', applied)
    .orderBy('subject')
    .execute()
  return rows.map(({ subject }) => subject)
}

/** The entries that tell all of a pack as it is now; none of one that is gone, or that makes no sense. */
async function readParts(
  { database }: CatalogueContext,
  { upstream, applied }: CompletePacks,
  slug: string,
): Promise<readonly PackEntry[]> {
  const rows = await withUpstreams(database.read)
    .selectFrom('upstream_log')
    .select('entry')
    .where('upstream', '=', upstream.name)
    .where(isPack)
    .where('subject', '=', slug)
    .where('seq', '<=', applied)
    .orderBy('seq')
    .execute()
  let parts: PackEntry[] = []
  for (const { entry } of rows) {
    const one = parseEntry(parseForeignJson(entry) as FeedEntry)
    if (typeof one !== 'object' || one.type !== 'pack') continue
    const { withdrawn, part } = one.data
    if (withdrawn || !part || part.number <= 1) parts = []
    if (!withdrawn) parts.push(one)
  }
  return parts
}

type Read = CatalogueContext['database']['read']

async function lacksMembers(
  read: Read,
  { upstream }: CompletePacks,
  slug: string,
  parts: readonly PackEntry[],
): Promise<boolean> {
  const names = parts.flatMap(({ data }) => data.skills.map(({ fullName }) => fullName))
  const here = new Set((await findSkills(read, names)).values())
  if (here.size === 0) return false
  const pack = await read
    .selectFrom('packs')
    .select(['id', 'state', 'origin_upstream'])
    .where('slug', '=', slug)
    .executeTakeFirst()
  if (!pack) return true
  const rows = await read.selectFrom('pack_skills').select('skill_id').where('pack_id', '=', pack.id).execute()
  for (const { skill_id } of rows) here.delete(skill_id)
  // One that was taken away here stays so, and one from elsewhere was refused before.
  return pack.state === 'live' && pack.origin_upstream === upstream.name && here.size > 0
}
