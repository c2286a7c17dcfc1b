import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { OperatorContext } from './operator-context.ts'
import { readFileUse } from '../storage/file-use.ts'

/** How much of a registry's file is in use, in bytes. */
export interface FileUse {
  readonly bytes: number
  /** What new rows take first; only compacting gives it back to the disk. */
  readonly freeBytes: number
}

/** What the disk is to have left meanwhile. */
const spareBytes = 64 * 1024 * 1024

/** How the SQLite file of a registry is used; undefined where there is none. */
export async function readUse({ database }: Pick<OperatorContext, 'database'>): Promise<FileUse | undefined> {
  return database.dialect === 'sqlite' ? readFileUse(database.read) : undefined
}

/**
 * Writes the SQLite file anew without what is free in it, which takes as much room again, and holds up every other
 * writer meanwhile. Throws a sentence where the disk has not enough room.
 */
export async function compact(context: Pick<OperatorContext, 'database'>): Promise<FileUse> {
  const { database } = context
  if (database.dialect !== 'sqlite' || !database.compact) {
    throw new Error(
      'PostgreSQL reuses what is free by itself (autovacuum); to give it back to the disk, run VACUUM FULL blobs in psql while no node runs.',
    )
  }
  const { bytes, freeBytes } = (await readUse(context))!
  // The new file, and the journal that it goes through into its place.
  const needed = 2 * (bytes - freeBytes) + spareBytes
  if (database.path !== undefined) await requireRoom(database.path, needed)
  await database.compact()
  return (await readUse(context))!
}

async function requireRoom(path: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path))
  if (bavail * bsize >= needed) return
  throw new Error(
    `The disk has no room to compact the file: ${Math.ceil(needed / 1024 / 1024)} MiB are needed. Make room first.`,
  )
}
