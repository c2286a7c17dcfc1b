import { sql } from 'kysely'
import { RegistryError } from '@skillstead/protocol'
import { type Blob, type BlobPart, toMissingBlob, toUnavailable, unpackBlob } from './blobs.ts'
import { compileQuery, type Param } from './compiled-query.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'

/** The sources of contents. Transactions omit `bucket` and cannot read its contents, as they must not wait for it. */
export type BlobSource = Pick<Database, 'read' | 'bucket'>

/** A row of the table `blobs`. */
export type BlobRow = Tables['blobs']

/** Reads the bytes with a digest; undefined if they are not stored. Throws like {@link openBlob}. */
export async function findBlob(source: BlobSource, digest: string): Promise<Uint8Array | undefined> {
  const [row] = await selectBlob(source.read, { digest })
  return row && openBlob(source, row)
}

const selectBlob = compileQuery((db, param: Param<{ digest: string }>) =>
  db.selectFrom('blobs').selectAll().where('digest', '=', param('digest')),
)

/** Reads the bytes with a digest that another row refers to. Throws if they are missing, and like {@link openBlob}. */
export async function getBlob(source: BlobSource, digest: string): Promise<Uint8Array> {
  const bytes = await findBlob(source, digest)
  if (!bytes) throw toMissingBlob(digest)
  return bytes
}

/**
 * The uncompressed bytes of a row, from the bucket if they are there. Throws `overloaded` if the bucket cannot be read at
 * the moment, and an Error if it has lost or changed the bytes.
 */
export async function openBlob(source: Pick<Database, 'bucket'>, row: BlobRow): Promise<Uint8Array> {
  return isInRow(row) ? unpackBlob(row) : getBucket(source).read(row)
}

/** As {@link openBlob} for many rows, by digest. Contents in the bucket are read in parallel. */
export async function openBlobs(
  source: Pick<Database, 'bucket'>,
  rows: readonly BlobRow[],
): Promise<Map<string, Uint8Array>> {
  const opened = new Map<string, Uint8Array>()
  const inBucket = rows.filter((row) => !isInRow(row))
  await Promise.all(inBucket.map(async (row) => opened.set(row.digest, await openBlob(source, row))))
  for (const row of rows) if (!opened.has(row.digest)) opened.set(row.digest, await openBlob(source, row))
  return opened
}

/** Reads stored bytes from an offset on. Throws if the blob is missing, and like {@link openBlob}. */
export async function readBlobPart(
  source: BlobSource,
  digest: string,
  part: { from: number; bytesMax: number },
): Promise<BlobPart> {
  const found = await source.read
    .selectFrom('blobs')
    .select(['encoding', 'place', sql<number>`length(bytes)`.as('storedBytes')])
    .select(sql<Uint8Array>`substr(bytes, ${part.from + 1}, ${part.bytesMax})`.as('bytes'))
    .where('digest', '=', digest)
    .executeTakeFirst()
  if (!found) throw toMissingBlob(digest)
  return isInRow(found) ? found : getBucket(source).readPart({ ...found, digest }, part)
}

/** Whether the bytes are in the row itself, and not in the bucket. */
export function isInRow<Row extends Pick<BlobRow, 'place'>>(row: Row): row is Row & Pick<Blob, 'place'> {
  return row.place !== 'bucket' && row.place !== 'lost'
}

function getBucket({ bucket }: Pick<Database, 'bucket'>) {
  if (bucket) return bucket
  throw toUnavailable(new Error(noBucketAdvice))
}

/**
 * A handler for `catch` where a content may be left out: ignores that the bucket is unavailable, and throws other
 * errors.
 */
export function skipUnavailable(error: unknown): undefined {
  if (!(error instanceof RegistryError) || error.code !== 'overloaded') throw error
}

/** The advice for an operator who opened a registry that has a bucket without that bucket. */
export const noBucketAdvice =
  'Large files of this registry are in a bucket. Pass it with --blobs, or in the option `blobs` of `openRegistry`.'
