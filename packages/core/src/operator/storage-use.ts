import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { StorageUse } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Database } from '../storage/database.ts'

const largestMax = 10
/** Rows per read. SQLite blocks the event loop while it reads, so the loop gets a turn after each batch. */
const batchRows = 1000

/** GET /operator/storage. */
export async function showStorage({ database }: StorageContext): Promise<StorageUse> {
  return {
    ...(await readDatabaseSize(database)),
    ...(await readContentSize(database)),
    largest: await readLargestSkills(database),
  }
}

async function readDatabaseSize({ dialect, read, path }: Database) {
  if (dialect === 'postgres') {
    const { rows } = await sql<{ n: number }>`select pg_database_size(current_database()) as n`.execute(read)
    return { databaseBytes: rows[0]!.n, walBytes: null, freeBytes: null }
  }
  if (path === undefined) {
    const { rows } = await sql<{ n: number }>`select page_count * page_size as n
      from pragma_page_count(), pragma_page_size()`.execute(read)
    return { databaseBytes: rows[0]!.n, walBytes: 0, freeBytes: null }
  }
  const { bavail, bsize } = await statfs(dirname(path))
  return { databaseBytes: toFileSize(path), walBytes: toFileSize(`${path}-wal`), freeBytes: bavail * bsize }
}

function toFileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** The total size and the number of stored file contents. A content that several files have is counted once. */
async function readContentSize(database: Database): Promise<Pick<StorageUse, 'contentBytes' | 'blobs'>> {
  if (database.dialect === 'postgres') {
    const { rows } = await sql<{ bytes: number; blobs: number }>`select coalesce(sum(size), 0) as bytes,
      count(*) as blobs from blobs`.execute(database.read)
    return { contentBytes: rows[0]!.bytes, blobs: rows[0]!.blobs }
  }
  let [contentBytes, blobs] = [0, 0]
  for await (const { size } of readSizes(database, 'blobs', 'digest')) {
    contentBytes += size
    blobs += 1
  }
  return { contentBytes, blobs }
}

async function readLargestSkills(database: Database): Promise<StorageUse['largest']> {
  const largest = await (database.dialect === 'postgres' ? sumVersionSizes(database) : addVersionSizes(database))
  if (largest.length === 0) return []
  const ids = largest.map(({ id }) => id)
  const rows = await database.read.selectFrom('skills').select(['id', 'full_name']).where('id', 'in', ids).execute()
  const names = new Map(rows.map(({ id, full_name }) => [id, full_name]))
  return largest.map(({ id, bytes }) => ({ fullName: names.get(id) ?? '', bytes }))
}

interface SkillSize {
  readonly id: string
  readonly bytes: number
}

async function sumVersionSizes({ read }: Database): Promise<SkillSize[]> {
  const { rows } = await sql<SkillSize>`select skill_id as id, sum(size) as bytes from versions
    group by skill_id order by bytes desc, id limit ${largestMax}`.execute(read)
  return rows
}

async function addVersionSizes(database: Database): Promise<SkillSize[]> {
  const bytesOf = new Map<string, number>()
  for await (const { id, size } of readSizes(database, 'versions', 'skill_id')) {
    bytesOf.set(id, (bytesOf.get(id) ?? 0) + size)
  }
  const sizes = [...bytesOf].map(([id, bytes]) => ({ id, bytes }))
  return sizes.toSorted((a, b) => b.bytes - a.bytes || (a.id < b.id ? -1 : 1)).slice(0, largestMax)
}

/** The sizes of all rows of a table of an SQLite file, in disk order. */
async function* readSizes({ read }: Database, table: string, id: string): AsyncGenerator<{ id: string; size: number }> {
  for (let last = 0; ;) {
    const { rows } = await sql<{ at: number; id: string; size: number }>`select rowid as at, ${sql.ref(id)} as id, size
      from ${sql.table(table)} where rowid > ${last} order by rowid limit ${batchRows}`.execute(read)
    if (rows.length === 0) return
    yield* rows
    last = rows.at(-1)!.at
    await setImmediate()
  }
}
