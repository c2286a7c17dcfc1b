import { minuteMs } from '../../kernel/clock.ts'
import { type Blob, putBlobs } from '../../storage/blobs.ts'
import { hasBlobsAt, moveWaitingBlobs } from '../../storage/move-blobs.ts'
import { noBucketAdvice } from '../../storage/read-blobs.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'

const topic = 'blobs.move'
/** The delay before a new job after all attempts of a job failed: the bucket was unavailable for long. */
const failedDelayMs = 10 * minuteMs

/** The outbox job that moves waiting contents to the bucket, soon after the transaction that stored them. */
export const moveBlobsJob = { topic, payload: {}, uniqueKey: topic }

/** Stores in the database contents that the bucket is known to have lost, and schedules their move to the bucket. */
export async function storeLostBlobs(
  { database, outbox }: Pick<CatalogueContext, 'database' | 'outbox'>,
  trx: WriteTransaction,
  blobs: readonly Blob[],
): Promise<void> {
  if (!database.bucket || blobs.length === 0) return
  const digests = blobs.map(({ digest }) => digest)
  const rows = await trx
    .selectFrom('blobs')
    .select('digest')
    .where('place', '=', 'lost')
    .where('digest', 'in', digests)
    .execute()
  if (rows.length === 0) return
  const lost = new Set(rows.map(({ digest }) => digest))
  await putBlobs(
    trx,
    blobs.filter(({ digest }) => lost.has(digest)),
    () => true,
  )
  await outbox.enqueue(trx, moveBlobsJob)
}

/**
 * Moves contents to the bucket in the background, on any node. A publish does not wait for the move or the bucket:
 * while the bucket is unavailable, the contents stay in the database. Throws if contents are in a bucket that the
 * registry was opened without.
 */
export async function scheduleBlobMoves(context: CatalogueContext): Promise<void> {
  const { database, outbox, clock, closing } = context
  if (!database.bucket) {
    if (await hasBlobsAt(database.read, 'bucket', 'lost')) throw new Error(noBucketAdvice)
    return
  }
  outbox.handle(topic, {
    retryDelaysMs: [10_000, minuteMs, 10 * minuteMs],
    handle: () => moveWaitingBlobs(context, closing),
    async afterwards(trx, [ended]) {
      if (!(await hasBlobsAt(trx, 'waiting'))) return
      const dueAt = clock.now() + (ended!.state === 'failed' ? failedDelayMs : 0)
      await outbox.enqueue(trx, { ...moveBlobsJob, dueAt })
    },
  })
  if (await hasBlobsAt(database.read, 'waiting'))
    await database.writer.write((trx) => outbox.enqueue(trx, moveBlobsJob))
}
