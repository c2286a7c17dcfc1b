import { setImmediate } from 'node:timers/promises'
import type { Database } from '../../storage/database.ts'
import type { SearchHits, SearchQuery } from '../search-index.ts'
import { valuesOf } from '../passage.ts'
import { idfOf } from '../need-index.ts'
import { joinRelevance, needFloor, needTermsMin } from '../ranking.ts'
import { chooseTokens, type QueryTokens } from './query-tokens.ts'
import { relevanceFloor } from '../scoreboard.ts'
import { valueOfImpact } from '../words/term-vector.ts'
import { type Hits, readHits } from './text-hits.ts'
import { type Candidate, type Frequencies, TextRanking, weightOf } from './text-ranking.ts'
import { countVisible, readStored, selectVisible } from './visible-skills.ts'

/** Best matches whose order is computed from their texts; the others keep the order by the index alone. */
const rankedMax = 200
/** The relevance by short texts that contain all words of the query, if one sentence does. */
const namedMost = 1.9
/** The average value of the impacts that the two tokens of a stem stand for. */
const values = { strong: 3.9, weak: 1.2 }
const sortColumns = { downloads: 'downloads', recent: 'published_at', stars: 'stars' } as const
/** Matches whose sort columns one statement reads. */
const sortedMax = 1000

/**
 * Searches the database's full-text index, with the same filters, sort orders, totals and pages as the index in memory,
 * and by nearly the same rules: it corrects no misspellings, and ignores the context of a search.
 */
export async function searchText(database: Database, query: SearchQuery): Promise<SearchHits> {
  if (query.q.trim() === '') return readListed(database, query)
  const kept = await chooseTokens(database, query.q)
  const none = { ids: [], total: 0, ...(query.explain && { matches: [] }) }
  const hits = kept.tokens.length === 0 ? none : await readMatches(database, query, kept)
  return kept.isCut ? { ...hits, partial: true } : hits
}

/** Names that begin with the text, most downloaded first. */
export async function suggestText(
  database: Database,
  q: string,
  limit: number,
  viewer: string | null,
): Promise<string[]> {
  const typed = q.trim().toLowerCase()
  if (typed === '') return []
  const rows = await selectVisible(database, viewer, { includeStubs: false })
    // A range instead of LIKE, whose case and wildcard rules differ between the two databases.
    .where('name', '>=', typed)
    .where('name', '<', `${typed}\u{10FFFF}`)
    .select((eb) => ['name', eb.fn.max('downloads').as('downloads')])
    .groupBy('name')
    .orderBy('downloads', 'desc')
    .orderBy('name')
    .limit(limit)
    .execute()
  return rows.map(({ name }) => name)
}

/** All skills that pass the filters. */
async function readListed(database: Database, query: SearchQuery): Promise<SearchHits> {
  const { viewer, filters } = query
  const stored = await readStored(database, filters)
  const total = await countVisible(database, viewer, filters, stored)
  const rows = await selectVisible(database, viewer, filters, stored)
    .select('num')
    .orderBy(sortColumns[query.sort ?? 'downloads'], 'desc')
    .orderBy('full_name')
    .limit(query.limit)
    .offset(query.offset)
    .execute()
  return { ids: rows.map(({ num }) => num), total }
}

/** The skills that match, ranked or sorted. */
async function readMatches(database: Database, query: SearchQuery, kept: QueryTokens): Promise<SearchHits> {
  const { offset, limit } = query
  const { frequencies, hits, isCut } = await readHits(database, query, kept)
  const { nums, total } = await sortMatches(database, query, findMatches(hits, kept, frequencies))
  const ranking = new TextRanking(kept.terms, frequencies)
  const isRanked = !query.sort && offset < rankedMax
  const shown = nums.slice(offset, offset + limit)
  const ranked = await ranking.rank(
    await readCandidates(database, isRanked ? nums.slice(0, rankedMax) : query.explain ? shown : []),
  )
  const order = isRanked ? [...ranked.map(({ num }) => num), ...nums.slice(rankedMax)] : nums
  const ids = order.slice(offset, offset + limit)
  const found = { ids, total, ...(isCut && { partial: true as const }) }
  if (!query.explain) return found
  const explained = new Map(ranked.map((one) => [one.num, one]))
  const others = ids.filter((num) => !explained.has(num))
  for (const one of await ranking.rank(await readCandidates(database, others))) explained.set(one.num, one)
  // A skill may have been purged since it was found.
  const matches = ids.map((num) => explained.get(num)?.match ?? { score: 0, fields: [], terms: [] })
  return { ...found, matches, values: valuesOf(ranking.values, matches) }
}

/** The skills that match, with their relevance by the index alone: the rules of the index in memory. */
function findMatches(hits: Hits, { terms, tokens }: QueryTokens, frequencies: Frequencies): Map<number, number> {
  const { size, counts } = frequencies
  const weights = terms.map((_, term) => weightOf(frequencies, term))
  const idf = terms.map(({ stem }, term) => (stem === undefined ? 0 : idfOf(size, counts.get(term) ?? 0)))
  const [weightMost, needMost] = [sumOf(weights), sumOf(idf) * valueOfImpact.at(-1)!]
  const sums = [...hits].map(([num, own]) => {
    let [need, named] = [0, 0]
    const found = new Set<number>()
    for (const at of own.toSorted((a, b) => a - b)) {
      const { kind, term } = tokens[at]!
      found.add(term)
      if (kind === 'word') named += weights[term]!
      else need += idf[term]! * values[kind]
    }
    return { num, need, named, terms: found.size }
  })
  const best = sums.reduce((most, { need }) => Math.max(most, need), 0)
  const bestNamed = sums.reduce((most, { named }) => Math.max(most, named), 0)
  const termsMin = Math.min(needTermsMin, counts.size)
  const matches = sums.filter(
    ({ need, named, terms: count }) =>
      (named > 0 && named >= relevanceFloor * bestNamed) || (need > 0 && count >= termsMin && need >= needFloor * best),
  )
  return new Map(
    matches.map(({ num, need, named }) => [
      num,
      joinRelevance((namedMost * named) / weightMost, needMost === 0 ? 0 : need / needMost),
    ]),
  )
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, value) => sum + value, 0)
}

/**
 * The matches that pass the filters, most relevant first or as the query wants them sorted, and how many there are. Reads
 * only those that are ranked or shown, and others as relevant as the last of these, unless all must be tested or sorted.
 */
async function sortMatches(
  database: Database,
  { viewer, filters, sort, offset, limit }: SearchQuery,
  matches: ReadonlyMap<number, number>,
): Promise<{ nums: number[]; total: number }> {
  const { includeStubs: _includeStubs, ...others } = filters
  const isFiltered = Object.values(others).some((filter) => filter !== undefined)
  const relevances = [...matches.values()].toSorted((a, b) => b - a)
  const least = isFiltered || sort ? 0 : (relevances[Math.max(rankedMax, offset + limit) - 1] ?? 0)
  const read = [...matches.keys()].filter((num) => matches.get(num)! >= least)
  const column = sortColumns[sort ?? 'downloads']
  const visible = selectVisible(database, viewer, filters, await readStored(database, filters))
  const found: { num: number; full_name: string; value: number; relevance: number }[] = []
  for (let at = 0; at < read.length; at += sortedMax) {
    const rows = await visible
      .select(['num', 'full_name', `${column} as value`])
      .where('num', 'in', read.slice(at, at + sortedMax))
      .execute()
    for (const row of rows) found.push({ ...row, relevance: sort ? 0 : matches.get(row.num)! })
    await setImmediate()
  }
  found.sort((a, b) => b.relevance - a.relevance || b.value - a.value || (a.full_name < b.full_name ? -1 : 1))
  return { nums: found.map(({ num }) => num), total: isFiltered ? found.length : matches.size }
}

/** Reads the texts of skills and the terms of their latest versions, in the given order. */
async function readCandidates(database: Database, nums: readonly number[]): Promise<Candidate[]> {
  if (nums.length === 0) return []
  const rows = await database.read
    .selectFrom('skills')
    .leftJoin('versions', (join) =>
      join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
    )
    .leftJoin('version_terms', 'version_terms.version_id', 'versions.id')
    .select(['skills.num', 'skills.owner', 'skills.name', 'skills.display_name', 'skills.keywords'])
    .select(['skills.description', 'skills.headings', 'skills.summary', 'skills.category', 'skills.deprecated'])
    .select('version_terms.terms')
    .where('skills.num', 'in', nums)
    .execute()
  const candidates = new Map(
    rows.map(({ num, keywords, headings, display_name, deprecated, terms, ...row }) => {
      const lists = { keywords: JSON.parse(keywords) as string[], headings: JSON.parse(headings) as string[] }
      const content = terms ?? new Uint8Array()
      return [num, { ...row, ...lists, num, displayName: display_name, isDeprecated: deprecated === 1, content }]
    }),
  )
  return nums.flatMap((num) => candidates.get(num) ?? [])
}
