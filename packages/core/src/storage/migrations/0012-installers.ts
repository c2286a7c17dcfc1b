import { runStatements, type Migration } from './migration.ts'

/** Who installed a skill, on nodes whose operator switched this on. */
export const installers: Migration = {
  name: '0012-installers',
  up: (db, dialect) =>
    runStatements(
      db,
      dialect,
      ({ whole, keyed }) => `
    create table "installers" ("skill_id" text not null references "skills" ("id"),
      "user_id" text not null references "users" ("id"), "version" text not null, "day" ${whole} not null,
      constraint "installers_key" primary key ("skill_id", "user_id"))${keyed};
    create index "installers_day" on "installers" ("day");
    create index "installers_user" on "installers" ("user_id")`,
    ),
}
