import { LRUCache } from 'lru-cache'
import { RegistryError } from '@skillstead/protocol'
import { toDigest } from '@skillstead/skill-format/archives'
import { type BlobPart, toMissingBlob, unpackBlob } from '../blobs.ts'
import type { Tables } from '../tables.ts'
import type { BlobObjects } from './s3-objects.ts'

type BlobRow = Tables['blobs']

const cachedBytesMax = 32 * 1024 * 1024
/** Memory of a cached content in addition to its bytes. */
const overheadBytes = 300

/** The bucket of a registry, as readers see it: contents are compared with their digests, and the last ones cached. */
export class Bucket {
  readonly objects: BlobObjects
  readonly #contents: LRUCache<string, Uint8Array, BlobRow>

  constructor(objects: BlobObjects) {
    this.objects = objects
    this.#contents = new LRUCache<string, Uint8Array, BlobRow>({
      maxSize: cachedBytesMax,
      sizeCalculation: ({ length }) => length + overheadBytes,
      // Concurrent readers of one content share a request.
      fetchMethod: (_digest, _stale, { context }) => this.#fetch(context),
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
  async readPart({ digest, encoding }: Pick<BlobRow, 'digest' | 'encoding'>, part: { from: number; bytesMax: number }): Promise<BlobPart> {
    const found = await this.#ask(() => this.objects.getPart(digest, part))
    if (!found) throw this.#toMissing(digest)
    return { encoding, ...found }
  }

  async #fetch(row: BlobRow): Promise<Uint8Array> {
    const bytes = await this.#ask(() => this.objects.get(row.digest))
    if (!bytes) throw this.#toMissing(row.digest)
    const content = await unpackBlob({ ...row, bytes, place: null }).catch(() => undefined)
    if (content && toDigest(content) === row.digest) return content
    throw new Error(`${this.objects.name} has other bytes than those of the digest ${row.digest}. Run \`skillstead doctor --deep\`.`)
  }

  /** Callers are not told where the contents are. The reason is in the cause, for the operator. */
  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (cause instanceof RegistryError) throw cause
      const detail = 'The storage of large files is unavailable at the moment. Try again shortly.'
      throw new RegistryError('overloaded', detail, { retryAfterSeconds: 5, cause })
    }
  }

  #toMissing(digest: string): Error {
    return new Error(toMissingBlob(digest).message, { cause: new Error(`${this.objects.name} has no such object.`) })
  }
}
