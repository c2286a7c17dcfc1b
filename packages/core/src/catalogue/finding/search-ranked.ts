import { parseJson } from '../../storage/tables.ts'
import { toDigest } from '@skillstead/skill-format/archives'
import { type Rerankable, rerankedMax } from '../../search/reranker.ts'
import type { SearchHits, SearchQuery } from '../../search/search-index.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { publicCondition } from '../../visibility/conditions.ts'

/** Maximum length of the compared text of a skill, in UTF-16 units. */
const rerankedLengthMax = 2000
const rerankedHeadingsMax = 20

/**
 * Searches, and orders the best hits by the second stage if the node has one and the search is by relevance. The second
 * stage receives only texts of public skills; other hits are ordered by their score alone.
 */
export async function searchRanked(context: CatalogueContext, query: SearchQuery): Promise<SearchHits> {
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
