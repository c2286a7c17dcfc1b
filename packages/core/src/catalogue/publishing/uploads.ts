import { limits, RegistryError } from '@skillstead/protocol'
import { requireAccount, type Caller } from '../../kernel/caller.ts'
import { skewMs } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'
import { isInList } from '../../storage/list-query.ts'
import type { StorageContext } from '../../storage/storage-context.ts'

/** Time in milliseconds after which an upload expires without a publish. */
export const uploadKeptMs = 10 * 60_000
/** Limit of each user: two packages of the largest size, so that a failed publish can be repeated. */
const userUploadsMax = { files: 2 * limits.versionFilesMax, bytes: 2 * limits.versionBytesMax }
/** Maximum uploads that one transaction deletes, so that it is short even for uploads of the largest size. */
const sweptUploadsMax = 10

/**
 * Stores a file for a later publish and returns the id. Only received bytes count, and only against the limit of the
 * uploader, so that users cannot block each other. Throws `rate_limited` if the uploads of the user would exceed the
 * limit.
 */
export async function storeUpload(
  { database, clock }: StorageContext,
  bytes: Uint8Array,
  caller: Caller,
): Promise<string> {
  const { userId } = requireAccount(caller)
  const id = newId()
  await database.writer.write(async (trx) => {
    const now = clock.now()
    await trx
      .deleteFrom('uploads')
      .where('user_id', '=', userId)
      // An expiry further ahead than any upload may have was written before the clock was set back.
      .where(({ eb, or }) => or([eb('expires_at', '<=', now), eb('expires_at', '>', now + uploadKeptMs + skewMs)]))
      .execute()
    // Looks at the first ids, because ids are in the order of time and `expires_at` has no index.
    const oldest = trx.selectFrom('uploads').select('id').orderBy('id').limit(sweptUploadsMax)
    await trx.deleteFrom('uploads').where('id', 'in', oldest).where('expires_at', '<=', now).execute()
    const { files, sum, endsAt } = await trx
      .selectFrom('uploads')
      .select(({ fn }) => [
        fn.countAll<number>().as('files'),
        fn.sum<number | null>('size').as('sum'),
        fn.min('expires_at').as('endsAt'),
      ])
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow()
    if (files >= userUploadsMax.files || (sum ?? 0) + bytes.byteLength > userUploadsMax.bytes) {
      const retryAfterSeconds = Math.ceil((endsAt - now) / 1000)
      throw new RegistryError(
        'rate_limited',
        `Your uploads that no version uses yet have reached ${userUploadsMax.files} files or ${userUploadsMax.bytes} bytes. ` +
          `Publish them, or try again in ${retryAfterSeconds} s, when the oldest has expired.`,
        { retryAfterSeconds },
      )
    }
    const row = { id, user_id: userId, size: bytes.byteLength, bytes, expires_at: now + uploadKeptMs }
    await trx.insertInto('uploads').values(row).execute()
  })
  return id
}

/** The sizes of the caller's uploads by id. Throws `not_found` if an upload is unknown, expired or of another user. */
export async function measureUploads(
  { database, clock }: StorageContext,
  ids: readonly string[],
  caller: Caller,
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.read
    .selectFrom('uploads')
    .select(['id', 'size'])
    .where(isInList(database.dialect, 'id', ids))
    .where('user_id', '=', requireAccount(caller).userId)
    .where('expires_at', '>', clock.now())
    .execute()
  const sizes = new Map(rows.map(({ id, size }) => [id, size]))
  if (ids.every((id) => sizes.has(id))) return sizes
  throw unknownUpload()
}

/** The bytes of measured uploads by id. Throws `not_found` if an upload was removed since the measurement. */
export async function readUploads(
  { database }: StorageContext,
  measured: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const rows = await database.read
    .selectFrom('uploads')
    .select(['id', 'bytes'])
    .where(isInList(database.dialect, 'id', measured.keys()))
    .execute()
  if (rows.length < measured.size) throw unknownUpload()
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}

/** The error for an upload that does not exist. */
export function unknownUpload(): RegistryError {
  return new RegistryError('not_found', 'There is no such upload: it may have expired. Publish again.')
}

/** Deletes measured uploads that a publish has used. */
export async function dropUploads({ database }: StorageContext, measured: ReadonlyMap<string, number>): Promise<void> {
  const ids = [...measured.keys()]
  await database.writer.write((trx) =>
    trx
      .deleteFrom('uploads')
      .where(isInList(database.dialect, 'id', ids))
      .execute(),
  )
}

/** Deletes expired uploads in small steps. Each new upload also deletes a few expired uploads. */
export async function sweepUploads({ database, clock }: StorageContext): Promise<void> {
  for (let left = true; left;) {
    left = await database.writer.write(async (trx) => {
      const expired = trx
        .selectFrom('uploads')
        .select('id')
        .where('expires_at', '<=', clock.now())
        .limit(sweptUploadsMax)
      const { numDeletedRows } = await trx.deleteFrom('uploads').where('id', 'in', expired).executeTakeFirst()
      return numDeletedRows === BigInt(sweptUploadsMax)
    })
  }
}
