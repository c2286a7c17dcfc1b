import { type Kysely, sql, type RawBuilder } from 'kysely'
import { toQuiet } from './compiled-query.ts'
import type { Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'
import type { WriteTransaction } from './writer.ts'

/** The words of a skill: tokens joined by spaces, one text for each searchable field. */
export interface SkillText {
  readonly name: string
  readonly owner: string
  readonly keywords: string
  readonly description: string
  readonly headings: string
  readonly summary: string
  readonly category: string
  /** Of the latest SKILL.md: a {@link toStemToken} for each stem. */
  readonly body: string
}

/** A term of a search: a word of the short texts, or a stem of the body. */
export interface TextTerm {
  readonly word?: string
  /** Whether the word may be the beginning of a longer one. */
  readonly isPrefix?: boolean
  /** The hash of a stem. */
  readonly stem?: number
}

/** A token that no word of a text equals, for a stem by its hash: neither database splits at the sign. */
export function toStemToken(hash: number): string {
  return `¤${(hash >>> 0).toString(36)}`
}

/** Writes the words of a skill into the database's full-text index, replacing the previous ones. */
export async function putSkillText(
  trx: WriteTransaction,
  dialect: Dialect,
  num: number,
  text: SkillText,
  { isNew }: { isNew: boolean },
): Promise<void> {
  const { name, owner, keywords, description, headings, summary, category, body } = text
  if (dialect === 'sqlite') {
    if (!isNew) await removeSkillText(trx, num)
    await sql`insert into skill_text (rowid, name, owner, keywords, description, headings, summary, category, body)
      values (${num}, ${name}, ${owner}, ${keywords}, ${description}, ${headings}, ${summary}, ${category}, ${body})`.execute(
      trx,
    )
    return
  }
  const put = sql`insert into skill_text (num, vector) values (${num}, ${toVector(text)})
    on conflict (num) do update set vector = excluded.vector`
  await trx.executeQuery(toQuiet(put.compile(trx)))
}

/** The weighted vector that PostgreSQL stores for a text. The fields may be columns. */
export function toVector(text: Readonly<Record<keyof SkillText, unknown>>): RawBuilder<string> {
  const { name, owner, keywords, description, headings, summary, category, body } = text
  return sql`setweight(to_tsvector('simple', ${both(name, owner)}), 'A')
    || setweight(to_tsvector('simple', cast(${keywords} as text)), 'B')
    || setweight(to_tsvector('simple', ${both(description, category)}), 'C')
    || setweight(to_tsvector('simple', ${both(headings, summary)}), 'D')
    || array_to_tsvector(array_remove(string_to_array(cast(${body} as text), ' '), ''))`
}

function both(first: unknown, second: unknown): RawBuilder<string> {
  return sql`cast(${first} as text) || ' ' || cast(${second} as text)`
}

/** Removes a skill from the full-text index. */
export async function removeSkillText(trx: WriteTransaction, num: number, dialect: Dialect = 'sqlite'): Promise<void> {
  if (dialect === 'sqlite') await sql`delete from skill_text where rowid = ${num}`.execute(trx)
  else await sql`delete from skill_text where num = ${num}`.execute(trx)
}

/** Empties the full-text index, even if it is damaged. */
export async function clearTexts(trx: WriteTransaction, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') return void (await sql`delete from skill_text`.execute(trx))
  // Drops the table: deleting rows could fail in a damaged index.
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_schema where name = 'skill_text'`.execute(trx)
  await sql`drop table skill_text`.execute(trx)
  await sql.raw(rows[0]!.sql).execute(trx)
}

/** Skills by their numbers, both ends included. */
export interface RowRange {
  readonly from: number
  readonly to: number
}

/**
 * A table expression of `num`, `term` (an index into the terms) and `short` (1 for the word, 0 for the stem alone), with
 * one row for each term that a skill contains. SQLite can read a range of skills; PostgreSQL reads all of them.
 */
export function matchTerms(
  dialect: Dialect,
  terms: readonly TextTerm[],
  range?: RowRange,
): RawBuilder<{ num: number; term: number; short: number }> {
  const within = range ? sql` and rowid between ${range.from} and ${range.to}` : sql``
  const hits = terms.flatMap((term, i) =>
    alternativesOf(dialect, term).map(({ match, short }) => {
      const columns = sql`${sql.lit(i)} as term, ${sql.lit(short)} as short`
      return dialect === 'sqlite'
        ? sql`select rowid as num, ${columns} from skill_text where skill_text match ${match}${within}`
        : sql`select num, ${columns} from skill_text where vector @@ ${match}`
    }),
  )
  return sql`(${sql.join(hits, sql` union all `)})`
}

/** Longer words that a prefix stands for, of which the skills are counted; a search reads all of them. */
const completionsMax = 2000

/**
 * How many skills contain each term, hidden ones included and, on PostgreSQL, at most `max`: what it costs to search for
 * the term.
 */
export async function countMatches(
  db: Kysely<Tables>,
  dialect: Dialect,
  terms: readonly TextTerm[],
  max: number,
): Promise<number[]> {
  const counts = terms.map((term) =>
    alternativesOf(dialect, term).map(({ match, token, isPrefix }) => {
      if (dialect === 'postgres')
        return sql`(select count(*) from (select 1 from skill_text where vector @@ ${match} limit ${sql.lit(max)}) as found)`
      const words = isPrefix ? sql`term >= ${token} and term < ${`${token}\u{10FFFF}`}` : sql`term = ${token}`
      return sql`(select coalesce(sum(doc), 0) from
        (select doc from skill_text_words where ${words} limit ${sql.lit(completionsMax)}))`
    }),
  )
  const rows = counts.map((parts, i) => sql`select ${sql.lit(i)} as term, ${sql.join(parts, sql` + `)} as count`)
  const found = await sql<{ term: number; count: number }>`${sql.join(rows, sql` union all `)}`.execute(db)
  const sorted = found.rows.toSorted((a, b) => a.term - b.term)
  return sorted.map(({ count }) => Number(count))
}

function alternativesOf(dialect: Dialect, { word, isPrefix = false, stem }: TextTerm) {
  const isSqlite = dialect === 'sqlite'
  const found: { match: unknown; token: string; isPrefix: boolean; short: number }[] = []
  if (word !== undefined) {
    const match = isSqlite ? toFtsQuery(word, isPrefix) : toTsQuery(word, isPrefix)
    found.push({ match, token: word, isPrefix, short: 1 })
  }
  if (stem !== undefined) {
    const token = toStemToken(stem)
    const match = isSqlite ? toFtsQuery(token) : sql`cast(${`'${token}'`} as tsquery)`
    found.push({ match: excludeFrom(dialect, match, found[0]?.match), token, isPrefix: false, short: 0 })
  }
  return found
}

/** Matches what one query matches and the other, if there is one, does not. */
function excludeFrom(dialect: Dialect, match: unknown, other: unknown): unknown {
  if (other === undefined) return match
  return dialect === 'sqlite' ? `${String(match)} NOT ${String(other)}` : sql`(${match} && !!${other})`
}

function toFtsQuery(token: string, isPrefix = false): string {
  return `"${token.replaceAll('"', '""')}"${isPrefix ? ' *' : ''}`
}

function toTsQuery(word: string, isPrefix: boolean): RawBuilder<string> {
  const quoted = `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
  return sql`to_tsquery('simple', ${isPrefix ? `${quoted}:*` : quoted})`
}
