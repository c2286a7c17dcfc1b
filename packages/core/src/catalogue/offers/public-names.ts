import type { StorageContext } from '../../storage/storage-context.ts'
import { guest } from '../../kernel/caller.ts'
import { readPages } from '../../storage/pages.ts'
import { isListedFor, openPackVisibilities } from '../../visibility/conditions.ts'

/** Names per query: a query of SQLite blocks the event loop. */
const namesPerQuery = 1000

/**
 * The slugs of the newest packs and the full names of the most downloaded skills that guests find, at most `namesMax`
 * together. If downloads are counted meanwhile, the result may lack a skill or contain it twice.
 */
export async function readPublicNames({ database: { read } }: StorageContext, namesMax: number) {
  const packs = await read
    .selectFrom('packs')
    .select('slug')
    .where('state', '=', 'live')
    .where('visibility', 'in', openPackVisibilities(guest))
    .orderBy('created_at', 'desc')
    .limit(namesPerQuery)
    .execute()
  const skills = new Set<string>()
  const left = namesMax - packs.length
  const readAfter = (after: { downloads: number; full_name: string }) =>
    read
      .selectFrom('skills')
      .select(['downloads', 'full_name'])
      .where(isListedFor(guest))
      .where('downloads', '<=', after.downloads)
      .where((eb) => eb.or([eb('downloads', '<', after.downloads), eb('full_name', '>', after.full_name)]))
      .orderBy('downloads', 'desc')
      .orderBy('full_name')
      .limit(Math.min(namesPerQuery, left - skills.size))
      .execute()
  const first = { downloads: Number.MAX_SAFE_INTEGER, full_name: '' }
  for await (const rows of readPages(first, readAfter, (row) => row)) {
    for (const { full_name: name } of rows) skills.add(name)
    if (skills.size >= left) break
  }
  return { packs: packs.map(({ slug }) => slug), skills }
}
