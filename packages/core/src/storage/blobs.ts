import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib'
import { limits, RegistryError } from '@skillstead/protocol'
import { toDigest } from '@skillstead/skill-format/archives'
import { compileForRows } from './compiled-query.ts'
import type { BlobEncoding, Tables } from './tables.ts'
import type { WriteTransaction } from './writer.ts'

/** File contents by digest: stored once, compressed, immutable. */
export interface Blob {
  readonly digest: string
  readonly size: number
  readonly encoding: BlobEncoding
  readonly bytes: Uint8Array
  /** A row whose bytes may be in the bucket is no `Blob`: `openBlob` reads it. */
  readonly place?: null | 'waiting'
}

/** Below this size, compression saves less than the overhead of a row. */
const compressBytesMin = 256
/** From this size on, compression runs in another thread, because it would block the event loop noticeably. */
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

/**
 * Stores blobs; existing ones stay unchanged, unless the bucket lost them. Blobs for which `isMoved` returns true wait
 * in their rows until they are moved to the bucket; the others stay in the database.
 */
export async function putBlobs(
  trx: WriteTransaction,
  blobs: readonly Blob[],
  isMoved: (blob: Blob) => boolean = () => false,
): Promise<void> {
  // PostgreSQL refuses a statement that would write the same row twice.
  const distinct = new Map(blobs.map((blob) => [blob.digest, blob])).values()
  const rows = Array.from(distinct, (blob): Tables['blobs'] => {
    const { digest, size, encoding, bytes } = blob
    return { digest, size, encoding, bytes, place: isMoved(blob) ? 'waiting' : null }
  })
  await insertBlobs(trx, rows)
}

const insertBlobs = compileForRows<Tables['blobs']>((db, rows) =>
  db
    .insertInto('blobs')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('digest')
        .doUpdateSet((eb) => ({
          place: eb.ref('excluded.place'),
          encoding: eb.ref('excluded.encoding'),
          bytes: eb.ref('excluded.bytes'),
        }))
        .where('blobs.place', 'is not', null)
        .where((eb) => eb.or([eb('excluded.place', 'is', null), eb('blobs.place', '=', 'lost')])),
    ),
)

/** The error for a digest that a row refers to although the bytes are missing. */
export function toMissingBlob(digest: string): Error {
  return new Error(`The blob ${digest} is missing from the storage. Run \`skillstead doctor\`.`)
}

/**
 * The error of an unavailable bucket. Callers are not told where the contents are; the cause has the reason, for the
 * operator.
 */
export function toUnavailable(cause: unknown): RegistryError {
  const detail = 'The storage of large files is unavailable at the moment. Try again shortly.'
  return new RegistryError('overloaded', detail, { retryAfterSeconds: 5, cause })
}

/** Bytes of a blob as they are stored. */
export interface BlobPart extends Pick<Blob, 'encoding' | 'bytes'> {
  /** Number of all stored bytes of the blob. */
  readonly storedBytes: number
}

/** Returns the uncompressed bytes of a stored blob. */
export async function unpackBlob(blob: Blob): Promise<Uint8Array> {
  if (blob.encoding === 'identity') return blob.bytes
  // Rejects decompression bombs.
  const maxOutputLength = Math.max(blob.size, limits.fileBytesMax)
  if (blob.size >= threadBytesMin) return inflateInThread(blob.bytes, { maxOutputLength })
  // A single chunk for the file and one extra byte, which detects the end; zlib would allocate 16 kB by default.
  return inflateRawSync(blob.bytes, { maxOutputLength, chunkSize: Math.max(chunkBytesMin, blob.size + 1) })
}
