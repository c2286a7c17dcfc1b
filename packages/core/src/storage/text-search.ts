import { sql, type RawBuilder } from 'kysely'
import type { Dialect } from './dialect.ts'
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
}

/** A search: tokens, any of which may match; the last may be a prefix. */
export interface TextQuery {
  readonly terms: readonly string[]
  readonly prefixLast: boolean
}

/** Writes the words of a skill into the database's full-text index, replacing the previous ones. */
export async function putSkillText(
  trx: WriteTransaction,
  dialect: Dialect,
  num: number,
  text: SkillText,
  { isNew }: { isNew: boolean },
): Promise<void> {
  const { name, owner, keywords, description, headings, summary, category } = text
  if (dialect === 'sqlite') {
    if (!isNew) await removeSkillText(trx, num)
    await sql`insert into skill_text (rowid, name, owner, keywords, description, headings, summary, category)
      values (${num}, ${name}, ${owner}, ${keywords}, ${description}, ${headings}, ${summary}, ${category})`.execute(
      trx,
    )
    return
  }
  await sql`insert into skill_text (num, vector) values (${num}, ${toVector(text)})
    on conflict (num) do update set vector = excluded.vector`.execute(trx)
}

/** The weighted vector that PostgreSQL stores for a text. The fields may be columns. */
export function toVector(text: Readonly<Record<keyof SkillText, unknown>>): RawBuilder<string> {
  const { name, owner, keywords, description, headings, summary, category } = text
  return sql`setweight(to_tsvector('simple', ${both(name, owner)}), 'A')
    || setweight(to_tsvector('simple', cast(${keywords} as text)), 'B')
    || setweight(to_tsvector('simple', ${both(description, category)}), 'C')
    || setweight(to_tsvector('simple', ${both(headings, summary)}), 'D')`
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

/** A table expression of `num` and `rank` (higher is better) for the skills that match. */
export function matchText(dialect: Dialect, query: TextQuery): RawBuilder<{ num: number; rank: number }> {
  if (dialect === 'sqlite') {
    // Column weights in the order of the table: name, owner, keywords, description, headings, summary, category.
    return sql`(select rowid as num, -bm25(skill_text, 8, 2, 6, 4, 2, 1, 2) as rank
      from skill_text where skill_text match ${toFtsQuery(query)})`
  }
  return sql`(select num, ts_rank(vector, query) as rank
    from skill_text, to_tsquery('simple', ${toTsQuery(query)}) as query where vector @@ query)`
}

/** A table expression of `num` and `term` (the index of a word in the query) for the skills that contain the word. */
export function matchWords(
  dialect: Dialect,
  { terms, prefixLast }: TextQuery,
): RawBuilder<{ num: number; term: number }> {
  const hits = terms.map((word, term) => {
    const one = { terms: [word], prefixLast: prefixLast && term === terms.length - 1 }
    return dialect === 'sqlite'
      ? sql`select rowid as num, ${sql.lit(term)} as term from skill_text where skill_text match ${toFtsQuery(one)}`
      : sql`select num, ${sql.lit(term)} as term from skill_text where vector @@ to_tsquery('simple', ${toTsQuery(one)})`
  })
  return sql`(${sql.join(hits, sql` union all `)})`
}

function toFtsQuery({ terms, prefixLast }: TextQuery): string {
  const phrases = terms.map(
    (term, i) => `"${term.replaceAll('"', '""')}"${prefixLast && i === terms.length - 1 ? ' *' : ''}`,
  )
  return phrases.join(' OR ')
}

function toTsQuery({ terms, prefixLast }: TextQuery): string {
  const words = terms.map(
    (term, i) =>
      `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'${prefixLast && i === terms.length - 1 ? ':*' : ''}`,
  )
  return words.join(' | ')
}
