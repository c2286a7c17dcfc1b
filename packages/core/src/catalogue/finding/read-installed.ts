import { parseJson } from '../../storage/tables.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { type Caller, callerId } from '../../kernel/caller.ts'
import { selectVisible } from '../../search/database/visible-skills.ts'
import { isInList } from '../../storage/list-query.ts'

/** Maximum skills read by short name. Many skills may share a short name; the most downloaded skill counts. */
const namedSkillsMax = 1000

/**
 * Reads the keywords and categories of installed skills, by full or short name. Leaves out unknown names and skills
 * that the viewer may not see, so that the order of search hits reveals nothing about such skills.
 */
export async function readInstalledSkills({ database }: StorageContext, names: readonly string[], viewer: Caller) {
  const wanted = new Set(names.map((name) => name.toLowerCase()))
  const select = (column: 'full_name' | 'name') =>
    selectVisible(database, callerId(viewer), { includeStubs: true })
      .where(isInList(database.dialect, column, wanted))
      .select(['full_name', 'name', 'keywords', 'category'])
  const byFullName = await select('full_name').execute()
  const byName = await select('name').orderBy('downloads', 'desc').orderBy('full_name').limit(namedSkillsMax).execute()
  const rows = new Map([
    ...byName.toReversed().map((row) => [row.name, row] as const),
    ...byFullName.map((row) => [row.full_name, row] as const),
  ])
  const found = new Map([...wanted].flatMap((name) => rows.get(name) ?? []).map((row) => [row.full_name, row]))
  return Array.from(found.values(), ({ keywords, category }) => ({
    keywords: parseJson(keywords),
    category,
  }))
}
