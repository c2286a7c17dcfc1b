import type { Migration } from '../migrations.ts'

/** Finds the entry of a version in the log. */
export const provenance: Migration = {
  name: '0010-provenance',
  async up(db) {
    await db.schema.createIndex('log_subject').on('log').column('subject').execute()
  },
}
