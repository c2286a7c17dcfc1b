import type { Kysely } from 'kysely'
import {
  type DatabaseLocation,
  type Dialect,
  findUnknownSteps,
  hasExtension,
  isOlderSchema,
  openFileForReading,
  openPostgres,
  readAppliedSteps,
  type SchemaExtension,
  type Tables,
} from '@skillstead/core/internal'
import { readColumns } from './portable-columns.ts'

/**
 * Reads a registry as it is at one moment, while others may write, in one transaction. Nothing of it is changed: it is not
 * brought up to date either. `used`: those of the extensions that have tables in it. Throws a sentence where it is of
 * another schema than this program's.
 */
export async function openReading<T>(
  location: DatabaseLocation,
  extensions: readonly SchemaExtension[] = [],
  work: (trx: Kysely<Tables>, dialect: Dialect, used: readonly SchemaExtension[]) => Promise<T>,
): Promise<T> {
  const dialect = location.path === undefined ? 'postgres' : 'sqlite'
  const db = location.path === undefined ? openPostgres(location.databaseUrl!).main : openFileForReading(location.path)
  const transaction = db.transaction()
  const reading =
    dialect === 'sqlite' ? transaction : transaction.setIsolationLevel('repeatable read').setAccessMode('read only')
  try {
    return await reading.execute(async (trx) => {
      const schema = await readSchema(trx, dialect)
      requireSchema(schema, extensions)
      return work(
        trx,
        dialect,
        extensions.filter((extension) => hasExtension(schema, extension)),
      )
    })
  } finally {
    await db.destroy()
  }
}

/** The steps of a database's schema, oldest first; none where it is no registry. */
export async function readSchema(db: Kysely<Tables>, dialect: Dialect): Promise<string[]> {
  if ((await readColumns(db, dialect, 'migrations')).length === 0) return []
  return readAppliedSteps(db)
}

function requireSchema(schema: readonly string[], extensions: readonly SchemaExtension[]): void {
  if (schema.length === 0) throw new Error('This is no registry: the database is one of something else, or empty.')
  const problem = findUnknownSteps(schema, extensions)
  if (problem !== undefined) throw new Error(`The database ${problem}`)
  if (!isOlderSchema(schema, extensions)) return
  throw new Error(
    'The database was made by an older Skillstead. Use that one, or bring it up to date first: `skillstead doctor` of this one does.',
  )
}
