import { type SearchResult, withoutUndefined } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { compileListQuery } from '../../storage/list-query.ts'
import type { Param } from '../../storage/compiled-query.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Caller, callerId } from '../../kernel/caller.ts'
import type { Input } from '../../kernel/operation-input.ts'
import { toOffset, toPage } from '../../kernel/paging.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { explainHits } from './explain-hits.ts'
import type { SearchHits } from '../../search/search-index.ts'
import { readInstalledSkills } from './read-installed.ts'
import { searchRanked } from './search-ranked.ts'
import { toNamedItems } from '../versions/shown-names.ts'
import { itemColumns, type ItemRow } from '../versions/skill-document.ts'
import { toContextTerms } from '../../search/words/context-terms.ts'
import { selectVisible } from '../../search/database/visible-skills.ts'
import { listedCondition, type Viewer } from '../../visibility/conditions.ts'

/** The match of every skill if there is no query. */
const matchWithoutQuery = { score: 0, fields: [], terms: [] }

type SearchInput = Input<'searchSkills'> & Pick<Input<'searchByNeed'>, 'context'>

/** GET /skills and POST /search: docs/api.md#search-results. */
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
export async function suggestSkills(context: CatalogueContext, input: Input<'suggest'>, caller: Caller) {
  const suggestions = await context.search.suggest(input.q, input.limit, callerId(caller), context.database)
  return { suggestions, total: suggestions.length }
}

/** GET /categories: the categories of public skills, largest first. */
export async function listCategories(context: StorageContext) {
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
