import { sql, type Kysely } from 'kysely'
import { createTables } from '../schema/columns.ts'
import type { Dialect } from '../dialect.ts'
import type { Tables } from '../tables.ts'
import { accountTables } from '../schema/accounts-tables.ts'
import { catalogueTables } from '../schema/catalogue-tables.ts'
import { communityTables } from '../schema/community-tables.ts'
import { governanceTables } from '../schema/governance-tables.ts'
import { logTables } from '../schema/log-tables.ts'
import type { Migration } from './migration.ts'
import { usageTables } from '../schema/usage-tables.ts'
import { webhookTables } from '../schema/webhooks-tables.ts'

/** The schema of the first release. A table comes after the tables that it refers to. */
export const baseline: Migration = {
  name: '0001-first',
  async up(db, dialect) {
    for (const tables of [accountTables, catalogueTables]) await createTables(db, dialect, tables)
    await createTextIndex(db, dialect)
    for (const tables of [logTables, communityTables, usageTables, governanceTables, webhookTables]) {
      await createTables(db, dialect, tables)
    }
    if (dialect === 'postgres') await createClusterTables(db)
    await db.insertInto('heads').values({ id: 1, change_seq: 0, log_seq: 0 }).execute()
  },
}

/** The full-text index of skills. It stores no text, only the index. */
async function createTextIndex(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') {
    await sql`create table skill_text (num bigint primary key, vector tsvector not null)`.execute(db)
    await sql`create index skill_text_vector on skill_text using gin (vector)`.execute(db)
    return
  }
  // The text consists of separate tokens, so the simplest tokenizer works for every script.
  await sql`create virtual table skill_text using fts5(
    name, owner, keywords, description, headings, summary, category, body,
    content='', contentless_delete=1, tokenize='ascii'
  )`.execute(db)
  await sql`create virtual table skill_text_words using fts5vocab(skill_text, row)`.execute(db)
}

/**
 * Tables that the nodes on one PostgreSQL database share, besides the data of the registry. An SQLite file has one
 * node, which needs none of them, and exports do not contain them.
 */
async function createClusterTables(db: Kysely<Tables>): Promise<void> {
  // Unlogged: commits do not wait for the disk, and a crash that empties it only resets the rate limits of one minute.
  await sql`create unlogged table rate_leases (
    key text primary key,
    points bigint not null,
    need bigint not null,
    share bigint not null,
    taken bigint not null,
    granted bigint not null,
    ends_at bigint not null
  )`.execute(db)
  await sql`create index rate_leases_end on rate_leases (ends_at)`.execute(db)
  // A trigger sends the notification, so that no writer can forget it. Sending takes a server-wide lock until the
  // commit ends, but transactions that append changes already wait for each other at the row of `heads`. Each
  // transaction sends only one.
  await sql`create function tell_changes() returns trigger language plpgsql as
    $$ begin perform pg_notify('skillstead_changes', ''); return null; end $$`.execute(db)
  await sql`create trigger tell_changes after insert on changes
    for each statement execute function tell_changes()`.execute(db)
}
