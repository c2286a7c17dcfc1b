import { LRUCache } from 'lru-cache'
import { RegistryError } from '@skillstead/protocol'
import { toDigest } from '@skillstead/skill-format/archives'
import { type BlobPart, toUnavailable, unpackBlob } from '../blobs.ts'
import type { Tables } from '../tables.ts'
import type { S3Objects } from './s3-objects.ts'

type BlobRow = Tables['blobs']

const cachedBytesMax = 32 * 1024 * 1024
/** Memory of a cached content in addition to its bytes. */
const overheadBytes = 300

/** Stores in the row with a digest where its object is. Does not throw. */
export type MarkObject = (digest: string, place: 'bucket' | 'lost') => void

/** The content and the stored bytes of a row. */
interface OpenedObject {
  readonly content: Uint8Array
  readonly bytes: Uint8Array
}

/** A registry's bucket, as readers see it: compares contents with their digests and caches recently read contents. */
export class Bucket {
  readonly objects: S3Objects
  readonly #contents: LRUCache<string, Uint8Array, BlobRow>
  readonly #mark: MarkObject

  /** `mark` is called when a read finds that an object was lost or altered, or that a lost one is there again. */
  constructor(objects: S3Objects, mark: MarkObject = () => {}) {
    this.objects = objects
    this.#mark = mark
    this.#contents = new LRUCache<string, Uint8Array, BlobRow>({
      maxSize: cachedBytesMax,
      sizeCalculation: ({ length }) => length + overheadBytes,
      // Concurrent readers of one content share a request.
      fetchMethod: async (_digest, _stale, { context }) => {
        const ask = () => this.#ask(() => this.objects.get(context.digest))
        return (await this.#open(context, ask)).content
      },
    })
  }

  /**
   * The content of a row whose bytes are in the bucket. Throws `overloaded` if the bucket cannot be read at the moment,
   * and an Error if the object is missing or does not match its digest. The returned bytes are shared: do not change them.
   */
  async read(row: BlobRow): Promise<Uint8Array> {
    return (await this.#contents.fetch(row.digest, { context: row }))!
  }

  /** Stored bytes of a row from an offset on, which cannot be compared with the digest. Throws like {@link read}. */
  async readPart(
    { digest, encoding, place }: Pick<BlobRow, 'digest' | 'encoding' | 'place'>,
    part: { from: number; bytesMax: number },
  ): Promise<BlobPart> {
    const found = await this.#ask(() => this.objects.getPart(digest, part))
    if (found) return { encoding, ...found }
    if (place !== 'lost') this.#mark(digest, 'lost')
    throw this.#toMissing(digest)
  }

  /**
   * The content of a row whose bytes are in the bucket, and the stored bytes, for operators: errors name the bucket and
   * the reason, and nothing is cached.
   */
  open(row: BlobRow): Promise<OpenedObject> {
    return this.#open(row, () => this.objects.get(row.digest))
  }

  async #open(row: BlobRow, get: () => Promise<Uint8Array | undefined>): Promise<OpenedObject> {
    const bytes = await get()
    const content = bytes && (await unpackBlob({ ...row, bytes, place: null }).catch(() => undefined))
    const isRight = content !== undefined && toDigest(content) === row.digest
    if (isRight === (row.place === 'lost')) this.#mark(row.digest, isRight ? 'bucket' : 'lost')
    if (!bytes) throw this.#toMissing(row.digest)
    if (isRight) return { content, bytes }
    throw new Error(
      `${this.objects.name} has other bytes for the digest ${row.digest}. Run \`skillstead doctor --deep\`.`,
    )
  }

  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (cause instanceof RegistryError) throw cause
      throw toUnavailable(cause)
    }
  }

  #toMissing(digest: string): Error {
    return new Error(`${this.objects.name} lacks the object of ${digest}. Run \`skillstead doctor --deep\`.`)
  }
}
