import { runStatements, type Migration, type Types } from './migration.ts'

/** The recalls of a skill, and the recall that covers a version. */
export const recalls: Migration = {
  name: '0017-recalls',
  up: (db, dialect) => runStatements(db, dialect, statements),
}

const statements = (_types: Types) => `
    alter table "skills" add column "recalls" text default '[]' not null;
    alter table "versions" add column "recalled_by" text`
