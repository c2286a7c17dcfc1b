import { type RawBuilder, sql, type SqlBool } from 'kysely'
import type { Database } from '../../storage/database.ts'
import { type FoundToken, matchTokens, type TextToken } from '../../storage/text-search.ts'
import type { SearchMatch } from '../explanation.ts'
import { createIndexHere } from '../index-host.ts'
import type { TermValues } from '../passage.ts'
import { readKeysOf } from '../../visibility/audience.ts'
import type { SearchHits, SearchQuery } from '../search-index.ts'
import { readNumbered } from '../stored-documents.ts'
import { toFilterCondition } from '../filters.ts'
import { chooseTokens, queryMatchesMax } from './query-tokens.ts'
import { countVisible, selectVisible } from './visible-skills.ts'

/** Number of matches that the index in memory ranks; the matches after them keep the order of the database. */
const rankedMax = 100
/** The score of a token by kind, which is multiplied by the rarity of the token. */
const tokenWeights = { word: 1, strong: 1, weak: 0.3 } as const satisfies Record<TextToken['kind'], number>
/**
 * A match must reach this fraction of the best score: a skill that shares a common word with the query has another
 * topic.
 */
const scoreFloor = 0.3
const sortColumns = {
  downloads: 'downloads',
  recent: 'published_at',
  stars: 'stars',
  effect: 'effect_low',
} as const
/** Maximum `offset + limit` of a list by date that is read in the order of the versions ({@link isNewest}). */
const newestMax = 1000
const noTextMatch = { score: 0, fields: [], terms: [] }

/**
 * Searches the database's full-text index, with the same filters, sort orders, totals and pages as the index in memory.
 * The database finds the matches by the words and stems of the query, and scores them by the rarity of these words. The
 * matches with the highest scores are then loaded into a temporary index in memory, which ranks and explains them by
 * the same rules as the index in memory of all skills. Misspellings are corrected only to words of these matches.
 */
export async function searchText(database: Database, query: SearchQuery): Promise<SearchHits> {
  if (query.q.trim() === '') return readListedPage(database, query)
  const { tokens, isCut } = await chooseTokens(database, query.q)
  const { sort, offset, limit, explain } = query
  const isRanked = !sort && offset < rankedMax
  const page = isRanked ? { offset: 0, limit: Math.max(rankedMax, offset + limit) } : { offset, limit }
  const { nums, total } = tokens.length === 0 ? noHits : await readMatchesPage(database, { ...query, ...page }, tokens)
  const best = isRanked ? await rankFound(database, query, nums.slice(0, rankedMax)) : noRanking
  const ids = isRanked ? [...best.ids, ...nums.slice(rankedMax)].slice(offset, offset + limit) : nums
  const hits = { ids, total, ...(isCut && { partial: true as const }) }
  if (!explain) return hits
  const others = await rankFound(
    database,
    query,
    ids.filter((num) => !best.matches.has(num)),
  )
  const matches = ids.map((num) => best.matches.get(num) ?? others.matches.get(num) ?? noTextMatch)
  return { ...hits, matches, values: new Map([...others.values, ...best.values]) }
}

const noHits = { nums: [], total: 0 }

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

/** A page of all skills that pass the filters, for a search without words. */
async function readListedPage(database: Database, query: SearchQuery): Promise<SearchHits> {
  const { viewer, filters, sort = 'downloads', offset, limit } = query
  const passes = await toFilterCondition(database, filters)
  const listed = selectVisible(database, viewer, filters).where(passes)
  const sorted = isNewest(database, query) ? sortByVersions(listed) : listed.orderBy(sortColumns[sort], 'desc')
  const [count, rows] = await Promise.all([
    countVisible(database, viewer, filters, isFiltered(filters) ? passes : undefined),
    sorted.select('num').orderBy('full_name').limit(limit).offset(offset).execute(),
  ])
  return { ids: rows.map(({ num }) => num), ...count }
}

/**
 * Whether a list is the beginning of all skills by date. PostgreSQL then finds them in the order of their versions,
 * with a look-up for each version until the page is full. False with filters, because the look-ups could then read all
 * versions, and with stubs, because stubs have no versions.
 */
function isNewest({ dialect }: Database, { sort, filters, offset, limit }: SearchQuery): boolean {
  const isBeginning = offset + limit <= newestMax && !filters.includeStubs && !isFiltered(filters)
  return dialect === 'postgres' && sort === 'recent' && isBeginning
}

/** Whether filters leave out skills other than stubs. */
function isFiltered(filters: SearchQuery['filters']): boolean {
  return Object.entries(filters).some(([name, wanted]) => name !== 'includeStubs' && wanted !== undefined)
}

function sortByVersions(listed: ReturnType<typeof selectVisible>) {
  return listed
    .innerJoin('versions', (join) =>
      join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
    )
    .orderBy('versions.published_at', 'desc')
}

/**
 * A page of the skills that match and pass the filters, and the number of these skills on all pages. The score is the
 * sum of the weights of a skill's tokens. The rarity of a token and the best score depend on what the viewer may see,
 * so that other users' private skills change no order (`bm25()` of SQLite counts all skills, `ts_rank` of PostgreSQL
 * knows no rarity), and not on the filters, so that a filter only removes matches.
 */
async function readMatchesPage(
  database: Database,
  { viewer, filters, sort, offset, limit }: SearchQuery,
  tokens: readonly TextToken[],
): Promise<{ nums: number[]; total: number }> {
  const found = matchTokens(
    database.dialect,
    tokens.map((token) => ({ ...token, weight: tokenWeights[token.kind] })),
    queryMatchesMax,
  )
  const closed = selectVisible(database, viewer, filters)
    .innerJoin(sql<FoundToken>`found`.as('found'), 'found.num', 'skills.num')
    .where(sql<SqlBool>`not open`)
    .select(['found.num', 'token', 'weight'])
  const end = offset + limit
  // In the order of relevance and without filters, all matches pass. Then count the matches, and look up only the best
  // of them, up to the end of the page.
  const isCounted = sort !== undefined || isFiltered(filters)
  const passing = selectVisible(database, viewer, filters)
    .where(await toFilterCondition(database, filters))
    .innerJoin(sql<{ num: number }>`matches`.as('matches'), 'matches.num', 'skills.num')
    .where(isCounted ? sql.lit(true) : sql<SqlBool>`matches.place <= ${end}`)
    .select('matches.num')
    .select(sql`row_number() over (order by ${toOrderBy(sort)})`.as('place'))
  const { rows } = await sql<{ num: number | null; total: number }>`
    with found as materialized ${found},
      hits as materialized (select num, token, weight from found where open union all select * from ${closed} as closed),
      audience as (select cast(count(distinct num) as real) as size from hits),
      rarities as (select token, ln(1 + (size - count(*) + 0.5) / (count(*) + 0.5)) as rarity
        from hits, audience group by token, size),
      scores as (select num, sum(weight * rarity) as score from hits join rarities using (token) group by num),
      matches as (select num, score, rank() over (order by score desc) as place from scores
        where score >= (select max(score) from scores) * ${sql.lit(scoreFloor)}),
      passing as materialized ${passing}
    select num, total from (select count(*) as total from ${sql.ref(isCounted ? 'passing' : 'matches')}) as totals
    left join passing on place > ${offset} and place <= ${end} order by place`.execute(database.read)
  return { nums: rows.flatMap(({ num }) => num ?? []), total: rows[0]!.total }
}

function toOrderBy(sort: SearchQuery['sort']): RawBuilder<unknown> {
  const column = sql.ref(sortColumns[sort ?? 'downloads'])
  return sort ? sql`${column} desc, full_name` : sql`score desc, ${column} desc, full_name`
}

interface Ranking {
  /** The matches, best first. */
  readonly ids: readonly number[]
  readonly matches: ReadonlyMap<number, SearchMatch>
  readonly values: TermValues
}

const noRanking: Ranking = { ids: [], matches: new Map(), values: new Map() }

/**
 * Ranks the given skills by an index of these skills alone. Skills that the index does not find come last, in the given
 * order.
 */
async function rankFound(database: Database, query: SearchQuery, nums: readonly number[]): Promise<Ranking> {
  if (nums.length === 0) return noRanking
  const index = createIndexHere()
  await index.put(await readNumbered(database, nums))
  const { sort: _sort, ...others } = query
  const viewer = await readKeysOf(database.read, query.viewer)
  const {
    ids,
    matches = [],
    values = noRanking.values,
  } = await index.search({ ...others, viewer, offset: 0, limit: nums.length })
  const found = new Map(ids.map((num, i) => [num, matches[i] ?? noTextMatch]))
  return { ids: [...ids, ...nums.filter((num) => !found.has(num))], matches: found, values }
}
