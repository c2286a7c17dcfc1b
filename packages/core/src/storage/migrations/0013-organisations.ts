import { runStatements, type Migration, type Types } from './migration.ts'

/**
 * Organisations, which are rows of `users` that have members instead of keys, their teams, and the policies for new
 * versions.
 */
export const organisations: Migration = {
  name: '0013-organisations',
  up: (db, dialect) => runStatements(db, dialect, organisationTables),
}

const organisationTables = ({ keyed, ordered, strict, whole }: Types) => `
    alter table "users" add column "kind" text default 'user' not null;
    create table "members" ("organisation_id" text not null references "users" ("id"),
      "user_id" text not null references "users" ("id"), "role" text not null, "created_at" ${whole} not null,
      constraint "members_key" primary key ("organisation_id", "user_id"))${keyed};
    create index "members_user" on "members" ("user_id", "organisation_id", "role");
    create table "member_invitations" ("organisation_id" text not null references "users" ("id"),
      "user_id" text not null references "users" ("id"), "role" text not null, "created_at" ${whole} not null,
      constraint "member_invitations_key" primary key ("organisation_id", "user_id"))${keyed};
    create index "member_invitations_user" on "member_invitations" ("user_id");
    create table "teams" ("id" text not null primary key, "organisation_id" text not null references "users" ("id"),
      "name" ${ordered} not null, "created_at" ${whole} not null,
      constraint "teams_name" unique ("organisation_id", "name"))${strict};
    create table "team_members" ("team_id" text not null references "teams" ("id") on delete cascade,
      "user_id" text not null references "users" ("id"),
      constraint "team_members_key" primary key ("team_id", "user_id"))${keyed};
    create index "team_members_user" on "team_members" ("user_id", "team_id");
    create table "team_skills" ("skill_id" text not null references "skills" ("id"),
      "team_id" text not null references "teams" ("id") on delete cascade, "role" text not null,
      constraint "team_skills_key" primary key ("skill_id", "team_id"))${keyed};
    create index "team_skills_team" on "team_skills" ("team_id");
    create table "policies" ("subject_id" text not null primary key, "policy" text not null,
      "updated_at" ${whole} not null)${strict};
    alter table "quarantine_items" add column "reason" text default 'policy' not null;
    create table "submission_reviews" ("quarantine_id" text not null references "quarantine_items" ("id") on delete cascade,
      "user_id" text not null references "users" ("id"), "verdict" text not null, "at" ${whole} not null,
      constraint "submission_reviews_key" primary key ("quarantine_id", "user_id"))${keyed};
    create table "submission_comments" ("id" text not null primary key,
      "quarantine_id" text not null references "quarantine_items" ("id") on delete cascade,
      "user_id" text not null references "users" ("id"), "path" text, "line" ${whole}, "body" text not null,
      "created_at" ${whole} not null)${strict};
    create index "submission_comments_item" on "submission_comments" ("quarantine_id", "id")`
