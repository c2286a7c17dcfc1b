import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib'
import { type Kysely, sql } from 'kysely'
import { toDigest } from '@skillstead/skill-format/archives'
import { type Param, compileWrite } from './compiled-query.ts'
import type { BlobEncoding, Tables } from './tables.ts'
import type { WriteTransaction } from './writer.ts'

/** File contents by digest: stored once, compressed, immutable. */
export interface Blob {
  readonly digest: string
  readonly size: number
  readonly encoding: BlobEncoding
  readonly bytes: Uint8Array
}

/** Below this size, compression saves less than the overhead of a row. */
const compressBytesMin = 256
/** From this size on, compression would block the event loop noticeably, and runs in another thread. */
const threadBytesMin = 128 * 1024
/** Minimum chunk size of zlib. */
const chunkBytesMin = 64
const deflateInThread = promisify(deflateRaw)
const inflateInThread = promisify(inflateRaw)

/** Creates a blob: computes the digest, and compresses the bytes if that makes them smaller. */
export async function createBlob(bytes: Uint8Array): Promise<Blob> {
  const identity: Blob = { digest: toDigest(bytes), size: bytes.length, encoding: 'identity', bytes }
  if (bytes.length < compressBytesMin) return identity
  // A single chunk of the right size: by default zlib allocates and clears 16 kB for each small file.
  const options = { level: bytes.length < threadBytesMin ? 1 : 6, chunkSize: bytes.length }
  const packed = bytes.length < threadBytesMin ? deflateRawSync(bytes, options) : await deflateInThread(bytes, options)
  return packed.length < bytes.length * 0.9 ? { ...identity, encoding: 'deflate-raw', bytes: packed } : identity
}

/** Stores blobs; existing ones stay unchanged. */
export async function putBlobs(trx: WriteTransaction, blobs: readonly Blob[]): Promise<void> {
  for (const blob of blobs) await insertBlob(trx, blob)
}

const insertBlob = compileWrite((db, param: Param<Blob>) =>
  db
    .insertInto('blobs')
    .values({ digest: param('digest'), size: param('size'), encoding: param('encoding'), bytes: param('bytes') })
    .onConflict((conflict) => conflict.column('digest').doNothing()),
)

/** Reads the bytes with a digest; undefined if they are not stored. */
export async function findBlob(db: Kysely<Tables>, digest: string): Promise<Uint8Array | undefined> {
  const row = await db.selectFrom('blobs').selectAll().where('digest', '=', digest).executeTakeFirst()
  return row && unpackBlob(row)
}

/** Reads the bytes with a digest that another row refers to. Throws if they are missing. */
export async function getBlob(db: Kysely<Tables>, digest: string): Promise<Uint8Array> {
  const bytes = await findBlob(db, digest)
  if (!bytes) throw toMissingBlob(digest)
  return bytes
}

function toMissingBlob(digest: string): Error {
  return new Error(`The blob ${digest} is missing from the storage. Run \`skillstead doctor\`.`)
}

/** Bytes of a blob as they are stored. */
export interface BlobPart extends Pick<Blob, 'encoding' | 'bytes'> {
  /** Number of all stored bytes of the blob. */
  readonly storedBytes: number
}

/** Reads stored bytes from an offset on. Throws if the blob is missing. */
export async function readBlobPart(
  db: Kysely<Tables>,
  digest: string,
  { from, bytesMax }: { from: number; bytesMax: number },
): Promise<BlobPart> {
  const part = await db
    .selectFrom('blobs')
    .select(['encoding', sql<number>`length(bytes)`.as('storedBytes')])
    .select(sql<Uint8Array>`substr(bytes, ${from + 1}, ${bytesMax})`.as('bytes'))
    .where('digest', '=', digest)
    .executeTakeFirst()
  if (!part) throw toMissingBlob(digest)
  return part
}

/** Returns the uncompressed bytes of a stored blob. */
export async function unpackBlob(blob: Blob): Promise<Uint8Array> {
  if (blob.encoding === 'identity') return blob.bytes
  if (blob.size >= threadBytesMin) return inflateInThread(blob.bytes)
  // A single chunk for the file and one extra byte, which detects the end; zlib would allocate 16 kB by default.
  return inflateRawSync(blob.bytes, { chunkSize: Math.max(chunkBytesMin, blob.size + 1) })
}
