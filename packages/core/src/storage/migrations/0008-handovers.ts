import { createTables } from '../schema/columns.ts'
import { handoverTables } from '../schema/handover-tables.ts'
import type { Migration } from './migration.ts'

/** Sign-ins of programs and uploaded files, which any node continues. */
export const handovers: Migration = {
  name: '0008-handovers',
  up: (db, dialect) => createTables(db, dialect, handoverTables),
}
