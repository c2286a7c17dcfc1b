import { type Migration, runStatements, type Types } from '@skillstead/core/internal'

const baseline: Migration = {
  name: '0001-baseline',
  up: (db, dialect) => runStatements(db, dialect, upstreamTables),
}

/** The migrations of the mirror's schema, oldest first. A released migration never changes. */
export const migrations: readonly Migration[] = [baseline]

const upstreamTables = ({ bytes, keyed, ordered, strict, whole }: Types) => `
    create table "upstreams" ("name" text not null primary key, "kind" text not null, "location" text not null,
      "settings" text not null, "credential" ${bytes}, "account" text, "log_origin" text, "log_epoch" ${whole},
      "keys" text not null, "staged" ${whole} default 0 not null, "frontier" ${bytes} not null,
      "verified" ${whole} default 0 not null, "checkpoint" text, "checkpoint_at" ${whole},
      "applied" ${whole} default 0 not null, "cursor" text not null, "lease" text,
      "lease_until" ${whole} default 0 not null, "tried_at" ${whole}, "synced_at" ${whole}, "report" text not null,
      "alarm" text, "created_at" ${whole} not null)${strict};
    create table "upstream_log" ("upstream" text not null references "upstreams" ("name"), "seq" ${whole} not null,
      "hash" ${bytes} not null, "type" text not null, "subject" ${ordered} not null, "entry" text not null,
      constraint "upstream_log_key" primary key ("upstream", "seq"))${strict};
    create index "upstream_log_packs" on "upstream_log" ("upstream", "subject", "seq") where type = 'pack';
    create index "upstream_log_subject" on "upstream_log" ("subject", "upstream", "seq");
    create table "upstream_tiles" ("upstream" text not null references "upstreams" ("name"),
      "level" ${whole} not null, "n" ${whole} not null, "root" ${bytes} not null, "middle" ${bytes} not null,
      "hashes" ${bytes} not null, constraint "upstream_tiles_key" primary key ("upstream", "level", "n"))${strict};
    create table "upstream_refusals" ("upstream" text not null references "upstreams" ("name"),
      "subject" text not null, "reason" text not null, "detail" text not null, "at" ${whole} not null,
      "tries" ${whole} default 0 not null, constraint "upstream_refusals_key" primary key ("upstream",
      "subject"))${keyed};
    create table "upstream_links" ("user_id" text not null references "users" ("id"),
      "upstream" text not null references "upstreams" ("name"), "username" text not null,
      "credential" ${bytes} not null, "created_at" ${whole} not null,
      constraint "upstream_links_key" primary key ("user_id", "upstream"))${keyed};
    create table "upstream_writes" ("id" text not null primary key, "position" ${whole} not null,
      "upstream" text not null references "upstreams" ("name"), "user_id" text, "subject" text not null,
      "kind" text not null, "payload" text not null, "state" text not null, "attempts" ${whole} default 0 not null,
      "error" text, "created_at" ${whole} not null, "ended_at" ${whole})${strict};
    create index "upstream_writes_position" on "upstream_writes" ("position");
    create index "upstream_writes_waiting" on "upstream_writes" ("upstream", "state", "subject", "position")`
