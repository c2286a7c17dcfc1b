import { sql } from 'kysely'
import type { Migration } from '../migrations.ts'

/**
 * What the nodes on one PostgreSQL tell each other. Nothing of it is data of the registry: an SQLite file has one node,
 * and no table of this belongs in an export.
 */
export const cluster: Migration = {
  name: '0013-cluster',
  async up(db, dialect) {
    if (dialect === 'sqlite') return
    // Of the window at hand: unlogged, since a crash that forgets it forgives a minute, and no commit waits for a disk.
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
    // A trigger and not each writer, so that whatever appends is heard of. A notice takes a lock of the whole server
    // until its commit is through, but those who append already wait for each other at the head row; and of a
    // transaction with many changes there is one.
    await sql`create function tell_changes() returns trigger language plpgsql as
      $$ begin perform pg_notify('skillstead_changes', ''); return null; end $$`.execute(db)
    await sql`create trigger tell_changes after insert on changes
      for each statement execute function tell_changes()`.execute(db)
  },
}
