import { minuteMs } from '../../kernel/clock.ts'
import { hasBlobsAt, moveWaitingBlobs } from '../../storage/move-blobs.ts'
import { noBucketAdvice } from '../../storage/read-blobs.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'

const topic = 'blobs.move'
/** The delay after a job that failed for the last time: the bucket was unavailable for long. */
const failedDelayMs = 10 * minuteMs

/** Moves the waiting contents to the bucket, soon after the transaction that stored them. */
export const moveBlobsJob = { topic, payload: {}, uniqueKey: topic }

/**
 * Moves contents to the bucket in the background, on any node. A publish does not wait for it, and needs no bucket:
 * while the bucket is unavailable, the contents stay in the database. Throws if contents are in a bucket that the registry
 * was opened without.
 */
export async function scheduleBlobMoves(context: CatalogueContext): Promise<void> {
  const { database, outbox, clock, closing } = context
  if (!database.bucket) {
    if (await hasBlobsAt(database.read, 'bucket')) throw new Error(noBucketAdvice)
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
