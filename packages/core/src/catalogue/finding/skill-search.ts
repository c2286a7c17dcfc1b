import { type SearchResult, withoutUndefined } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { compileListQuery, isInList } from '../../storage/list-query.ts'
import type { Param } from '../../storage/compiled-query.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { type Tables, parseJson } from '../../storage/tables.ts'
import { type Caller, callerId } from '../../kernel/caller.ts'
import type { Input, Operation } from '../../kernel/operation-input.ts'
import { toOffset, toPage } from '../../kernel/paging.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { explainHits } from './explain-hits.ts'
import type { SearchHits, SearchQuery } from '../../search/search-index.ts'
import { toNamedItems } from '../versions/shown-names.ts'
import { itemColumns, type ItemRow } from '../versions/skill-document.ts'
import { toContextTerms } from '../../search/words/context-terms.ts'
import { selectVisible } from '../../search/database/visible-skills.ts'
import { listedCondition, type Viewer, publicCondition } from '../../visibility/conditions.ts'
import { toDigest } from '@skillstead/skill-format/archives'
import { type Rerankable, rerankedMax } from '../../search/reranker.ts'

/** The match of every skill if there is no query. */
const matchWithoutQuery = { score: 0, fields: [], terms: [] }

type SearchInput = Input<'searchSkills'> & Pick<Input<'searchByNeed'>, 'context'>

/** GET /skills and POST /search: the skills that match a query; see docs/api.md#search-results. */
export function searchSkills(context: CatalogueContext, input: SearchInput, caller: Caller) {
  return searchSkillsAs(context, input, { viewer: caller, reader: caller })
}

/** As {@link searchSkills}: finds skills that `viewer` may see, with names that resolve for `reader`. */
export async function searchSkillsAs(
  context: CatalogueContext,
  input: SearchInput,
  { viewer, reader }: { viewer: Caller; reader: Caller },
): Promise<SearchResult> {
  const { q, page, limit, sort, explain, facets, context: given, ...filters } = input
  const hits = await searchRanked(context, {
    q,
    ...(given && { context: await readContextTerms(context, given, viewer) }),
    sort,
    offset: toOffset(page, limit),
    limit,
    viewer: callerId(viewer),
    filters,
    explain,
    facets,
  })
  const rows = await readItemRows(context, hits.ids, callerId(viewer))
  const found = hits.ids.flatMap((num) => rows.get(num) ?? [])
  const items = await toNamedItems(context, found, reader)
  const matches = explain ? await explainPage(context, hits, rows, callerId(viewer)) : undefined
  const skills = matches ? items.map((skill, i) => ({ ...skill, match: matches.get(found[i]!.num)! })) : items
  const { partial, estimated } = hits
  const marks = { ...(partial && { partial }), ...(estimated && { estimated }) }
  const counted = hits.facets && { facets: hits.facets }
  const echoed = { q, ...withoutUndefined(filters) }
  return { skills, ...toPage(hits.total, page, limit), ...marks, ...counted, filters: echoed }
}

function explainPage(
  context: CatalogueContext,
  { ids, matches, values = new Map() }: SearchHits,
  rows: ReadonlyMap<number, ItemRow>,
  viewer: string | null,
) {
  const hits = ids.flatMap((num, i) => {
    const version = rows.get(num)?.latest_version
    return version === undefined ? [] : [{ num, version, match: matches?.[i] ?? matchWithoutQuery }]
  })
  return explainHits(context, hits, { values, viewer })
}

async function readContextTerms(
  context: StorageContext,
  { installed, ...rest }: NonNullable<SearchInput['context']>,
  viewer: Caller,
): Promise<string[]> {
  return toContextTerms({ ...rest, installed: installed && (await readInstalledSkills(context, installed, viewer)) })
}

/** GET /suggest: completions for a search box, best first. */
export const suggestSkills: Operation<'suggest', CatalogueContext> = async (context, input, caller) => {
  const suggestions = await context.search.suggest(input.q, input.limit, callerId(caller), context.database)
  return { suggestions, total: suggestions.length }
}

/** GET /categories: the categories of public skills, largest first. */
export const listCategories: Operation<'listCategories', StorageContext> = async (context) => {
  const rows = await context.database.read
    .selectFrom('skills')
    .select((eb) => ['category', eb.fn.countAll<number>().as('count')])
    .where(listedCondition)
    .where('category', '!=', '')
    .groupBy('category')
    .execute()
  const categories = rows
    .map(({ category, count }) => ({ name: category, count }))
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
  return { categories, total: categories.length }
}

const selectPublicItems = compileListQuery((db, param: Param<{ nums: Iterable<number> }>, lists) =>
  selectVisibleItems(db, null).where(lists.hasNumber('num', param('nums'))),
)
const selectViewerItems = compileListQuery((db, param: Param<{ nums: Iterable<number>; viewer: string }>, lists) =>
  selectVisibleItems(db, param('viewer')).where(lists.hasNumber('num', param('nums'))),
)

function selectVisibleItems(read: Kysely<Tables>, viewer: Viewer) {
  return selectVisible({ read }, viewer, { includeStubs: true }).select(itemColumns)
}

/**
 * Leaves out skills that the viewer may no longer see: another process may have changed a skill since it was indexed.
 */
async function readItemRows(
  { database }: StorageContext,
  nums: readonly number[],
  viewer: string | null,
): Promise<Map<number, ItemRow>> {
  if (nums.length === 0) return new Map()
  const rows = await (viewer === null
    ? selectPublicItems(database, { nums })
    : selectViewerItems(database, { nums, viewer }))
  return new Map(rows.map((row) => [row.num, row]))
}

/** Maximum length of the text that the second stage receives for a skill, in UTF-16 units. */
const rerankedLengthMax = 2000
const rerankedHeadingsMax = 20

/**
 * Searches, and orders the best hits by the second stage if the node has one and the search is by relevance. The second
 * stage receives only texts of public skills; other hits are ordered by their score alone.
 */
async function searchRanked(context: CatalogueContext, query: SearchQuery): Promise<SearchHits> {
  const { search, secondStage, database } = context
  const { q, sort, offset, limit } = query
  if (!secondStage || sort || q.trim() === '' || offset >= rerankedMax) return search.search(query, database)
  const first = { ...query, offset: 0, limit: Math.max(rerankedMax, offset + limit), explain: true }
  const all = await search.search(first, database)
  const matches = new Map(all.ids.map((num, i) => [num, all.matches?.[i]]))
  const hits = await readRerankable(context, all, matches)
  const ordered = (await secondStage.order(q, hits)).map(({ num }) => num)
  const ids = [...ordered, ...all.ids.slice(rerankedMax)].slice(offset, offset + limit)
  const { total, partial, values, facets } = all
  const found = { ids, total, ...(partial && { partial }), ...(facets && { facets }) }
  if (!query.explain) return found
  return { ...found, matches: ids.map((num) => matches.get(num)!), ...(values && { values }) }
}

async function readRerankable(
  { database }: CatalogueContext,
  { ids }: SearchHits,
  matches: ReadonlyMap<number, { score: number } | undefined>,
): Promise<Rerankable[]> {
  const first = ids.slice(0, rerankedMax)
  if (first.length === 0) return []
  const rows = await database.read
    .selectFrom('skills')
    .select(['num', 'display_name', 'description', 'headings', 'summary'])
    .where('num', 'in', first)
    .where(publicCondition)
    .execute()
  const texts = new Map(
    rows.map(({ num, display_name, description, headings, summary }) => {
      const shown = parseJson(headings).slice(0, rerankedHeadingsMax).join('\n')
      return [num, [display_name, description, summary, shown].join('\n').slice(0, rerankedLengthMax).toWellFormed()]
    }),
  )
  return first.map((num) => {
    const text = texts.get(num)
    return {
      num,
      score: matches.get(num)?.score ?? 0,
      ...(text && { text: { digest: toDigest(Buffer.from(text)), text } }),
    }
  })
}

/** Maximum skills read by short name. Many skills may share a short name; the most downloaded skill counts. */
const namedSkillsMax = 1000

/**
 * Reads the keywords and categories of installed skills, by full or short name. Leaves out unknown names and skills
 * that the viewer may not see, so that the order of search hits reveals nothing about such skills.
 */
async function readInstalledSkills({ database }: StorageContext, names: readonly string[], viewer: Caller) {
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
