import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** The full-text index has the stems of all fields. A running node indexes the skills again, in batches. */
export const texts: Migration = {
  name: '0004-texts',
  async up(db) {
    // `scheduleTexts` reads this key, and indexes the skills after this row number.
    await sql`insert into meta (key, value) select 'texts.indexed', '0' where exists (select 1 from skills)`.execute(db)
  },
}
