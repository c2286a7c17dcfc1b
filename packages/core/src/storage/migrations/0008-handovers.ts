import { runStatements, type Migration, type Types } from './migration.ts'

/** Adds tables for sign-ins of programs and for uploaded files, so that any node can handle the next request. */
export const handovers: Migration = {
  name: '0008-handovers',
  up: (db, dialect) => runStatements(db, dialect, handoverTables),
}

const handoverTables = ({ bytes, serial, strict, whole }: Types) => `
    create table "sign_ins" ("num" ${serial} primary key, "device_hash" text not null unique,
      "user_hash" text not null unique, "label" text not null, "address_hash" text not null, "state" text not null,
      "sealed_key" ${bytes} not null, "key_prefix" text not null, "key_hash" text not null,
      "interval_seconds" ${whole} not null, "polled_at" ${whole} not null, "requested_at" ${whole} not null,
      "expires_at" ${whole} not null)${strict};
    create index "sign_ins_address" on "sign_ins" ("address_hash", "num");
    create table "sign_in_guesses" ("user_id" text not null primary key references "users" ("id") on delete cascade,
      "wrong" ${whole} not null, "until" ${whole} not null)${strict};
    create table "uploads" ("id" text not null primary key,
      "user_id" text not null references "users" ("id") on delete cascade, "size" ${whole} not null,
      "expires_at" ${whole} not null, "bytes" ${bytes} not null)${strict};
    create index "uploads_user" on "uploads" ("user_id", "expires_at", "size")`
