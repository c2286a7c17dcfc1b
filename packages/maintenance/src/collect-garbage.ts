import { setImmediate } from 'node:timers/promises'
import { systemCaller } from '@skillstead/core'
import {
  answersKeptMs,
  countRows,
  createProgress,
  findUnusedBlobs,
  findUnusedObjects,
  readPages,
  recordAudit,
  removeUnusedBlobs,
  removeUnusedObjects,
  type StorageContext,
  type Report,
} from '@skillstead/core/internal'
import { findPartialFiles, removePartialFiles } from './backup/place-file.ts'

/** Unreferenced data of one kind. */
export interface Garbage {
  readonly name: 'blobs' | 'objects' | 'sessions' | 'answers' | 'shares' | 'backups'
  readonly count: number
  /** Stored bytes; 0 for database rows, which are too small to count. */
  readonly bytes: number
}

interface CollectOptions {
  /** Counts unreferenced data without removing it. */
  readonly dryRun?: boolean
  /**
   * Whether to also remove objects in the bucket that no row has referred to for a week. Must be false for a copy of a
   * registry that uses the bucket of the original: the copy does not know the newer objects. Default: false.
   */
  readonly objects?: boolean
  readonly report?: Report
}

const removedPerWrite = 500

/**
 * Removes unreferenced data in small steps, so that a running node can serve requests. Never removes versions. Each
 * blob is checked again in the transaction that removes it, so that no new reference is lost.
 */
export async function collectGarbage(parts: StorageContext, options: CollectOptions = {}): Promise<Garbage[]> {
  const { dryRun = false, objects = false, report = () => {} } = options
  const now = parts.clock.now()
  const garbage = [
    await collectBlobs(parts, dryRun, report),
    ...(objects && parts.database.bucket ? [await collectObjects(parts, dryRun)] : []),
    await collectRows(parts, dryRun, { name: 'sessions', table: 'sessions', column: 'expires_at', before: now }),
    await collectRows(parts, dryRun, {
      name: 'answers',
      table: 'idempotent_answers',
      column: 'created_at',
      before: now - answersKeptMs,
    }),
    await collectRows(parts, dryRun, { name: 'shares', table: 'shares', column: 'expires_at', before: now }),
    await collectUnusedFiles(parts, dryRun),
  ]
  if (!dryRun && garbage.some(({ count }) => count > 0)) await auditGarbage(parts, garbage)
  return garbage
}

async function collectBlobs({ database }: StorageContext, dryRun: boolean, report: Report): Promise<Garbage> {
  const progress = createProgress(report, 'contents', await countRows(database.read.selectFrom('blobs')))
  let [count, bytes] = [0, 0]
  for await (const { unused, read } of findUnusedBlobs(database.read)) {
    progress(read)
    for (let i = 0; i < unused.length; i += removedPerWrite) {
      const some = unused.slice(i, i + removedPerWrite)
      const gone = dryRun ? some : await removeUnusedBlobs(database.writer, some)
      count += gone.length
      bytes += gone.reduce((sum, { stored }) => sum + stored, 0)
    }
  }
  return { name: 'blobs', count, bytes }
}

async function collectObjects(parts: StorageContext, dryRun: boolean): Promise<Garbage> {
  let [count, bytes] = [0, 0]
  for await (const unused of findUnusedObjects(parts)) {
    const gone = dryRun ? unused : await removeUnusedObjects(parts, unused)
    count += gone.length
    bytes += gone.reduce((sum, object) => sum + object.bytes, 0)
  }
  return { name: 'objects', count, bytes }
}

interface Ended {
  readonly name: Garbage['name']
  readonly table: 'sessions' | 'idempotent_answers' | 'shares'
  readonly column: 'expires_at' | 'created_at'
  readonly before: number
}

/** Removes expired rows, or only counts them. */
async function collectRows({ database }: StorageContext, dryRun: boolean, ended: Ended): Promise<Garbage> {
  const { name, table, column, before } = ended
  const readIds = (after: string) =>
    database.read
      .selectFrom(table)
      .select('id')
      .where(column, '<=', before)
      .where('id', '>', after)
      .orderBy('id')
      .limit(removedPerWrite)
      .execute()
  let count = 0
  for await (const rows of readPages('', readIds, ({ id }) => id)) {
    count += rows.length
    if (dryRun) continue
    const ids = rows.map(({ id }) => id)
    await database.writer.write(async (trx) => {
      // Checks the expiry again, because a row with the same key may have replaced the expired row meanwhile.
      await trx.deleteFrom(table).where('id', 'in', ids).where(column, '<=', before).execute()
    })
    await setImmediate()
  }
  return { name, count, bytes: 0 }
}

async function collectUnusedFiles({ database, clock }: StorageContext, dryRun: boolean): Promise<Garbage> {
  const files = await findPartialFiles(database, clock.now())
  if (!dryRun) await removePartialFiles(files)
  return { name: 'backups', count: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) }
}

async function auditGarbage({ database, clock }: StorageContext, garbage: readonly Garbage[]): Promise<void> {
  const data = Object.fromEntries(garbage.map(({ name, count }) => [name, count]))
  await database.writer.write((trx) =>
    recordAudit(trx, { caller: systemCaller, action: 'garbage.collect', subject: '', at: clock.now(), data }),
  )
}
