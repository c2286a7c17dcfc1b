import { runStatements, type Migration, type Types } from './migration.ts'

/** Accounts of an identity provider, their sessions and memberships, and API keys that are limited to an owner or a skill. */
export const identity: Migration = {
  name: '0014-identity',
  up: (db, dialect) => runStatements(db, dialect, identityTables),
}

const identityTables = ({ bytes, keyed, strict, whole }: Types) => `
    create table "identities" ("issuer" text not null, "subject" text not null,
      "user_id" text not null references "users" ("id"), "admin" ${whole} default 0 not null,
      "created_at" ${whole} not null, "signed_in_at" ${whole} not null,
      constraint "identities_key" primary key ("issuer", "subject"))${strict};
    create index "identities_user" on "identities" ("user_id");
    create table "used_states" ("hash" text not null primary key, "expires_at" ${whole} not null)${keyed};
    alter table "api_keys" add column "limited_to" text;
    alter table "members" add column "by_groups" ${whole} default 0 not null;
    alter table "team_members" add column "by_groups" ${whole} default 0 not null;
    alter table "sign_ins" add column "scopes" text default 'read publish' not null;
    create table "new_sessions" ("id" text not null primary key, "user_id" text not null references "users" ("id"),
      "key_id" text references "api_keys" ("id") on delete cascade, "created_at" ${whole} not null,
      "used_at" ${whole} not null, "expires_at" ${whole} not null, "issuer" text, "refresh_token" ${bytes},
      "refresh_at" ${whole})${strict};
    insert into "new_sessions" ("id", "user_id", "key_id", "created_at", "used_at", "expires_at")
      select s."id", k."user_id", s."key_id", s."created_at", s."expires_at", s."expires_at"
      from "sessions" s join "api_keys" k on k."id" = s."key_id";
    drop table "sessions";
    alter table "new_sessions" rename to "sessions";
    create index "sessions_end" on "sessions" ("expires_at");
    create index "sessions_key" on "sessions" ("key_id", "created_at");
    create index "sessions_user" on "sessions" ("user_id", "created_at");
    create index "sessions_refresh" on "sessions" ("refresh_at") where refresh_at is not null`
