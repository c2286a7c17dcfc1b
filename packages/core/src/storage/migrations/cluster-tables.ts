import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.ts'

/**
 * What the nodes on one PostgreSQL share besides the data of the registry. An SQLite file has one node and needs none of
 * it, and no export has it.
 */
export async function createClusterTables(db: Kysely<Tables>): Promise<void> {
  // Unlogged: commits do not wait for the disk, and a crash that empties it only forgives the rates of one minute.
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
  // A trigger, so that no writer can forget the notice. A notice takes a lock of the whole server until the commit ends,
  // but transactions that append changes already wait for each other at the row of `heads`; each sends one notice.
  await sql`create function tell_changes() returns trigger language plpgsql as
    $$ begin perform pg_notify('skillstead_changes', ''); return null; end $$`.execute(db)
  await sql`create trigger tell_changes after insert on changes
    for each statement execute function tell_changes()`.execute(db)
}
