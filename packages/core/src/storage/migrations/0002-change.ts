import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Adds the outline that later versions are compared with, and the verdict on what a quarantined version changes. */
export const change: Migration = {
  name: '0002-change',
  async up(db) {
    await db.schema.alterTable('version_access').addColumn('outline', 'text').execute()
    await db.schema.alterTable('quarantine_items').addColumn('change', 'text').execute()
    // Start the rescan again: it stores the outlines of the existing versions.
    await sql`delete from meta where key = 'rescan'`.execute(db)
  },
}
