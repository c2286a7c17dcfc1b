import pLimit from 'p-limit'
import type { Kysely } from 'kysely'
import { dayMs } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import { putMeta } from './meta.ts'
import type { StorageContext } from './storage-context.ts'
import type { Tables } from './tables.ts'
import { claimBucket, removalKey, requireBucket } from './move-blobs.ts'
import type { ListedObject } from './bucket/s3-answers.ts'

/** Objects younger than this are never removed: their rows may belong to a transaction that has not ended. */
const unusedMs = 7 * dayMs
const parallelMax = 8

/** Finds the objects in the bucket that no row refers to, in pages. Throws if the bucket belongs to another registry. */
export async function* findUnusedObjects({ database, clock }: StorageContext): AsyncGenerator<readonly ListedObject[]> {
  const { objects } = await claimBucket(database)
  for await (const page of objects.list()) {
    const old = page.filter(({ uploadedAt }) => uploadedAt < clock.now() - unusedMs)
    yield await keepUnused(database.read, old)
  }
}

/**
 * Removes those objects that are still unused, and returns them. Contents are not moved to the bucket meanwhile: see
 * `moveWaitingBlobs`. If a removal fails, no content is moved for an hour: the service may still process the removal.
 */
export async function removeUnusedObjects(
  { database, clock }: StorageContext,
  unused: readonly ListedObject[],
): Promise<readonly ListedObject[]> {
  if (unused.length === 0) return unused
  const { objects } = requireBucket(database)
  const { writer } = database
  const gone = await writer.write(async (trx) => {
    await putMeta(trx, removalKey, `${clock.now()} ${newId()}`)
    return keepUnused(trx, unused)
  })
  await pLimit(parallelMax).map(gone, ({ digest }) => objects.remove(digest))
  await writer.write((trx) => putMeta(trx, removalKey, `ended ${newId()}`))
  return gone
}

async function keepUnused(db: Kysely<Tables>, objects: readonly ListedObject[]): Promise<readonly ListedObject[]> {
  if (objects.length === 0) return objects
  const digests = objects.map(({ digest }) => digest)
  const used = await db.selectFrom('blobs').select('digest').where('digest', 'in', digests).execute()
  const known = new Set(used.map(({ digest }) => digest))
  return objects.filter(({ digest }) => !known.has(digest))
}
