import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sql } from 'kysely'
import type { StorageContext } from '@skillstead/core/internal'

/** The size of a registry's file and of its free space, in bytes. */
export interface FileUse {
  readonly bytes: number
  /** Free space in the file. New rows use it; only compacting returns it to the disk. */
  readonly freeBytes: number
}

/** Disk space that must stay free while the file is compacted. */
const spareBytes = 64 * 1024 * 1024

/** Reads the size of a registry's SQLite file and of its free space; undefined for PostgreSQL. */
export async function readUse({ database }: Pick<StorageContext, 'database'>): Promise<FileUse | undefined> {
  if (database.dialect === 'postgres') return undefined
  const { rows } = await sql<FileUse>`select page_count * page_size as bytes,
    freelist_count * page_size as "freeBytes"
    from pragma_page_count(), pragma_page_size(), pragma_freelist_count()`.execute(database.read)
  return rows[0]!
}

/**
 * Rewrites the SQLite file without its free space. Meanwhile needs disk space of up to twice the size of the compacted
 * file, and blocks all other writers. Throws if the disk does not have enough space, and for PostgreSQL.
 */
export async function compact(context: Pick<StorageContext, 'database'>): Promise<FileUse> {
  const { database } = context
  if (database.dialect !== 'sqlite' || !database.compact) {
    throw new Error(
      'PostgreSQL reuses free space by itself (autovacuum). To return it to the disk, run VACUUM FULL blobs in psql while no node runs.',
    )
  }
  const { bytes, freeBytes } = (await readUse(context))!
  // Required space: the size of the compacted database, once for a temporary copy and once for the write-ahead log,
  // through which SQLite writes the copy over the old file.
  const needed = 2 * (bytes - freeBytes) + spareBytes
  if (database.path !== undefined) await requireCompactSpace(database.path, needed)
  await database.compact()
  return (await readUse(context))!
}

async function requireCompactSpace(path: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path))
  if (bavail * bsize >= needed) return
  throw new Error(
    `The disk has not enough space to compact the file: ${Math.ceil(needed / 1024 / 1024)} MiB are needed. Free some space first.`,
  )
}
