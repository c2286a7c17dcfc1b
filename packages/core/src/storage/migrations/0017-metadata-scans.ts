import type { Migration } from '../migrations.ts'

/** What the scan finds in the metadata of skills. */
export const metadataScans: Migration = {
  name: '0017-metadata-scans',
  async up(db) {
    await db.schema
      .alterTable('skills')
      .addColumn('metadata_scan', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
  },
}
