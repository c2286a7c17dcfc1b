import { sql, type Kysely } from 'kysely'
import type { Dialect } from '../dialect.ts'
import type { Tables } from '../tables.ts'

/** The full-text index of skills. It stores no text, only the index. */
export async function createTextIndex(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') {
    await sql`create table skill_text (num bigint primary key, vector tsvector not null)`.execute(db)
    await sql`create index skill_text_vector on skill_text using gin (vector)`.execute(db)
    return
  }
  // Text arrives as separate tokens, so the plainest tokenizer serves every script.
  await sql`create virtual table skill_text using fts5(
    name, owner, keywords, description, headings, summary, category,
    content='', contentless_delete=1, tokenize='ascii'
  )`.execute(db)
}
