import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/**
 * Has all skills indexed again: the full-text index now has pairs of characters of Thai, Lao, Khmer and Burmese, and
 * folds more letters.
 */
export const scripts: Migration = {
  name: '0009-scripts',
  async up(db) {
    // `scheduleTexts` reads this key. With the value 0, a running node indexes all skills again, in batches.
    await sql`insert into meta (key, value) select 'texts.indexed', '0' where exists (select 1 from skills)
      on conflict (key) do update set value = '0'`.execute(db)
  },
}
