import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { type BlobPart, isSliceOver, nextSlice } from '@skillstead/core/internal'
import { objectKinds } from './git-objects.ts'
import type { PackObject, StoredBlob } from './repository.ts'

/** Reads stored files. */
export interface BlobSource {
  /** Yields the bytes of stored files by digest. */
  read(blobs: readonly StoredBlob[]): AsyncIterable<[digest: string, bytes: Uint8Array]>
  /** Reads a part of a file in its stored form: raw deflate (RFC 1951), or not compressed. */
  readPart(digest: string, part: { from: number; bytesMax: number }): Promise<BlobPart>
}

/** Number of objects between two readings of the clock: a reading costs as much as reading one cached object. */
const objectsPerCheck = 16
/** Maximum size of the cache of compressed objects, which all responses share. */
const cacheBytesMax = 64 * 1024 * 1024
/** Minimum size of a file that is sent in parts, in the form in which it is stored. */
const largeBytesMin = 256 * 1024
const partBytesMax = 256 * 1024
/** Maximum size of the cache of parts of large files. */
const partsBytesMax = 48 * 1024 * 1024
const checksumsMax = 10_000
/** Maximum size and number of the stored files that are read at once. */
const batchBytesMax = 256 * 1024
const batchFilesMax = 64
/** Minimum size of an object that is compressed in another thread. */
const threadBytesMin = 64 * 1024

/** Minimum chunk size of zlib. */
const chunkBytesMin = 64
/** Objects up to this size are compressed with `smallOptions`: their main cost is the memory for the state of zlib. */
const smallBytesMax = 1024
const smallOptions = { windowBits: 10, memLevel: 4 }

const deflateInThread = promisify(deflate)

/** Objects as they are in packs: a header and the compressed bytes, cached by id and shared by all responses. */
export class PackEntries {
  readonly #source: BlobSource
  readonly #cache = new LRUCache<string, Uint8Array>({
    maxSize: cacheBytesMax,
    sizeCalculation: (bytes) => bytes.length + overheadBytes,
  })
  readonly #large: LargeEntries
  /** At most two batches are read at a time: a response that waits then finds objects that another one has read. */
  readonly #inTurn = pLimit(2)

  constructor(source: BlobSource) {
    this.#source = source
    this.#large = new LargeEntries(source)
  }

  /**
   * The entries of objects, in order. The entry of a large file comes in parts, so that a client that reads slowly
   * occupies the memory of only one part. Throws the reason of the signal if the client is gone.
   */
  async *read(objects: readonly PackObject[], signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    let loaded = new Map<string, Uint8Array>()
    for (const [at, object] of objects.entries()) {
      if (at % objectsPerCheck === 0 && isSliceOver()) await nextSlice(signal)
      if ('digest' in object && object.size >= largeBytesMin) {
        yield* this.#large.read(object)
        continue
      }
      const entry = loaded.get(object.id) ?? this.#cache.get(toObjectKey(object)) ?? (await this.#toEntry(object))
      if (entry) {
        yield entry
        continue
      }
      loaded = await this.#load(toBatch(objects, at))
      yield loaded.get(object.id)!
    }
  }

  /** Makes the entry of an object in memory or of a generated object. Undefined for a stored file. */
  async #toEntry(object: PackObject): Promise<Uint8Array | undefined> {
    if ('digest' in object) return undefined
    const bytes = 'toBytes' in object ? await object.toBytes() : object.bytes
    const base = object.kind === 'delta' ? object.base : ''
    const entry = Buffer.concat([toEntryHeader(object.kind, bytes.length, base), await compressObject(bytes)])
    this.#cache.set(toObjectKey(object), entry)
    return entry
  }

  /** Reads the entries of a batch of stored files; returns them by id. */
  #load(blobs: readonly StoredBlob[]): Promise<Map<string, Uint8Array>> {
    return this.#inTurn(async () => {
      const entries = new Map<string, Uint8Array>()
      const missing = new Map<string, StoredBlob>()
      for (const blob of blobs) {
        const cached = this.#cache.get(blob.id)
        if (cached) entries.set(blob.id, cached)
        else missing.set(blob.digest, blob)
      }
      if (missing.size === 0) return entries
      for await (const [digest, bytes] of this.#source.read([...missing.values()])) {
        if (isSliceOver()) await nextSlice()
        const { id } = missing.get(digest)!
        const entry = Buffer.concat([toEntryHeader('blob', bytes.length), await compressObject(bytes)])
        this.#cache.set(id, entry)
        entries.set(id, entry)
      }
      return entries
    })
  }
}

/** Entries of large files, whose parts are sent in the form in which they are stored. */
class LargeEntries {
  readonly #source: BlobSource
  readonly #parts = new LRUCache<string, BlobPart>({
    maxSize: partsBytesMax,
    sizeCalculation: ({ bytes }) => bytes.length + overheadBytes,
  })
  /** The checksums that end the entries, by digest of the file. */
  readonly #checksums = new LRUCache<string, Uint8Array>({ max: checksumsMax })
  readonly #inTurn = pLimit(1)

  constructor(source: BlobSource) {
    this.#source = source
  }

  /** The entry of a file. Only one part is in memory at a time; a part that the cache evicts is read again. */
  async *read(blob: StoredBlob): AsyncGenerator<Uint8Array> {
    const checksum = this.#checksums.get(blob.digest) ?? (await this.#readChecksum(blob))
    yield Buffer.concat([toEntryHeader('blob', blob.size), streamHead])
    for (let from = 0, left = 1; left > 0; from += partBytesMax) {
      const { encoding, bytes, storedBytes } = await this.#readPart(blob.digest, from)
      left = storedBytes - from - bytes.length
      if (encoding === 'deflate-raw') yield bytes
      else yield* toStoredBlocks(bytes, left === 0)
    }
    yield checksum
  }

  /** The checksum of a file's content, which ends a zlib stream (RFC 1950). Computed at the first use. */
  #readChecksum(blob: StoredBlob): Promise<Uint8Array> {
    return this.#inTurn(async () => {
      const known = this.#checksums.get(blob.digest)
      if (known) return known
      let checksum: Uint8Array = Buffer.alloc(0)
      for await (const [, bytes] of this.#source.read([blob])) {
        // Compresses with level 0 only to get the checksum, which another thread computes this way.
        const stream = await deflateInThread(bytes, { level: 0, chunkSize: bytes.length })
        checksum = Buffer.copyBytesFrom(stream, stream.length - checksumBytes)
        this.#checksums.set(blob.digest, checksum)
      }
      return checksum
    })
  }

  async #readPart(digest: string, from: number): Promise<BlobPart> {
    const key = `${digest} ${from}`
    const part = this.#parts.get(key) ?? (await this.#source.readPart(digest, { from, bytesMax: partBytesMax }))
    this.#parts.set(key, part)
    return part
  }
}

function toObjectKey(object: PackObject): string {
  return object.kind === 'delta' ? `${object.id} ${object.base}` : object.id
}

/** Memory of a cached entry in addition to its bytes. */
const overheadBytes = 200

/** The next stored files to read at once, from the index `from` on. */
function toBatch(objects: readonly PackObject[], from: number): StoredBlob[] {
  const batch: StoredBlob[] = []
  let bytes = 0
  for (let at = from; at < objects.length && batch.length < batchFilesMax; at++) {
    const object = objects[at]!
    if (!('digest' in object) || object.size >= largeBytesMin) continue
    bytes += object.size
    if (batch.length > 0 && bytes > batchBytesMax) break
    batch.push(object)
  }
  return batch
}

/** Compresses bytes to one chunk of the right size: by default zlib allocates and clears 16 kB for each small file. */
function compressObject(bytes: Uint8Array): Promise<Uint8Array> | Uint8Array {
  const options = { level: 1, chunkSize: Math.max(chunkBytesMin, bytes.length) }
  if (bytes.length >= threadBytesMin) return deflateInThread(bytes, options)
  return deflateSync(bytes, bytes.length <= smallBytesMax ? { ...options, ...smallOptions } : options)
}

/** The header of a zlib stream (RFC 1950, section 2.2): deflate, a window of 32 KiB, the fastest compression. */
const streamHead = Buffer.of(0x78, 0x01)
const checksumBytes = 4
const blockBytesMax = 0xff_ff

/** Encodes bytes as uncompressed deflate blocks (RFC 1951, section 3.2.4). `areLast`: whether they end the stream. */
function* toStoredBlocks(bytes: Uint8Array, areLast: boolean): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += blockBytesMax) {
    const block = bytes.subarray(at, at + blockBytesMax)
    const head = Buffer.alloc(5)
    head.writeUInt8(areLast && at + block.length === bytes.length ? 1 : 0)
    head.writeUInt16LE(block.length, 1)
    head.writeUInt16LE(block.length ^ 0xff_ff, 3)
    yield head
    yield block
  }
}

/** Numbers of the kinds of entries in packs. A `delta` names its base by id. */
const entryKinds = { ...objectKinds, delta: 7 } as const

/**
 * The start of an entry, before the compressed bytes: the kind in three bits, and the size in 4 bits and then 7 bits
 * per byte, the lowest first. For a delta, the id of its base follows.
 */
function toEntryHeader(kind: keyof typeof entryKinds, size: number, base = ''): Uint8Array {
  const header: number[] = []
  let [bits, rest] = [(entryKinds[kind] << 4) | (size & 15), Math.floor(size / 16)]
  while (rest > 0) {
    header.push(bits | 128)
    bits = rest & 127
    rest = Math.floor(rest / 128)
  }
  return Buffer.concat([Buffer.of(...header, bits), Buffer.from(base, 'hex')])
}

const idBytes = 20
const offsetDeltaKind = 6

/**
 * Converts the entry of a delta that names its base by id to one that names it by `distance`, the number of bytes
 * between the starts of both entries.
 */
export function toOffsetDelta(entry: Uint8Array, distance: number): Uint8Array {
  const headBytes = entry.findIndex((byte) => byte < 128) + 1
  const head = Buffer.copyBytesFrom(entry, 0, headBytes)
  head[0] = (head[0]! & 0b1000_1111) | (offsetDeltaKind << 4)
  return Buffer.concat([head, toDistance(distance), entry.subarray(headBytes + idBytes)])
}

/**
 * Encodes a distance with seven bits per byte, the highest first. Each byte after the first adds one (gitformat-pack,
 * "offset encoding").
 */
function toDistance(distance: number): Buffer {
  const bytes = [distance % 128]
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift(128 | (--rest % 128))
  return Buffer.from(bytes)
}
