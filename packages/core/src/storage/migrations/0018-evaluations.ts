import { runStatements, type Migration, type Types } from './migration.ts'

/** Results of evaluations, the summary of the results of each version, and the effect by which lists are sorted. */
export const evaluations: Migration = {
  name: '0018-evaluations',
  async up(db, dialect) {
    await runStatements(db, dialect, evaluationTables)
    if (dialect === 'sqlite') await runStatements(db, dialect, shownIndex)
  },
}

const evaluationTables = ({ fraction, strict, whole }: Types) => `
    create table "evaluations" ("version_id" text not null references "versions" ("id"), "author_id" text not null,
      "author" text not null, "skill_id" text not null references "skills" ("id"), "identity" text,
      "by_owner" ${whole} not null, "model" text not null, "ran_at" ${whole} not null, "posted_at" ${whole} not null,
      "withdrawn" ${whole} not null, "result" text not null, "transcripts" text not null,
      constraint "evaluations_key" primary key ("version_id", "author_id"))${strict};
    create index "evaluations_skill" on "evaluations" ("skill_id", "model");
    create index "evaluations_posted" on "evaluations" ("version_id", "withdrawn", "posted_at");
    alter table "versions" add column "evaluations" text;
    alter table "skills" add column "effect_low" ${fraction} default -2 not null`

/** A covering index: SQLite filters and sorts lists with these columns, without reading the rows of the table. */
const shownIndex = () => `
    drop index "skills_shown";
    create index "skills_shown" on "skills" ("num", "visibility", "stub", "owner_id", "id", "published_at", "stars",
      "full_name", "effect_low") where listed = 1`
