import { type Kysely, sql, type SqlBool } from 'kysely'
import pLimit from 'p-limit'
import { hourMs } from '../kernel/clock.ts'
import type { Blob } from './blobs.ts'
import type { Database } from './database.ts'
import { findMeta } from './meta.ts'
import { isInRow, noBucketAdvice } from './read-blobs.ts'
import type { StorageContext } from './storage-context.ts'
import type { BlobEncoding, Tables } from './tables.ts'
import type { Bucket } from './bucket/bucket.ts'

/** Minimum stored bytes of a content moved to the bucket: reading a smaller row takes less time than a request. */
const bucketBytesMin = 16 * 1024
/** Contents per transaction. */
const batchRows = 32
/** Contents in memory at a time, of up to 10 MiB each. */
const parallelMax = 4
/** Objects per run of {@link moveWaitingBlobs}. */
const runRows = 512

/** Key in `meta` of the removal of unused objects: its start while it is in progress, then its id. */
export const removalKey = 'blobs.removal'
/** A removal that has not ended after this time counts as interrupted. */
const removalMs = hourMs

/** The bucket of a registry. Throws if the registry was opened without a bucket. */
export function requireBucket({ bucket }: Pick<Database, 'bucket'>): Bucket {
  if (!bucket) throw new Error(noBucketAdvice)
  return bucket
}

/**
 * Which contents of a version are moved to the bucket. SKILL.md stays in the database: searches, loads and copy checks
 * read it, and must not depend on the bucket.
 */
export function toMoveRule(
  { bucket }: Pick<Database, 'bucket'>,
  files: readonly { path: string; digest: string }[],
): (blob: Blob) => boolean {
  if (!bucket) return () => false
  const skillMd = files.find(({ path }) => path === 'SKILL.md')?.digest
  return ({ digest, bytes }) => bytes.length >= bucketBytesMin && digest !== skillMd
}

/** Throws if the bucket and prefix are another registry's, whose objects this registry would delete as unused. */
export async function claimBucket(database: Database): Promise<Bucket> {
  const bucket = requireBucket(database)
  const { objects } = bucket
  const origin = (await findMeta(database.read, 'origin'))!
  const owner = await objects.claim(origin)
  if (owner === origin) return bucket
  throw new Error(
    `${objects.name} belongs to the registry ${owner}. Choose another bucket, or another prefix in this one.`,
  )
}

/** Whether any row of `blobs` has one of these places. */
export async function hasBlobsAt(
  db: Kysely<Tables>,
  ...places: readonly NonNullable<Tables['blobs']['place']>[]
): Promise<boolean> {
  const row = await db.selectFrom('blobs').select('digest').where('place', 'in', places).limit(1).executeTakeFirst()
  return row !== undefined
}

/**
 * Moves contents with the place `waiting` to the bucket, until none is left, about {@link runRows} are moved or the
 * signal is aborted. The bytes of a row are removed only after the bucket has stored them. Throws if the bucket cannot
 * be written.
 */
export async function moveWaitingBlobs(context: StorageContext, signal: AbortSignal): Promise<void> {
  if (!(await hasBlobsAt(context.database.read, 'waiting'))) return
  await claimBucket(context.database)
  let left = runRows
  for await (const rows of readBatches(context.database, sql<boolean>`place = 'waiting' and ${isNoSkillMd}`)) {
    await moveBatch(context, rows)
    if ((left -= rows.length) <= 0 || signal.aborted) return
  }
}

/** Moves all large contents to the bucket, yielding the size of each batch. A node may serve the database meanwhile. */
export async function* moveToBucket(context: StorageContext): AsyncGenerator<number> {
  await claimBucket(context.database)
  for await (const rows of readBatches(
    context.database,
    sql<boolean>`${hasBytes} and length(bytes) >= ${bucketBytesMin} and ${isNoSkillMd}`,
  )) {
    await moveBatch(context, rows)
    yield rows.length
  }
}

/** Moves all contents back to the database, yielding the size of each batch. Does not delete objects in the bucket. */
export async function* moveToDatabase({ database }: StorageContext): AsyncGenerator<number> {
  requireBucket(database)
  for await (const rows of readBatches(database, sql<boolean>`place in ('bucket', 'lost')`)) {
    for (const { digest } of rows) await moveBack(database, digest)
    yield rows.length
  }
}

const hasBytes = sql<SqlBool>`(place is null or place = 'waiting')`

/** A SKILL.md stays in the database, also where another version has the same file under another name. */
const isNoSkillMd = sql<SqlBool>`not exists
  (select 1 from version_files where version_files.digest = blobs.digest and path = 'SKILL.md')`

async function* readBatches({ read }: Database, condition: ReturnType<typeof sql<boolean>>) {
  for (let after = ''; ;) {
    const rows = await read
      .selectFrom('blobs')
      .select('digest')
      .where('digest', '>', after)
      .where(condition)
      .orderBy('digest')
      .limit(batchRows)
      .execute()
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1)!.digest
  }
}

/**
 * Uploads the bytes of rows, and then empties the rows in one transaction: unless a removal of unused objects began in
 * the meantime, or has not ended. Such a removal may have missed the rows and removed their objects.
 */
async function moveBatch({ database, clock }: StorageContext, rows: readonly { digest: string }[]): Promise<void> {
  const { read, writer } = database
  const { objects } = requireBucket(database)
  const before = await findMeta(read, removalKey)
  if (Math.abs(clock.now() - Number.parseInt(before ?? '', 10)) < removalMs) throw toBusy()
  const uploaded: { digest: string; encoding: BlobEncoding }[] = []
  await pLimit(parallelMax).map(rows, async ({ digest }) => {
    const row = await read.selectFrom('blobs').selectAll().where('digest', '=', digest).executeTakeFirst()
    if (!row || !isInRow(row)) return
    await objects.put(digest, row.bytes)
    uploaded.push({ digest, encoding: row.encoding })
  })
  await writer.write(
    async (trx) => {
      if ((await findMeta(trx, removalKey)) !== before) throw toBusy()
      for (const { digest, encoding } of uploaded)
        await trx
          .updateTable('blobs')
          .set({ bytes: Buffer.alloc(0), place: 'bucket' })
          .where('digest', '=', digest)
          // A row that was removed and stored again meanwhile may have other bytes for the same content.
          .where('encoding', '=', encoding)
          .where(hasBytes)
          .where(isNoSkillMd)
          .execute()
    },
    { bulk: true },
  )
}

function toBusy(): Error {
  return new Error('Unused objects are being removed from the bucket. Try again when that has ended.')
}

async function moveBack({ read, writer, bucket }: Database, digest: string): Promise<void> {
  const row = await read.selectFrom('blobs').selectAll().where('digest', '=', digest).executeTakeFirst()
  if (!row || isInRow(row)) return
  const { bytes } = await bucket!.open(row)
  await writer.write(
    (trx) =>
      trx
        .updateTable('blobs')
        .set({ bytes, place: null })
        .where('digest', '=', digest)
        .where('place', 'in', ['bucket', 'lost'])
        .execute(),
    { bulk: true },
  )
}
