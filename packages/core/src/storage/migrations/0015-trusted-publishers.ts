import { runStatements, type Migration, type Types } from './migration.ts'

/** Identities that may publish from CI, and the identity that published a version. */
export const trustedPublishers: Migration = {
  name: '0015-trusted-publishers',
  up: (db, dialect) => runStatements(db, dialect, trustedPublisherTables),
}

const trustedPublisherTables = ({ strict, whole }: Types) => `
    create table "trusted_publishers" ("id" text not null primary key,
      "owner_id" text not null references "users" ("id"), "target" text not null, "issuer" text not null,
      "claims" text not null, "created_by" text not null, "created_at" ${whole} not null)${strict};
    create index "trusted_publishers_owner" on "trusted_publishers" ("owner_id", "target");
    create index "trusted_publishers_issuer" on "trusted_publishers" ("issuer");
    alter table "api_keys" add column "identity" text;
    alter table "versions" add column "identity" text`
