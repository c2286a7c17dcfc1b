import { runStatements, type Migration, type Types } from './migration.ts'

/** What versions require, and which skills require another one. */
export const requires: Migration = {
  name: '0019-requires',
  up: (db, dialect) => runStatements(db, dialect, requirementTables),
}

const requirementTables = ({ keyed, ordered, whole }: Types) => `
    alter table "versions" add column "requires" text;
    alter table "skills" add column "dependents" ${whole} not null default 0;
    create table "requirements" ("skill_id" text not null references "skills" ("id"), "name" ${ordered} not null,
      "range" text not null, primary key ("skill_id", "name"))${keyed};
    create index "requirements_name" on "requirements" ("name")`
