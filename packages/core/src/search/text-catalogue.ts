import { setImmediate } from 'node:timers/promises'
import type { Database } from '../storage/database.ts'
import { countMatches, matchTerms, type RowRange, type TextTerm } from '../storage/text-search.ts'
import type { SearchHits, SearchQuery } from './search-index.ts'
import { hashStem } from './count-stems.ts'
import { valuesOf } from './passage.ts'
import { type Candidate, type Frequencies, TextRanking, weightOf } from './text-ranking.ts'
import { needFloor, needTermsMin } from './ranking.ts'
import { relevanceFloor } from './scoreboard.ts'
import { isIdeographic, parseNeed, parseQuery } from './tokenize.ts'
import { readStored, selectVisible } from './visible-skills.ts'

/** Matches with the highest coverage whose order is computed from their texts; the others keep the order by coverage. */
const rankedMax = 200
/**
 * Skills with a term that one search reads, summed over its terms. Terms are read by rarity; of a single more frequent one
 * the newest skills. Hidden skills count too: counting visible ones would take as long as reading.
 */
const matchesMax = 30_000
/** The databases read all words that begin with a prefix, and too many begin with a shorter one. */
const prefixLengthMin = 3
/** What one statement reads, so that SQLite blocks the event loop for about 10 ms: skills with a term, and skills. */
const rangeMatches = 3000
const rangeRows = 5000
const sortColumns = { downloads: 'downloads', recent: 'published_at', stars: 'stars' } as const
/** Matches whose sort columns one statement reads. */
const sortedMax = 1000

/**
 * Searches the database's full-text index, with the same filters, sort orders, totals and pages as the index in memory,
 * and by nearly the same rules: it corrects no misspellings, and ignores the context of a search.
 */
export async function searchText(database: Database, query: SearchQuery): Promise<SearchHits> {
  const { terms, isCut } = toTerms(query.q)
  if (query.q.trim() === '') return readListed(database, query)
  if (terms.length === 0) return { ids: [], total: 0, ...(query.explain && { matches: [] }) }
  const counts = await countMatches(database.read, database.dialect, terms, matchesMax)
  await setImmediate()
  const rarest = keepRarest(terms, counts)
  const hits = await readMatches(database, query, rarest)
  return isCut || rarest.terms.length < terms.length ? { ...hits, partial: true } : hits
}

/**
 * The words of the query for the short texts, and the stems of the same and of further words for the body. Words with the
 * same stem, such as `test` and `tests`, share it: only the first has it.
 */
function toTerms(q: string): { terms: TextTerm[]; isCut: boolean } {
  const { terms: words, lastIsOpen } = parseQuery(q)
  const need = parseNeed(q)
  const wanted = new Set(need.words)
  const taken = new Set<number>()
  const stemOf = (word: string) => {
    const stem = hashStem(word)
    if (!wanted.has(word) || taken.has(stem)) return {}
    taken.add(stem)
    return { stem }
  }
  const isPrefix = (word: string, i: number) =>
    lastIsOpen && i === words.length - 1 && (isIdeographic(word) || word.length >= prefixLengthMin)
  const named = words.map((word, i) => ({ word, isPrefix: isPrefix(word, i), ...stemOf(word) }))
  const others = need.words
    .filter((word) => !words.includes(word))
    .map((word) => ({ word, ...stemOf(word) }))
    .filter((term) => 'stem' in term)
  return { terms: [...named, ...others], isCut: need.isCut }
}

/** The terms of a query that are read, and the number of skills with one of them, summed over the terms. */
interface KeptTerms {
  readonly terms: readonly TextTerm[]
  readonly cost: number
}

function keepRarest(terms: readonly TextTerm[], counts: readonly number[]): KeptTerms {
  const order = [...terms.keys()].toSorted((a, b) => counts[a]! - counts[b]! || a - b)
  let cost = 0
  const kept = new Set(order.filter((at, place) => (cost += counts[at]!) <= matchesMax || place === 0))
  return { terms: terms.filter((_, at) => kept.has(at)), cost: Math.min(cost, matchesMax) }
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
  const visible = selectVisible(database, query.viewer, query.filters, await readStored(database, query.filters))
  const { total } = await visible.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const rows = await visible
    .select('num')
    .orderBy(sortColumns[query.sort ?? 'downloads'], 'desc')
    .orderBy('full_name')
    .limit(query.limit)
    .offset(query.offset)
    .execute()
  return { ids: rows.map(({ num }) => num), total }
}

/** The skills that match, ranked or sorted. */
async function readMatches(database: Database, query: SearchQuery, kept: KeptTerms): Promise<SearchHits> {
  const { offset, limit } = query
  const { frequencies, hits, isCut } = await readHits(database, query, kept)
  const nums = await sortMatches(database, query, findMatches(hits, frequencies))
  const ranking = new TextRanking(kept.terms, frequencies)
  const isRanked = !query.sort && offset < rankedMax
  const shown = nums.slice(offset, offset + limit)
  const ranked = await ranking.rank(
    await readCandidates(database, isRanked ? nums.slice(0, rankedMax) : query.explain ? shown : []),
  )
  const order = isRanked ? [...ranked.map(({ num }) => num), ...nums.slice(rankedMax)] : nums
  const ids = order.slice(offset, offset + limit)
  const found = { ids, total: nums.length, ...(isCut && { partial: true as const }) }
  if (!query.explain) return found
  const explained = new Map(ranked.map((one) => [one.num, one]))
  const others = ids.filter((num) => !explained.has(num))
  for (const one of await ranking.rank(await readCandidates(database, others))) explained.set(one.num, one)
  // A skill may have been purged since it was found.
  const matches = ids.map((num) => explained.get(num)?.match ?? { score: 0, fields: [], terms: [] })
  return { ...found, matches, values: valuesOf(ranking.values, matches) }
}

/** By skill: a number for each term that it contains, and for the short texts that contain it. */
type Hits = ReadonlyMap<number, readonly number[]>

const toHit = (term: number, short: number) => term * 2 + short
const termOf = (hit: number) => hit >>> 1
const isShort = (hit: number) => (hit & 1) === 1

/**
 * The terms of the skills that the viewer may see, at most {@link matchesMax}, those of the newest skills first. SQLite
 * blocks the event loop, so it reads the skills in ranges.
 */
async function readHits(database: Database, query: SearchQuery, { terms, cost }: KeptTerms) {
  const hits = new Map<number, number[]>()
  const counts = new Map<number, number>()
  let [size, left] = [0, matchesMax]
  for (const range of await toRanges(database, cost)) {
    const seen = selectSeen(database, query, range)
    size += (await seen.select((eb) => eb.fn.countAll<number>().as('size')).executeTakeFirstOrThrow()).size
    await setImmediate()
    if (left === 0) continue
    const rows = await seen
      .innerJoin(matchTerms(database.dialect, terms, range).as('hits'), 'hits.num', 'skills.num')
      .select(['hits.num', 'hits.term', 'hits.short'])
      .orderBy('hits.num', 'desc')
      .limit(left)
      .execute()
    for (const { num, term, short } of rows) {
      counts.set(term, (counts.get(term) ?? 0) + 1)
      const own = hits.get(num)
      if (own) own.push(toHit(term, short))
      else hits.set(num, [toHit(term, short)])
    }
    left -= rows.length
    await setImmediate()
  }
  const sorted = new Map([...counts].toSorted(([a], [b]) => a - b))
  return { hits, frequencies: { size, counts: sorted }, isCut: left === 0 }
}

/** Ranges of row numbers that one statement reads, newest first. */
async function toRanges({ dialect, read }: Database, cost: number): Promise<(RowRange | undefined)[]> {
  if (dialect === 'postgres') return [undefined]
  const row = await read
    .selectFrom('skills')
    .select((eb) => eb.fn.max<number | null>('num').as('end'))
    .executeTakeFirst()
  const end = row?.end ?? 0
  const width = Math.ceil(end / Math.max(1, Math.ceil(cost / rangeMatches), Math.ceil(end / rangeRows)))
  const ranges: RowRange[] = []
  for (let from = 1; from <= end; from += width) ranges.push({ from, to: from + width - 1 })
  return ranges.toReversed()
}

/** The skills that match, with the weight of their terms: the rules of the index in memory. */
function findMatches(hits: Hits, frequencies: Frequencies): Map<number, number> {
  const { counts } = frequencies
  const weights = new Map(counts.keys().map((term) => [term, weightOf(frequencies, term)]))
  const sums = [...hits].map(([num, own]) => {
    let [coverage, named] = [0, 0]
    for (const hit of own.toSorted((a, b) => a - b)) {
      const weight = weights.get(termOf(hit))!
      coverage += weight
      if (isShort(hit)) named += weight
    }
    return { num, coverage, named, terms: own.length }
  })
  const best = sums.reduce((most, { coverage }) => Math.max(most, coverage), 0)
  const bestNamed = sums.reduce((most, { named }) => Math.max(most, named), 0)
  const termsMin = Math.min(needTermsMin, counts.size)
  const matches = sums.filter(
    ({ coverage, named, terms }) =>
      (named > 0 && named >= relevanceFloor * bestNamed) || (terms >= termsMin && coverage >= needFloor * best),
  )
  return new Map(matches.map(({ num, coverage }) => [num, coverage]))
}

/** The matches that pass the filters: best coverage first, or as the query wants them sorted. */
async function sortMatches(
  database: Database,
  { viewer, filters, sort }: SearchQuery,
  matches: ReadonlyMap<number, number>,
): Promise<number[]> {
  const column = sortColumns[sort ?? 'downloads']
  const visible = selectVisible(database, viewer, filters, await readStored(database, filters))
  const found: { num: number; full_name: string; value: number; coverage: number }[] = []
  const nums = [...matches.keys()]
  for (let at = 0; at < nums.length; at += sortedMax) {
    const rows = await visible
      .select(['num', 'full_name', `${column} as value`])
      .where('num', 'in', nums.slice(at, at + sortedMax))
      .execute()
    for (const row of rows) found.push({ ...row, coverage: sort ? 0 : matches.get(row.num)! })
    await setImmediate()
  }
  found.sort((a, b) => b.coverage - a.coverage || b.value - a.value || (a.full_name < b.full_name ? -1 : 1))
  return found.map(({ num }) => num)
}

/** The skills in which words are counted, and to whose best match a match is compared: before the filters. */
function selectSeen(database: Database, { viewer, filters }: SearchQuery, range: RowRange | undefined) {
  return selectVisible(database, viewer, { includeStubs: filters.includeStubs }).$if(range !== undefined, (skills) =>
    skills.where('skills.num', '>=', range!.from).where('skills.num', '<=', range!.to),
  )
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
