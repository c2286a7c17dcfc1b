import { runStatements, type Migration } from './migration.ts'

/** Downloads and installs per day, version and kind of client, for owners. Details of earlier days are unknown. */
export const downloadDetails: Migration = {
  name: '0011-download-details',
  up: (db, dialect) =>
    runStatements(
      db,
      dialect,
      ({ whole, keyed }) => `
    create table "download_details" ("skill_id" text not null references "skills" ("id"), "day" ${whole} not null,
      "version" text not null, "client" text not null, "downloads" ${whole} default 0 not null,
      "installs" ${whole} default 0 not null, constraint "download_details_key" primary key ("day", "skill_id",
      "version", "client"))${keyed}`,
    ),
}
