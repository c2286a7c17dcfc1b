import { runStatements, type Migration, type Types } from './migration.ts'

/** Numbers audit entries in commit order, for followers that read after a number; adds users' e-mail addresses. */
export const auditEmail: Migration = {
  name: '0016-audit-email',
  up: (db, dialect) => runStatements(db, dialect, statements),
}

const statements = ({ serial, strict, whole }: Types) => `
    alter table "users" add column "email" text;
    alter table "audit" rename to "audit_before";
    create table "audit" ("seq" ${serial} primary key, "id" text not null unique, "at" ${whole} not null,
      "actor_id" text, "actor" text, "action" text not null, "subject" text not null, "data" text not null)${strict};
    insert into "audit" ("id", "at", "actor_id", "actor", "action", "subject", "data")
      select "id", "at", "actor_id", "actor", "action", "subject", "data" from "audit_before" order by "id";
    drop table "audit_before"`
