import type { Kysely } from 'kysely'
import {
  connectPostgres,
  countRows,
  type DatabaseLocation,
  type Dialect,
  findUnknownSteps,
  hasExtension,
  isOlderSchema,
  openSqliteForReading,
  readAppliedSteps,
  type SchemaExtension,
  type Tables,
} from '@skillstead/core/internal'
import { readColumns } from './portable-columns.ts'

/**
 * Reads a consistent snapshot of a registry in one transaction, while other processes may write. Changes nothing and
 * runs no migrations. `used`: the extensions that have tables in the registry. Throws if the registry has another
 * schema than this program.
 */
export async function openRegistryReading<T>(
  location: DatabaseLocation,
  extensions: readonly SchemaExtension[] = [],
  work: (trx: Kysely<Tables>, dialect: Dialect, used: readonly SchemaExtension[]) => Promise<T>,
): Promise<T> {
  const { path, databaseUrl } = location
  const connections = path === undefined ? await connectPostgres(databaseUrl!) : openSqliteForReading(path)
  const { dialect, main } = connections
  const transaction = main.transaction()
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
    await connections.close()
  }
}

/** The migrations of a database, oldest first; empty if it is not a registry. */
export async function readSchema(db: Kysely<Tables>, dialect: Dialect): Promise<string[]> {
  if ((await readColumns(db, dialect, 'migrations')).length === 0) return []
  return readAppliedSteps(db)
}

function requireSchema(schema: readonly string[], extensions: readonly SchemaExtension[]): void {
  if (schema.length === 0) throw new Error('The database is not a registry, or is empty.')
  const problem = findUnknownSteps(schema, extensions)
  if (problem) throw new Error(`The database cannot be read: it ${problem.detail}`)
  if (!isOlderSchema(schema, extensions)) return
  throw new Error(
    'The database was created by an older Skillstead. Use that version, or migrate the database first by running `skillstead doctor`.',
  )
}

/** The number of large files that a backup lacks because they are in a bucket. */
export async function countInBucket(backup: string): Promise<number> {
  const { main, close } = openSqliteForReading(backup)
  try {
    // The backup may be of an older release, which had no buckets.
    const columns = await readColumns(main, 'sqlite', 'blobs')
    if (columns.every(({ name }) => name !== 'place')) return 0
    return await countRows(main.selectFrom('blobs').where('place', 'in', ['bucket', 'lost']))
  } finally {
    await close()
  }
}
