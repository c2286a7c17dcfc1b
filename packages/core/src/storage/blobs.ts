import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib'
import type { Kysely } from 'kysely'
import { toDigest } from '@skillstead/skill-format/archives'
import { keepCompiled } from './compiled-query.ts'
import type { BlobEncoding, Tables } from './tables.ts'
import type { WriteTransaction } from './writer.ts'

/** Bytes under their digest, as they are stored: once, compressed, never changed. */
export interface Blob {
  readonly digest: string
  readonly size: number
  readonly encoding: BlobEncoding
  readonly bytes: Uint8Array
}

/** Below this, compressing saves less than a row costs. */
const compressBytesMin = 256
/** From here on the work would be felt by everybody else on the event loop, and moves to another thread. */
const threadBytesMin = 128 * 1024
/** Zlib takes no smaller ones. */
const chunkBytesMin = 64
const deflateInThread = promisify(deflateRaw)
const inflateInThread = promisify(inflateRaw)

/** Names the bytes by their digest and compresses them where that helps. */
export async function createBlob(bytes: Uint8Array): Promise<Blob> {
  const identity: Blob = { digest: toDigest(bytes), size: bytes.length, encoding: 'identity', bytes }
  if (bytes.length < compressBytesMin) return identity
  // One chunk of the right size: by default zlib takes and clears 16 kB for each of many small files.
  const options = { level: bytes.length < threadBytesMin ? 1 : 6, chunkSize: bytes.length }
  const packed = bytes.length < threadBytesMin ? deflateRawSync(bytes, options) : await deflateInThread(bytes, options)
  return packed.length < bytes.length * 0.9 ? { ...identity, encoding: 'deflate-raw', bytes: packed } : identity
}

/** Stores blobs; ones that are there already are left as they are. */
export async function putBlobs(trx: WriteTransaction, blobs: readonly Blob[]): Promise<void> {
  for (const blob of blobs) await insertBlob(trx, blob)
}

const insertBlob = keepCompiled((db, { digest, size, encoding, bytes }: Blob) =>
  db
    .insertInto('blobs')
    .values({ digest, size, encoding, bytes })
    .onConflict((conflict) => conflict.column('digest').doNothing()),
)

/** The bytes under a digest, or undefined where there are none. */
export async function findBlob(db: Kysely<Tables>, digest: string): Promise<Uint8Array | undefined> {
  const row = await db.selectFrom('blobs').selectAll().where('digest', '=', digest).executeTakeFirst()
  return row && unpackBlob(row)
}

/** The bytes under a digest that something else refers to. */
export async function getBlob(db: Kysely<Tables>, digest: string): Promise<Uint8Array> {
  const bytes = await findBlob(db, digest)
  if (!bytes) throw new Error(`The storage lacks the blob ${digest}.`)
  return bytes
}

/** The bytes of a stored blob. */
export async function unpackBlob(blob: Blob): Promise<Uint8Array> {
  if (blob.encoding === 'identity') return blob.bytes
  if (blob.size >= threadBytesMin) return inflateInThread(blob.bytes)
  // Room for all of it and the byte that shows the end, where zlib would take 16 kB for each of many small files.
  return inflateRawSync(blob.bytes, { chunkSize: Math.max(chunkBytesMin, blob.size + 1) })
}
