import type { Kysely } from 'kysely'
import {
  type DatabaseLocation,
  type Dialect,
  findUnknownSteps,
  migrationNames,
  openFileForReading,
  openPostgres,
  readAppliedSteps,
  type Tables,
} from '@skillstead/core/internal'
import { readColumns } from './portable-columns.ts'

/**
 * Reads a consistent snapshot of a registry in one transaction, while others may write. Changes nothing and runs no
 * migrations. Throws if its schema is not this program's.
 */
export async function openReading<T>(
  location: DatabaseLocation,
  work: (trx: Kysely<Tables>, dialect: Dialect) => Promise<T>,
): Promise<T> {
  const dialect = location.path === undefined ? 'postgres' : 'sqlite'
  const db = location.path === undefined ? openPostgres(location.databaseUrl!).main : openFileForReading(location.path)
  const transaction = db.transaction()
  const reading =
    dialect === 'sqlite' ? transaction : transaction.setIsolationLevel('repeatable read').setAccessMode('read only')
  try {
    return await reading.execute(async (trx) => {
      await requireSchema(trx, dialect)
      return work(trx, dialect)
    })
  } finally {
    await db.destroy()
  }
}

/** The migrations of a database, oldest first; empty if it is not a registry. */
export async function readSchema(db: Kysely<Tables>, dialect: Dialect): Promise<string[]> {
  if ((await readColumns(db, dialect, 'migrations')).length === 0) return []
  return readAppliedSteps(db)
}

async function requireSchema(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  const schema = await readSchema(db, dialect)
  if (schema.length === 0) throw new Error('The database is not a registry, or is empty.')
  const problem = findUnknownSteps(schema)
  if (problem !== undefined) throw new Error(`The database ${problem}`)
  if (schema.length === migrationNames.length) return
  throw new Error(
    'The database was created by an older Skillstead. Use that one, or migrate the database first by running `skillstead doctor`.',
  )
}
