import type { StorageContext } from '../storage/storage-context.ts'
import { type Caller, callerId } from '../kernel/caller.ts'
import { selectVisible } from '../search/text-catalogue.ts'
import { isInList } from '../storage/list-query.ts'

/** A short name may have many skills, of which the most downloaded one is taken. */
const rowsMax = 1000

/**
 * Reads what installed skills are about, by full or short name. Unknown names, and those of skills that the viewer may
 * not see, are left out, so that the order of a search reveals nothing about them.
 */
export async function readInstalled({ database }: StorageContext, names: readonly string[], viewer: Caller) {
  const wanted = new Set(names.map((name) => name.toLowerCase()))
  const rows = await selectVisible(database, callerId(viewer), { includeStubs: true })
    .where((eb) => eb.or([isInList(database.dialect, 'full_name', wanted), isInList(database.dialect, 'name', wanted)]))
    .select(['full_name', 'name', 'keywords', 'category'])
    .orderBy('downloads', 'desc')
    .orderBy('full_name')
    .limit(rowsMax)
    .execute()
  const byName = new Map(rows.toReversed().flatMap((row) => [row.name, row.full_name].map((name) => [name, row])))
  const found = new Set([...wanted].flatMap((name) => byName.get(name) ?? []))
  return Array.from(found, ({ keywords, category }) => ({ keywords: JSON.parse(keywords) as string[], category }))
}
