import { sql, type Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** Size of an SQLite file, and of its free pages. */
export async function readFileUse(db: Kysely<Tables>): Promise<{ bytes: number; freeBytes: number }> {
  const { rows } = await sql<{ bytes: number; freeBytes: number }>`select page_count * page_size as bytes,
    freelist_count * page_size as "freeBytes"
    from pragma_page_count(), pragma_page_size(), pragma_freelist_count()`.execute(db)
  return rows[0]!
}
