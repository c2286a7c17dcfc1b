import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/**
 * Searches on PostgreSQL read thousands of rows of words. A new column of the words says whether everyone sees the skill in
 * lists, so that only the other skills are looked up; triggers set the column, also for nodes of an older version. The
 * planner samples ten times as many rows and words, so that searches need not count frequent words.
 */
export const openTexts: Migration = {
  name: '0025-open-texts',
  async up(db, dialect) {
    if (dialect === 'sqlite') return
    await sql`alter table skill_text alter column vector set statistics 1000`.execute(db)
    // The first default is the value of nearly all rows, so that the migration does not write these rows.
    await sql`alter table skill_text add column open boolean not null default true`.execute(db)
    await sql`alter table skill_text alter column open set default false`.execute(db)
    await sql`create function set_open() returns trigger language plpgsql as
      $$ begin new.open := exists (select from skills
        where num = new.num and listed = 1 and stub = 0 and visibility = 'public'); return new; end $$`.execute(db)
    await sql`create trigger set_open before insert or update on skill_text
      for each row execute function set_open()`.execute(db)
    await sql`update skill_text set num = skills.num from skills where skills.num = skill_text.num
      and (listed = 0 or stub = 1 or visibility <> 'public')`.execute(db)
    await sql`create function update_open() returns trigger language plpgsql as
      $$ begin update skill_text set num = num where num in (old.num, new.num); return null; end $$`.execute(db)
    await sql`create trigger update_open after update on skills for each row
      when (old.num <> new.num or old.listed <> new.listed or old.stub <> new.stub or old.visibility <> new.visibility)
      execute function update_open()`.execute(db)
  },
}
