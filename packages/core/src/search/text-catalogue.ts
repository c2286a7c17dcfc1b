import { sql, type Expression, type SelectQueryBuilder, type SqlBool } from 'kysely'
import type { Database } from '../storage/database.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import { matchText, matchWords, type TextQuery } from '../storage/text-search.ts'
import type { SearchFilters, SearchHits, SearchQuery } from './search-index.ts'
import type { SearchMatch } from './explanation.ts'
import { hashStem } from './count-stems.ts'
import { valuesOf } from './passage.ts'
import { searchFields } from './search-document.ts'
import { relevanceFloor } from './scoreboard.ts'
import { parseNeed, parseQuery, toIndexText } from './tokenize.ts'

/**
 * Searches the database's full-text index, with the same filters, sort orders, totals and pages as the index in memory.
 */
export async function searchText(database: Database, query: SearchQuery): Promise<SearchHits> {
  const { terms, lastIsOpen } = parseQuery(query.q)
  if (terms.length === 0 && query.q.trim() !== '') return { ids: [], total: 0, ...(query.explain && { matches: [] }) }
  if (terms.length === 0) return readPage(database, query, undefined)
  return readPage(database, query, { terms, prefixLast: lastIsOpen })
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

async function readPage(database: Database, query: SearchQuery, text: TextQuery | undefined): Promise<SearchHits> {
  const stored = await readStored(database, query.filters)
  const visible = selectVisible(database, query.viewer, query.filters, stored)
  const match = text && matchText(database.dialect, text)
  const relevant = text ? visible.where('skills.num', 'in', selectRelevant(database, query, text)) : visible
  const { total } = await relevant.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const found = match
    ? relevant.innerJoin(match.as('found'), (join) => join.onRef('found.num', '=', 'skills.num'))
    : relevant
  const rank = match && !query.sort ? sql<number>`found.rank` : sql<number>`0`
  const rows = await (found as typeof visible)
    .select(['skills.num', rank.as('rank')])
    // A constant in `order by` would be read as a column number.
    .$if(match !== undefined && !query.sort, (select) => select.orderBy(rank, 'desc'))
    .orderBy(sortColumns[query.sort ?? 'downloads'], 'desc')
    .orderBy('full_name')
    .limit(query.limit)
    .offset(query.offset)
    .execute()
  const ids = rows.map(({ num }) => num)
  if (!query.explain) return { ids, total }
  const words = text ? await readWords(database, ids) : new Map<number, Words>()
  const matches = rows.map((row) => ({ score: row.rank, ...explainWords(words.get(row.num), text) }))
  const values = new Map(parseNeed(query.q).map((word) => [hashStem(word), 1]))
  return { ids, total, matches, values: valuesOf(values, matches) }
}

/**
 * Selects the skills that are relevant to the whole query, by the same rule as the index in memory: among all that the
 * viewer may see, before the filters. A word weighs more if fewer of the candidates contain it.
 */
function selectRelevant(database: Database, { viewer, filters }: SearchQuery, text: TextQuery) {
  const { includeStubs } = filters
  const seen = selectVisible(database, viewer, { includeStubs })
    .innerJoin(matchWords(database.dialect, text).as('hits'), 'hits.num', 'skills.num')
    .select(['hits.num', 'hits.term'])
  return sql<number>`(with seen as ${seen},
    weights as (
      select term, ln(1 + cast((select count(distinct num) from seen) as double precision) / count(*)) as weight
      from seen group by term
    ),
    covered as (select num, sum(weight) as coverage from seen join weights on weights.term = seen.term group by num)
    select num from covered where coverage >= ${sql.lit(relevanceFloor)} * (select max(coverage) from covered))`
}

type Words = ReturnType<typeof toIndexText>

/** Reads the words of skills, which the full-text index does not store. */
async function readWords(database: Database, ids: number[]): Promise<Map<number, Words>> {
  if (ids.length === 0) return new Map()
  const rows = await database.read
    .selectFrom('skills')
    .select(['num', 'owner', 'name', 'display_name', 'keywords', 'description', 'headings', 'summary', 'category'])
    .where('num', 'in', ids)
    .execute()
  return new Map(
    rows.map((row) => {
      const [keywords, headings] = [JSON.parse(row.keywords) as string[], JSON.parse(row.headings) as string[]]
      return [row.num, toIndexText({ ...row, displayName: row.display_name, keywords, headings })]
    }),
  )
}

/** Finds which words of which fields match a query, by the rules of the database's match. */
function explainWords(words: Words | undefined, text: TextQuery | undefined): Omit<SearchMatch, 'score'> {
  if (!words || !text) return { fields: [], terms: [] }
  const wanted = new Set(text.terms)
  const begun = text.prefixLast ? text.terms.at(-1)! : undefined
  const answers = searchFields.map((field) => ({
    field,
    words: words[field].split(' ').filter((word) => wanted.has(word) || (begun && word.startsWith(begun))),
  }))
  return {
    fields: answers.filter((answer) => answer.words.length > 0).map(({ field }) => field),
    terms: [...new Set(answers.flatMap((answer) => answer.words))],
  }
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
