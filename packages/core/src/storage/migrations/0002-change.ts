import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** What later versions are compared with, and the verdict on a quarantined change. */
export const change: Migration = {
  name: '0002-change',
  async up(db) {
    await db.schema.alterTable('version_access').addColumn('outline', 'text').execute()
    await db.schema.alterTable('quarantine_items').addColumn('change', 'text').execute()
    // The rescan, which starts again, reads the outlines of stored versions.
    await sql`delete from meta where key = 'rescan'`.execute(db)
  },
}
