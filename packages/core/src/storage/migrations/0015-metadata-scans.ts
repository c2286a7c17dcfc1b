import { sql } from 'kysely'
import type { Migration } from '../migrations.ts'

/** What the scan finds in the metadata of skills, and slugs of private packs that nobody else can find out. */
export const metadataScans: Migration = {
  name: '0015-metadata-scans',
  async up(db) {
    await db.schema
      .alterTable('skills')
      .addColumn('metadata_scan', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
    // Those that were public once are in the log, and stay taken for everyone.
    await sql`update packs set slug = curator_id || '/' || slug where visibility = 'private'
      and not exists (select 1 from log where log.type = 'pack' and log.subject = packs.slug)`.execute(db)
  },
}
