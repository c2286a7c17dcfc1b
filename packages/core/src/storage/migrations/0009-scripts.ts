import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** The full-text index has pairs of characters of Thai, Lao, Khmer and Burmese, and folds more letters. */
export const scripts: Migration = {
  name: '0009-scripts',
  async up(db) {
    // The key of `scheduleTexts`: a running node indexes the skills again, in batches, from the first one.
    await sql`insert into meta (key, value) select 'texts.indexed', '0' where exists (select 1 from skills)
      on conflict (key) do update set value = '0'`.execute(db)
  },
}
