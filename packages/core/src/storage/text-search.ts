import { type Kysely, sql, type RawBuilder } from 'kysely'
import { LRUCache } from 'lru-cache'
import { compileForColumns } from './compiled-query.ts'
import type { Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'
import { doLast, type WriteTransaction } from './writer.ts'

/** The words of a skill: tokens joined by spaces, one text for each searchable field. */
export interface SkillText {
  readonly name: string
  readonly owner: string
  readonly keywords: string
  readonly description: string
  readonly headings: string
  readonly summary: string
  readonly category: string
  /** The stem tokens of all fields and of the latest SKILL.md: {@link toStemTokens}. */
  readonly body: string
}

/** What a search looks for: a word of the short texts, or a stem of any text. */
export type TextToken =
  | { readonly kind: 'word'; readonly word: string; readonly isPrefix: boolean }
  | { readonly kind: 'strong' | 'weak'; readonly stem: number }

const digits = Buffer.from('0123456789abcdefghijklmnopqrstuvwxyz')
/** The characters, as Latin-1 bytes, that mark strong and weak tokens. */
const signs = { strong: 0xa7, weak: 0xa4 }
const space = 0x20
/** Maximum bytes of a token: a space, a sign and 32 bits in base 36. */
const tokenBytesMax = 9

/**
 * The tokens of stems, made from the hashes of the stems and joined by spaces. No word of a text equals such a token, and
 * neither database splits the token at its signs. A skill has one of the two tokens of a stem, depending on the weight of
 * the stem in the skill. Written from the end, and by hand: `toString(36)` took six times as long.
 */
export function toStemTokens(hashes: Int32Array, toKind: (at: number) => keyof typeof signs): string {
  const bytes = Buffer.allocUnsafe(hashes.length * tokenBytesMax)
  let start = bytes.length
  for (let i = hashes.length - 1; i >= 0; i--) {
    let rest = hashes[i]! >>> 0
    do {
      bytes[--start] = digits[rest % digits.length]!
      rest = Math.floor(rest / digits.length)
    } while (rest > 0)
    bytes[--start] = signs[toKind(i)]
    if (i > 0) bytes[--start] = space
  }
  return bytes.toString('latin1', start)
}

/**
 * Writes the words of a skill into the database's full-text index at the end of the transaction, replacing the previous
 * ones. `makeText` is called then, and only for the last change of the skill: an import writes many versions together.
 */
export function putSkillText(
  trx: WriteTransaction,
  dialect: Dialect,
  num: number,
  makeText: () => Promise<SkillText> | SkillText,
  { isNew }: { isNew: boolean },
): Promise<void> {
  return changeText(trx, num, async () => {
    const text = { num, ...(await makeText()) }
    if (dialect === 'postgres') return putVector(trx, text)
    if (!isNew) await deleteText(trx, num)
    await insertText(trx, text)
  })
}

/** Removes a skill from the full-text index at the end of the transaction. */
export function removeSkillText(trx: WriteTransaction, dialect: Dialect, num: number): Promise<void> {
  return changeText(trx, num, () => {
    if (dialect === 'postgres') return sql`delete from skill_text where num = ${num}`.execute(trx)
    return deleteText(trx, num)
  })
}

/**
 * Leaves a change of the index for the end of the transaction. FTS5 writes a part of its index at the end of each
 * savepoint in which it changed, and merges the parts later.
 */
function changeText(trx: WriteTransaction, num: number, change: () => Promise<unknown>): Promise<void> {
  return doLast(trx, `skill_text ${num}`, change)
}

async function deleteText(trx: WriteTransaction, num: number): Promise<void> {
  await sql`delete from skill_text where rowid = ${num}`.execute(trx)
}

type NumberedText = SkillText & { readonly num: number }

const insertText = compileForColumns((_, text: NumberedText) => {
  const { num, name, owner, keywords, description, headings, summary, category, body } = text
  return sql`insert into skill_text (rowid, name, owner, keywords, description, headings, summary, category, body)
    values (${num}, ${name}, ${owner}, ${keywords}, ${description}, ${headings}, ${summary}, ${category}, ${body})`
})

const putVector = compileForColumns(
  (_, text: NumberedText) => sql`insert into skill_text (num, vector)
    values (cast(${text.num} as bigint), ${toVector(text)})
    on conflict (num) do update set vector = excluded.vector`,
)

/**
 * Merges new words into PostgreSQL's index. Until then they are in a list, which every look-up reads, and which the write
 * that fills it merges while all other writers wait: for 3 s with a million skills. Does nothing if the database's user does
 * not own the index.
 */
export async function mergeNewWords(db: Kysely<Tables>): Promise<void> {
  await sql`select gin_clean_pending_list(oid) from pg_class
    where oid = 'skill_text_vector'::regclass and pg_has_role(relowner, 'usage')`.execute(db)
}

/** The weighted vector that PostgreSQL stores for a text. The fields may be columns. */
export function toVector(text: Readonly<Record<keyof SkillText, unknown>>): RawBuilder<string> {
  const { name, owner, keywords, description, headings, summary, category, body } = text
  return sql`setweight(to_tsvector('simple', ${concat(name, owner)}), 'A')
    || setweight(to_tsvector('simple', cast(${keywords} as text)), 'B')
    || setweight(to_tsvector('simple', ${concat(description, category)}), 'C')
    || setweight(to_tsvector('simple', ${concat(headings, summary)}), 'D')
    || array_to_tsvector(array_remove(string_to_array(cast(${body} as text), ' '), ''))`
}

function concat(first: unknown, second: unknown): RawBuilder<string> {
  return sql`cast(${first} as text) || ' ' || cast(${second} as text)`
}

/** Empties the full-text index, even if it is damaged. Changes left for the end of the transaction follow. */
export async function clearTexts(trx: WriteTransaction, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') await sql`delete from skill_text`.execute(trx)
  else await recreateTexts(trx)
}

/** Drops the table and creates it again: deleting rows could fail in a damaged index. */
async function recreateTexts(trx: WriteTransaction): Promise<void> {
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_schema where name = 'skill_text'`.execute(trx)
  await sql`drop table skill_text`.execute(trx)
  await sql.raw(rows[0]!.sql).execute(trx)
}

/** A token with what it adds to the score of a skill. */
export type WeightedToken = TextToken & { readonly weight?: number }

/** A token that a skill contains. */
export interface FoundToken {
  readonly num: number
  /** An index into the tokens. */
  readonly token: number
  readonly weight: number
  /** Whether everyone sees the skill in lists, and it is no stub. False if that has to be looked up. */
  readonly open: boolean
}

/**
 * A table expression with one row for each token that a skill contains. For a single token in more than `max` skills,
 * the table has the newest of these skills; the caller limits the sum for several tokens.
 */
export function matchTokens(dialect: Dialect, tokens: readonly WeightedToken[], max: number): RawBuilder<FoundToken> {
  if (dialect === 'postgres') {
    // The inner offset keeps the look-up in the index: testing a vector reads all words of its skill. The outer limit
    // keeps the order, so that the skills of the rows are looked up from neighbouring pages.
    return sql`(select found.num, tokens.token, tokens.weight, found.open from ${toQueryTable(tokens)}
      cross join lateral (select num, open from skill_text where vector @@ tokens.query offset 0) as found
      order by found.num desc limit ${sql.lit(max)})`
  }
  const [first, ...others] = tokens
  // Only without a join does SQLite read the newest first.
  if (first && others.length === 0)
    return sql`(select rowid as num, 0 as token, ${first.weight} as weight, false as open from skill_text
      where skill_text match ${toFtsQuery(first)} order by rowid desc limit ${sql.lit(max)})`
  const json = toTokenRows(tokens, (token) => [toFtsQuery(token), token.weight])
  // Look up each token by itself: the cross join keeps the order of its loops, and the limit separates them from
  // others.
  return sql`(select skill_text.rowid as num, tokens.key as token, tokens.value ->> 1 as weight, false as open
    from json_each(${json}) as tokens cross join skill_text on skill_text match (tokens.value ->> 0) limit -1)`
}

/**
 * Maximum number of words per prefix whose skills are counted. A search reads the skills of all words with the prefix.
 */
const completionsMax = 2000

/** PostgreSQL first counts each token only up to this share of the limit. */
const firstShare = 0.1

/**
 * How many skills contain each token, hidden skills included, as a measure of what a search for the token costs.
 * PostgreSQL estimates the counts of frequent tokens, and counts other tokens up to `max`, or only up to {@link
 * firstShare} of `max` if the rare tokens leave no room for others: such a count only shows that the token does not
 * fit.
 */
export async function countMatches(
  db: Kysely<Tables>,
  dialect: Dialect,
  tokens: readonly TextToken[],
  max: number,
): Promise<number[]> {
  if (dialect === 'sqlite') return readCounts(db, tokens, countInVocabulary)
  const sampled = await samples.forceFetch(db)
  const counts = tokens.map((token) => {
    const count = Math.min(max, sampled.get(toTokenText(token)) ?? 0)
    const isCounted = token.kind === 'word' && token.isPrefix && count < max
    return isCounted ? 0 : count
  })
  const countAgain = async (before: number, limit: number) => {
    const places = [...tokens.keys()].filter((at) => counts[at] === before)
    const some = places.map((at) => tokens[at]!)
    const found = await readCounts(db, some, (asked) => countUpTo(asked, limit))
    for (const [i, at] of places.entries()) counts[at] = found[i]!
  }
  const firstMax = Math.ceil(max * firstShare)
  await countAgain(0, firstMax)
  const left = counts.reduce((sum, count) => (count < firstMax ? sum - count : sum), max)
  if (left >= firstMax) await countAgain(firstMax, max)
  return counts
}

/**
 * How many skills contain each of the words that were frequent in the sample of PostgreSQL's planner, by database:
 * counting those words would take longer than the other work of a search.
 */
const samples = new LRUCache({ max: 10, ttl: 600_000, fetchMethod: readSample })

async function readSample(db: Kysely<Tables>): Promise<Map<string, number>> {
  const { rows } = await sql<{ word: string; count: number }>`select word, round(share * reltuples)::bigint as count
    from pg_class join pg_stats on tablename = relname and schemaname = current_schema(),
    unnest(most_common_elems::text::text[], most_common_elem_freqs) as sample (word, share)
    where pg_class.oid = 'skill_text'::regclass and attname = 'vector' and word is not null`.execute(db)
  return new Map(rows.map(({ word, count }) => [word, count]))
}

async function readCounts(
  db: Kysely<Tables>,
  tokens: readonly TextToken[],
  count: (tokens: readonly TextToken[]) => RawBuilder<TokenCount>,
): Promise<number[]> {
  if (tokens.length === 0) return []
  const { rows } = await count(tokens).execute(db)
  const counts = new Map(rows.map((row) => [Number(row.token), Number(row.count)]))
  return tokens.map((_, i) => counts.get(i) ?? 0)
}

interface TokenCount {
  readonly token: number
  readonly count: number
}

function countInVocabulary(tokens: readonly TextToken[]): RawBuilder<TokenCount> {
  const words = sql`select doc from skill_text_words where term >= value ->> 0 and term <= value ->> 1
    limit ${sql.lit(completionsMax)}`
  return sql`select key as token, (select coalesce(sum(doc), 0) from (${words})) as count
    from json_each(${toTokenRows(tokens, toWordRange)})`
}

/** The first and the last word that a token stands for. */
function toWordRange(token: TextToken): [string, string] {
  const text = toTokenText(token)
  return [text, token.kind === 'word' && token.isPrefix ? `${text}\u{10FFFF}` : text]
}

function countUpTo(tokens: readonly TextToken[], max: number): RawBuilder<TokenCount> {
  return sql`select token, (select count(*) from
      (select 1 from skill_text where vector @@ query limit ${sql.lit(max)}) as found) as count
    from ${toQueryTable(tokens)}`
}

function toTokenRows<Token>(tokens: readonly Token[], toValue: (token: Token) => unknown): string {
  return JSON.stringify(tokens.map(toValue))
}

function toTokenText(token: TextToken): string {
  const { kind } = token
  return kind === 'word' ? token.word : toStemTokens(Int32Array.of(token.stem), () => kind)
}

function toFtsQuery(token: TextToken): string {
  return `"${toTokenText(token).replaceAll('"', '""')}"${token.kind === 'word' && token.isPrefix ? ' *' : ''}`
}

function toQueryTable(tokens: readonly WeightedToken[]): RawBuilder<unknown> {
  const rows = tokens.map((token, i) => {
    return sql`(${sql.lit(i)}, ${toTsQuery(token)}, cast(${token.weight ?? 0} as real))`
  })
  return sql`(values ${sql.join(rows)}) as tokens (token, query, weight)`
}

function toTsQuery(token: TextToken): RawBuilder<string> {
  const quoted = `'${toTokenText(token).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
  if (token.kind !== 'word') return sql`cast(${quoted} as tsquery)`
  return sql`to_tsquery('simple', ${token.isPrefix ? `${quoted}:*` : quoted})`
}
