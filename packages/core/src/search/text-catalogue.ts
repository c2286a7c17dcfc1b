import { sql, type Expression, type SelectQueryBuilder, type SqlBool } from 'kysely'
import type { Database } from '../storage/database.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import { matchText, type TextQuery } from '../storage/text-search.ts'
import type { SearchFilters, SearchHits, SearchQuery } from './search-index.ts'
import { parseQuery } from './tokenize.ts'

/** As the index in memory answers, from the database's full-text index: the same filters, sorts, totals and pages. */
export async function searchText(database: Database, query: SearchQuery): Promise<SearchHits> {
  const { terms, lastIsOpen } = parseQuery(query.q)
  if (terms.length === 0 && query.q.trim() !== '') return { ids: [], total: 0, ...(query.explain && { matches: [] }) }
  if (terms.length === 0) return readPage(database, query, undefined)
  const any: TextQuery = { terms, require: 'any', prefixLast: lastIsOpen }
  if (query.sort === undefined || terms.length === 1) return readPage(database, query, any)
  // By relevance a weak match comes last; by any other order it would come first, so all terms are asked for.
  const all = await readPage(database, query, { ...any, require: 'all' })
  return all.total > 0 ? all : readPage(database, query, any)
}

/** Names that begin with the text, the most used first. */
export async function suggestText(
  database: Database,
  q: string,
  limit: number,
  viewer: string | null,
): Promise<string[]> {
  const typed = q.trim().toLowerCase()
  if (typed === '') return []
  const rows = await selectVisible(database, viewer, { includeStubs: false })
    // A range instead of LIKE, whose case and wildcards the two databases take differently.
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

async function readPage(database: Database, query: SearchQuery, text: TextQuery | undefined): Promise<SearchHits> {
  const visible = selectVisible(database, query.viewer, query.filters)
  const match = text && matchText(database.dialect, text)
  const { total } = await visible
    .$if(match !== undefined, (select) => select.where('num', 'in', sql<number>`(select num from ${match!} as found)`))
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const found = match
    ? visible.innerJoin(match.as('found'), (join) => join.onRef('found.num', '=', 'skills.num'))
    : visible
  const rank = match && !query.sort ? sql<number>`found.rank` : sql<number>`0`
  const rows = await (found as typeof visible)
    .select(['skills.num', rank.as('rank')])
    // A constant would be taken for the number of a column.
    .$if(match !== undefined && !query.sort, (select) => select.orderBy(rank, 'desc'))
    .orderBy(sortColumns[query.sort ?? 'downloads'], 'desc')
    .orderBy('full_name')
    .limit(query.limit)
    .offset(query.offset)
    .execute()
  const ids = rows.map(({ num }) => num)
  if (!query.explain) return { ids, total }
  return { ids, total, matches: rows.map((row) => ({ score: row.rank, fields: [], terms: [...(text?.terms ?? [])] })) }
}

const sortColumns = { downloads: 'downloads', recent: 'published_at', stars: 'stars' } as const

function selectVisible(
  database: Database,
  viewer: string | null,
  filters: SearchFilters,
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
    .where((eb) => eb.and(toConditions(filters)))
}

function toConditions(filters: SearchFilters): Expression<SqlBool>[] {
  const conditions: Expression<SqlBool>[] = []
  if (!filters.includeStubs) conditions.push(flag('stub', false))
  if (filters.category !== undefined) conditions.push(equal('category', filters.category))
  if (filters.license !== undefined) conditions.push(equal('license', filters.license))
  if (filters.owner !== undefined) conditions.push(equal('owner', filters.owner))
  if (filters.verified !== undefined) conditions.push(flag('verified', filters.verified))
  if (filters.deprecated !== undefined) conditions.push(flag('deprecated', filters.deprecated))
  if (filters.minSecurityScore !== undefined)
    conditions.push(sql<SqlBool>`security_score >= ${filters.minSecurityScore}`)
  if (filters.keyword !== undefined) {
    // The list is JSON text: the keyword as it is written there, between its quotes.
    const quoted = JSON.stringify(filters.keyword.toLowerCase())
    conditions.push(sql<SqlBool>`replace(lower(keywords), ${quoted}, '') <> lower(keywords)`)
  }
  return conditions
}

function equal(column: keyof SkillRow, value: string) {
  return sql<SqlBool>`lower(${sql.ref(column)}) = ${value.toLowerCase()}`
}

function flag(column: keyof SkillRow, value: boolean) {
  return sql<SqlBool>`${sql.ref(column)} = ${Number(value)}`
}
