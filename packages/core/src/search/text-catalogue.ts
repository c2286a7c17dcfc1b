import { setImmediate } from 'node:timers/promises'
import { sql, type Expression, type SelectQueryBuilder, type SqlBool } from 'kysely'
import type { Database } from '../storage/database.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import { countMatches, matchTerms, type TextTerm } from '../storage/text-search.ts'
import type { SearchFilters, SearchHits, SearchQuery } from './search-index.ts'
import { hashStem } from './count-stems.ts'
import { valuesOf } from './passage.ts'
import { type Candidate, type Frequencies, TextRanking, weightOf } from './text-ranking.ts'
import { needFloor, needTermsMin } from './ranking.ts'
import { relevanceFloor } from './scoreboard.ts'
import { parseNeed, parseQuery } from './tokenize.ts'

/** Matches with the highest coverage whose order is computed from their texts; the others keep the order by coverage. */
const rankedMax = 200
/**
 * Skills with a term that one search reads, summed over its terms: SQLite blocks the event loop for about 30 ms. Terms
 * are read by rarity, at least one of them. Hidden skills count too: counting visible ones would take as long as reading.
 */
const matchesMax = 30_000

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
  const kept = keepRarest(terms, counts)
  const hits = await readMatches(database, query, kept)
  return isCut || kept.length < terms.length ? { ...hits, partial: true } : hits
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
  const named = words.map((word, i) => ({ word, isPrefix: lastIsOpen && i === words.length - 1, ...stemOf(word) }))
  const others = need.words
    .filter((word) => !words.includes(word))
    .map((word) => ({ word, ...stemOf(word) }))
    .filter((term) => 'stem' in term)
  return { terms: [...named, ...others], isCut: need.isCut }
}

function keepRarest(terms: readonly TextTerm[], counts: readonly number[]): TextTerm[] {
  const order = [...terms.keys()].toSorted((a, b) => counts[a]! - counts[b]! || a - b)
  let left = matchesMax
  const kept = new Set(order.filter((at, place) => (left -= counts[at]!) >= 0 || place === 0))
  return terms.filter((_, at) => kept.has(at))
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

const foldedColumns = ['category', 'license'] as const
/** The stored spellings of the texts that a search filters by. */
type StoredTexts = { [Column in (typeof foldedColumns)[number]]?: string[] }

/** Compares the spellings here, because SQLite's `lower` only converts ASCII. There are few distinct texts. */
async function readStored(database: Database, filters: SearchFilters): Promise<StoredTexts> {
  const stored: StoredTexts = {}
  for (const column of foldedColumns) {
    const wanted = filters[column]?.toLowerCase()
    if (wanted === undefined) continue
    const rows = await database.read.selectFrom('skills').select(column).distinct().execute()
    stored[column] = rows.map((row) => row[column]).filter((text) => text.toLowerCase() === wanted)
  }
  return stored
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
async function readMatches(database: Database, query: SearchQuery, terms: TextTerm[]): Promise<SearchHits> {
  const { offset, limit } = query
  const isRanked = !query.sort && offset < rankedMax
  const page = isRanked ? { offset: 0, limit: Math.max(rankedMax, offset + limit) } : { offset, limit }
  const frequencies = await countVisible(database, query, terms)
  await setImmediate()
  const { nums, total } = await findMatches(database, query, { terms, frequencies }, page)
  const ranking = new TextRanking(terms, frequencies)
  const best = isRanked ? nums.slice(0, rankedMax) : query.explain ? nums : []
  const ranked = await ranking.rank(await readCandidates(database, best))
  const order = isRanked ? [...ranked.map(({ num }) => num), ...nums.slice(rankedMax)] : nums
  const ids = isRanked ? order.slice(offset, offset + limit) : order
  if (!query.explain) return { ids, total }
  const explained = new Map(ranked.map((one) => [one.num, one]))
  const others = await ranking.rank(
    await readCandidates(
      database,
      ids.filter((num) => !explained.has(num)),
    ),
  )
  for (const one of others) explained.set(one.num, one)
  // A skill may have been purged since it was found.
  const matches = ids.map((num) => explained.get(num)?.match ?? { score: 0, fields: [], terms: [] })
  return { ids, total, matches, values: valuesOf(ranking.values, matches) }
}

/** A page of the matches by the filters, best coverage first or sorted, and the number of all of them. */
async function findMatches(
  database: Database,
  query: SearchQuery,
  { terms, frequencies }: { terms: readonly TextTerm[]; frequencies: Frequencies },
  page: { offset: number; limit: number },
): Promise<{ nums: number[]; total: number }> {
  const known = frequencies.counts.size
  if (known === 0) return { nums: [], total: 0 }
  const hits = matchTerms(database.dialect, terms, (term) => weightOf(frequencies, term))
  const sums = sql<Sums>`(
    select num, sum(weight) as coverage, sum(weight * short) as named, count(*) as terms from ${hits} as hits group by num
  )`
  const compared = selectSeen(database, query)
    .innerJoin(sums.as('sums'), 'sums.num', 'skills.num')
    .select(['sums.num', 'sums.coverage', 'sums.named', 'sums.terms'])
    .select([sql<number>`max(coverage) over ()`.as('best'), sql<number>`max(named) over ()`.as('best_named')])
  const rows = await selectVisible(database, query.viewer, query.filters, await readStored(database, query.filters))
    .innerJoin(compared.as('compared'), 'compared.num', 'skills.num')
    .select(['skills.num', sql<number>`count(*) over ()`.as('total')])
    .where(
      sql<SqlBool>`(named > 0 and named >= ${sql.lit(relevanceFloor)} * best_named
        or terms >= ${sql.lit(Math.min(needTermsMin, known))} and coverage >= ${sql.lit(needFloor)} * best)`,
    )
    .$if(query.sort !== undefined, (found) => found.orderBy(`skills.${sortColumns[query.sort!]}`, 'desc'))
    .$if(query.sort === undefined, (found) => found.orderBy('coverage', 'desc').orderBy('skills.downloads', 'desc'))
    .orderBy('skills.full_name')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  if (rows.length > 0 || page.offset === 0) return { nums: rows.map(({ num }) => num), total: rows[0]?.total ?? 0 }
  const { total } = await findMatches(database, query, { terms, frequencies }, { offset: 0, limit: 1 })
  return { nums: [], total }
}

/** What a skill has of a query: weights of its terms, those of its short texts alone, and their number. */
interface Sums {
  readonly num: number
  readonly coverage: number
  readonly named: number
  readonly terms: number
}

/** Number of skills that the viewer may see, and for each term that one of them contains, of those that do. */
async function countVisible(database: Database, query: SearchQuery, terms: readonly TextTerm[]): Promise<Frequencies> {
  const { size } = await selectSeen(database, query)
    .select((eb) => eb.fn.countAll<number>().as('size'))
    .executeTakeFirstOrThrow()
  await setImmediate()
  const rows = await selectSeen(database, query)
    .innerJoin(matchTerms(database.dialect, terms).as('hits'), 'hits.num', 'skills.num')
    .select(['hits.term', (eb) => eb.fn.countAll<number>().as('found')])
    .groupBy('hits.term')
    .orderBy('hits.term')
    .execute()
  return { size, counts: new Map(rows.map(({ term, found }) => [term, found])) }
}

/** The skills in which words are counted, and to whose best match a match is compared: before the filters. */
function selectSeen(database: Database, { viewer, filters }: SearchQuery) {
  return selectVisible(database, viewer, { includeStubs: filters.includeStubs })
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

const sortColumns = { downloads: 'downloads', recent: 'published_at', stars: 'stars' } as const

/** Selects the skills that a viewer may see, and that pass the filters. */
export function selectVisible(
  database: Database,
  viewer: string | null,
  filters: SearchFilters,
  stored: StoredTexts = {},
): SelectQueryBuilder<Tables, 'skills', object> {
  return database.read
    .selectFrom('skills')
    .where('state', '=', 'live')
    .where((eb) => eb.or([eb('latest_version', '!=', ''), eb('stub', '=', 1)]))
    .where((eb) => {
      if (viewer === null) return eb('visibility', '=', 'public')
      const mine = eb.exists(
        eb
          .selectFrom('collaborators')
          .select('user_id')
          .whereRef('collaborators.skill_id', '=', 'skills.id')
          .where('collaborators.user_id', '=', viewer),
      )
      return eb.or([eb('visibility', 'in', ['public', 'internal']), eb('owner_id', '=', viewer), mine])
    })
    .where((eb) => eb.and(toConditions(filters, stored)))
}

function toConditions(filters: SearchFilters, stored: StoredTexts): Expression<SqlBool>[] {
  const conditions: Expression<SqlBool>[] = []
  if (!filters.includeStubs) conditions.push(flag('stub', false))
  for (const column of foldedColumns) {
    const values = stored[column]
    if (values) conditions.push(values.length === 0 ? sql<SqlBool>`1 = 0` : isOneOf(column, values))
  }
  // Usernames are ASCII, which databases and JavaScript lower-case alike.
  if (filters.owner !== undefined) conditions.push(sql<SqlBool>`lower(owner) = ${filters.owner.toLowerCase()}`)
  if (filters.verified !== undefined) conditions.push(flag('verified', filters.verified))
  if (filters.deprecated !== undefined) conditions.push(flag('deprecated', filters.deprecated))
  if (filters.minSecurityScore !== undefined)
    conditions.push(sql<SqlBool>`security_score >= ${filters.minSecurityScore}`)
  if (filters.keyword !== undefined) {
    // The column is JSON text: search for the keyword with its quotes.
    const quoted = JSON.stringify(filters.keyword.toLowerCase())
    conditions.push(sql<SqlBool>`replace(lower(keywords), ${quoted}, '') <> lower(keywords)`)
  }
  return conditions
}

function isOneOf(column: keyof SkillRow, values: string[]) {
  return sql<SqlBool>`${sql.ref(column)} in (${sql.join(values)})`
}

function flag(column: keyof SkillRow, value: boolean) {
  return sql<SqlBool>`${sql.ref(column)} = ${Number(value)}`
}
