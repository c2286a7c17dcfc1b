import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Database } from '../../storage/database.ts'
import { matchTokens, type RowRange, type TextToken } from '../../storage/text-search.ts'
import { matchesMax, type QueryTokens } from './query-tokens.ts'
import type { SearchQuery } from '../search-index.ts'
import { countVisible, selectVisible } from './visible-skills.ts'

/** What one statement reads, so that SQLite blocks the event loop for about 10 ms: skills with a term, and skills. */
const rangeMatches = 3000
const rangeRows = 5000
/** The share of the skills with a stem that have its strong token. */
const strongShare = 0.3

/** By skill: the numbers of the tokens that it contains. */
export type Hits = ReadonlyMap<number, readonly number[]>

/**
 * The tokens of the skills that the viewer may see, at most {@link matchesMax}, those of the newest skills first. SQLite
 * blocks the event loop, so it reads the skills in ranges.
 */
export async function readHits(database: Database, query: SearchQuery, kept: QueryTokens) {
  const { tokens, cost } = kept
  const hits = new Map<number, number[]>()
  const counts = tokens.map(() => 0)
  const readSome = database.dialect === 'sqlite' ? readRange : readAll
  let [size, left] = [0, matchesMax]
  for (const range of await toRanges(database, cost)) {
    const found = await readSome(database, query, left === 0 ? [] : tokens, range)
    size += found.size
    const rows = found.rows.length > left ? found.rows.toSorted((a, b) => b.num - a.num).slice(0, left) : found.rows
    for (const { num, token } of rows) {
      counts[token]!++
      const own = hits.get(num)
      if (own) own.push(token)
      else hits.set(num, [token])
    }
    left -= rows.length
    await setImmediate()
  }
  return { hits, frequencies: { size, counts: toTermCounts(kept, counts, size) }, isCut: left === 0 }
}

interface FoundTokens {
  /** Number of skills that the viewer may see. */
  readonly size: number
  readonly rows: readonly { readonly num: number; readonly token: number }[]
}

type TokenReader = (
  database: Database,
  query: SearchQuery,
  tokens: readonly TextToken[],
  range: RowRange | undefined,
) => Promise<FoundTokens>

/** In SQLite, looking up the skill of each row would take twice as long as reading all skills of the range. */
const readRange: TokenReader = async (database, query, tokens, range) => {
  const skills = await selectSeen(database, query, range).select('num').execute()
  await setImmediate()
  if (tokens.length === 0) return { size: skills.length, rows: [] }
  const seen = new Set(skills.map(({ num }) => num))
  const rows = await database.read
    .selectFrom(matchTokens('sqlite', tokens, range).as('hits'))
    .select(['num', 'token'])
    .execute()
  return { size: skills.length, rows: rows.filter(({ num }) => seen.has(num)) }
}

/** All rows as two texts: PostgreSQL and its driver take as long for a row as for a hundred numbers. */
const readAll: TokenReader = async (database, query, tokens) => {
  const size = await countSeen(database, query)
  if (tokens.length === 0) return { size, rows: [] }
  const found = selectSeen(database, query, undefined)
    .innerJoin(matchTokens('postgres', tokens).as('hits'), 'hits.num', 'skills.num')
    .select(['hits.num', 'hits.token'])
    .orderBy('hits.num', 'desc')
    .limit(matchesMax)
  const { nums, of } = await database.read
    .selectFrom(found.as('found'))
    .select([
      sql<string | null>`string_agg(cast(num as text), ',')`.as('nums'),
      sql<string | null>`string_agg(cast(token as text), ',')`.as('of'),
    ])
    .executeTakeFirstOrThrow()
  const own = toNumbers(of)
  return { size, rows: toNumbers(nums).map((num, i) => ({ num, token: own[i]! })) }
}

/** The number of skills that a viewer sees, by database: it only weights words, and counting many takes long. */
const sizes = new WeakMap<Database, LRUCache<string, number>>()
const sizeLimits = { max: 1000, ttl: 60_000 }
const manySkills = 10_000

async function countSeen(database: Database, { viewer, filters: { includeStubs } }: SearchQuery): Promise<number> {
  const known = sizes.get(database) ?? new LRUCache<string, number>(sizeLimits)
  sizes.set(database, known)
  const key = `${viewer} ${includeStubs}`
  const size = known.get(key) ?? (await countVisible(database, viewer, { includeStubs }))
  if (size >= manySkills && !known.has(key)) known.set(key, size)
  return size
}

function toNumbers(text: string | null): number[] {
  return text === null ? [] : text.split(',').map(Number)
}

/** By term: how many skills contain it, estimated if the skills that contain it weakly were not read. */
function toTermCounts({ tokens, halved }: QueryTokens, counts: readonly number[], size: number): Map<number, number> {
  const found = new Map<number, { stems: number; words: number }>()
  for (const [at, { term, kind }] of tokens.entries()) {
    const sums = found.get(term) ?? { stems: 0, words: 0 }
    found.set(term, sums)
    sums[kind === 'word' ? 'words' : 'stems'] += counts[at]!
  }
  const toCount = (term: number, { stems, words }: { stems: number; words: number }) =>
    Math.min(size, Math.max(words, Math.round(stems / (halved.has(term) ? strongShare : 1))))
  return new Map(
    [...found].map(([term, sums]) => [term, toCount(term, sums)] as const).filter(([, count]) => count > 0),
  )
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

/** The skills in which words are counted, and to whose best match a match is compared: before the filters. */
function selectSeen(database: Database, { viewer, filters }: SearchQuery, range: RowRange | undefined) {
  return selectVisible(database, viewer, { includeStubs: filters.includeStubs }).$if(range !== undefined, (skills) =>
    skills.where('skills.num', '>=', range!.from).where('skills.num', '<=', range!.to),
  )
}
