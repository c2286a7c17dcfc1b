import { createTables, type Migration } from '@skillstead/core/internal'
import { upstreamTables } from './mirror-tables.ts'

const baseline: Migration = {
  name: '0001-baseline',
  up: (db, dialect) => createTables(db, dialect, upstreamTables),
}

/** The migrations of the mirror's schema, oldest first. A released migration never changes. */
export const migrations: readonly Migration[] = [baseline]
