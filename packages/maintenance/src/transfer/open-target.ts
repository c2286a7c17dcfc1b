import { sql } from 'kysely'
import {
  connectPostgres,
  type Dialect,
  migrate,
  openFileForFilling,
  type OpenDatabaseOptions,
  type SchemaExtension,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { toTableRules } from './portable-tables.ts'

/**
 * Fills an empty database in one transaction. A SQLite file is temporary and deleted on failure, so it is written
 * without a journal. Throws if the database is not empty.
 */
export async function fillDatabase<T>(
  { path, databaseUrl, extensions = [] }: OpenDatabaseOptions,
  work: (trx: WriteTransaction, dialect: Dialect) => Promise<T>,
): Promise<T> {
  const dialect = path === undefined ? 'postgres' : 'sqlite'
  const db = path === undefined ? (await connectPostgres(databaseUrl!)).main : openFileForFilling(path)
  try {
    await migrate(db, dialect, extensions)
    return await db.transaction().execute(async (trx) => {
      await requireEmpty(trx, dialect, extensions)
      await trx.deleteFrom('heads').execute()
      return work(trx, dialect)
    })
  } finally {
    await db.destroy()
  }
}

async function requireEmpty(
  trx: WriteTransaction,
  dialect: Dialect,
  extensions: readonly SchemaExtension[],
): Promise<void> {
  // A node that starts with this database meanwhile waits for the lock, and then finds the imported data.
  if (dialect === 'postgres') await sql`lock table meta, heads in access exclusive mode`.execute(trx)
  const { log_seq, change_seq } = await trx.selectFrom('heads').selectAll().executeTakeFirstOrThrow()
  let isEmpty = log_seq === 0 && change_seq === 0
  for (const table of toTableRules(extensions).keys()) {
    if (!isEmpty) break
    if (table === 'heads') continue
    const { rows } = await sql`select 1 as one from ${sql.table(table)} limit 1`.execute(trx)
    isEmpty = rows.length === 0
  }
  if (!isEmpty) throw new Error('There is already a registry in this database. Import into an empty database.')
}
