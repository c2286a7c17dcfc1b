import { createTables } from '../schema/columns.ts'
import { opinionTables } from '../schema/opinion-tables.ts'
import type { Migration } from './migration.ts'

/** Second opinions on the content of versions. */
export const opinions: Migration = {
  name: '0003-opinions',
  up: (db, dialect) => createTables(db, dialect, opinionTables),
}
