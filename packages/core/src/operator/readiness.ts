import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { Database } from '../storage/database.ts'

/** A disk with fewer free bytes counts as full, because SQLite needs space for its journal. */
const diskBytesMin = 64 * 1024 * 1024

/** Which parts of the registry can serve requests. */
export async function readReadiness({ database, search }: CatalogueContext) {
  return {
    database: await answersQueries(database),
    search: search.ready,
    disk: await hasDiskSpace(database),
  }
}

/** Whether the database responds. */
export async function answersQueries(database: Database): Promise<boolean> {
  try {
    await database.read.selectFrom('heads').select('id').execute()
    return true
  } catch {
    return false
  }
}

/**
 * Whether the disk of an SQLite file has space for writes. True for a database in memory or on PostgreSQL, and for a
 * database that is open for reading only.
 */
export async function hasDiskSpace({ path, isReadOnly }: Database): Promise<boolean> {
  if (path === undefined || isReadOnly) return true
  const { bavail, bsize } = await statfs(dirname(path))
  return bavail * bsize >= diskBytesMin
}
