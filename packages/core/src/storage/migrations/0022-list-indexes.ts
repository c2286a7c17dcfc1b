import { runStatements, type Migration } from './migration.ts'

/**
 * Indexes of lists by stars and by date on PostgreSQL, which would otherwise read the wide rows of all skills: SQLite sorts
 * the rows of `skills_shown`. The date is that of the version, whose row is written once: an index with the date of the
 * skill would be written with each further version, and with it all indexes of the skill.
 */
export const listIndexes: Migration = {
  name: '0022-list-indexes',
  async up(db, dialect) {
    // Lists by downloads use `skills_listed`.
    await runStatements(db, dialect, () => `drop index "skills_downloads"`)
    if (dialect === 'postgres') await runStatements(db, dialect, () => statements)
  },
}

const statements = `
  create index "skills_starred" on "skills" ("stars" desc, "full_name") where "listed" = 1;
  create index "versions_published" on "versions" ("published_at" desc)`
