import { runStatements, type Migration } from './migration.ts'

/** Where the bytes of large files are. The index is empty in a registry without a bucket. */
export const blobPlaces: Migration = {
  name: '0020-blob-places',
  up: (db, dialect) => runStatements(db, dialect, () => statements),
}

const statements = `
  alter table "blobs" add column "place" text;
  create index "blobs_place" on "blobs" ("place", "digest") where "place" is not null`
