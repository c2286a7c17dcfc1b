import { sql } from 'kysely'
import type { Database } from '../storage/database.ts'
import { compileListQuery, isInList } from '../storage/list-query.ts'
import type { Param } from '../storage/compiled-query.ts'
import { parseJson, type SkillRow } from '../storage/tables.ts'
import type { SkillCounts } from './search-index.ts'
import { findReaderKeys, toAudience } from '../visibility/audience.ts'
import { filterColumns, toFilterValues } from './filters.ts'
import type { SearchDocument } from './search-document.ts'

const documentColumns = [
  ...filterColumns,
  ...(['num', 'id', 'owner_id', 'full_name', 'display_name', 'description', 'headings', 'summary'] as const),
  ...(['visibility', 'listed', 'published_at', 'downloads', 'stars', 'effect_low'] as const),
] as const

type Row = Pick<SkillRow, (typeof documentColumns)[number]> & {
  terms: Uint8Array | null
  metadata: string | null
}

/** Selects skills with the terms of their latest versions, and with the metadata where `loaded_by` is missing. */
function selectSkills(read: Database['read']) {
  return read
    .selectFrom('skills')
    .leftJoin('versions', (join) =>
      join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
    )
    .leftJoin('version_terms', 'version_terms.version_id', 'versions.id')
    .select(documentColumns.map((column) => `skills.${column}` as const))
    .select('version_terms.terms')
    .select(sql<string | null>`case when skills.loaded_by is null then versions.metadata end`.as('metadata'))
}

/** Reads the next listed skills by row number, as search documents: fewer than `limit` only at the end. */
export async function readSearchPage(database: Database, after: number, limit: number): Promise<SearchDocument[]> {
  const rows = await selectSkills(database.read)
    .where('skills.num', '>', after)
    .where('skills.listed', '=', 1)
    .orderBy('skills.num')
    .limit(limit)
    .execute()
  return toDocuments(database, rows)
}

/** Reads skills as search documents; `gone` has the row numbers of the skills that are not listed. */
export async function readDocuments(
  database: Database,
  ids: readonly string[],
): Promise<{ documents: SearchDocument[]; gone: number[] }> {
  const rows = await selectByIds(database, { ids })
  const [listed, gone] = [1, 0].map((value) => rows.filter((row) => row.listed === value))
  return { documents: await toDocuments(database, listed!), gone: gone!.map(({ num }) => num) }
}

const selectByIds = compileListQuery((db, param: Param<{ ids: Iterable<string> }>, lists) =>
  selectSkills(db).where(lists.has('skills.id', param('ids'))),
)

/** Reads listed skills as search documents by their row numbers, in no particular order. */
export async function readNumbered(database: Database, nums: readonly number[]): Promise<SearchDocument[]> {
  return toDocuments(database, await selectNumbered(database, { nums }))
}

const selectNumbered = compileListQuery((db, param: Param<{ nums: Iterable<number> }>, lists) =>
  selectSkills(db)
    .where(lists.hasNumber('skills.num', param('nums')))
    .where('skills.listed', '=', 1),
)

/** Reads the counters of the skills with these ids. The `id` of a result is the row number of the skill. */
export function readDocumentCounts(database: Database, ids: readonly string[]): Promise<SkillCounts[]> {
  return database.read
    .selectFrom('skills')
    .select(['num as id', 'downloads', 'stars'])
    .where(isInList(database.dialect, 'id', ids))
    .execute()
}

async function toDocuments(database: Database, rows: readonly Row[]): Promise<SearchDocument[]> {
  const readers = await findReaderKeys(
    database.read,
    rows.map((row) => ({ ...row, state: 'live' as const })),
  )
  return rows.map((row) => ({
    ...toFilterValues(row),
    id: row.num,
    name: row.name,
    fullName: row.full_name,
    displayName: row.display_name,
    description: row.description,
    headings: parseJson(row.headings),
    summary: row.summary,
    ...(row.terms && { content: row.terms }),
    audience: toAudience(row),
    readers: readers.get(row.id) ?? [],
    downloads: row.downloads,
    stars: row.stars,
    effectLow: row.effect_low,
    publishedAt: row.published_at,
  }))
}
