import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { createBytePins } from './byte-pins.ts'
import { objectKinds } from './git-objects.ts'
import type { PackObject, StoredBlob } from './repository.ts'

/** Reads the bytes of stored files, by digest. */
export type ReadBlobs = (blobs: readonly StoredBlob[]) => AsyncIterable<[digest: string, bytes: Uint8Array]>

/** Objects as they are in packs: a header and the compressed bytes, cached by id and shared by all responses. */
export interface PackEntries {
  /**
   * The entries of objects, in order. Ending the iteration early releases all memory. `giveUp` must end it: it is called
   * if others wait for the memory of an entry that was not read for too long.
   */
  read(objects: readonly PackObject[], giveUp: () => void): AsyncGenerator<Uint8Array>
}

/** Compressed objects of all responses. */
const cacheBytesMax = 64 * 1024 * 1024
/** A larger object counts in the memory for large objects, and is read on its own. */
const largeBytesMin = 256 * 1024
const largeBytesMax = 48 * 1024 * 1024
const largeWaitMs = 30_000
/** Stored files that are read at once. */
const batchBytesMax = 256 * 1024
const batchFilesMax = 64
/** From this size on, compression runs in another thread. */
const threadBytesMin = 64 * 1024

/** Minimum chunk size of zlib. */
const chunkBytesMin = 64
/** Options for small objects: the cost of their compression is mostly that of the memory for the state. */
const smallBytesMax = 1024
const smallOptions = { windowBits: 10, memLevel: 4 }

const deflateInThread = promisify(deflate)

export function createPackEntries(readBlobs: ReadBlobs): PackEntries {
  const cache = new LRUCache<string, Uint8Array>({
    maxSize: cacheBytesMax,
    sizeCalculation: (bytes) => bytes.length + overheadBytes,
  })
  const pins = createBytePins({ bytesMax: largeBytesMax, waitMs: largeWaitMs })
  // Responses that need the same objects at the same time wait for the one that reads them.
  const inTurn = pLimit(2)

  function toEntry(object: PackObject): Uint8Array | undefined {
    const key = object.kind === 'delta' ? `${object.id} ${object.base}` : object.id
    const cached = cache.get(key)
    if (cached || 'digest' in object) return cached
    const bytes = 'toBytes' in object ? object.toBytes() : object.bytes
    const base = object.kind === 'delta' ? object.base : ''
    const entry = pack(object.kind, bytes.length, compress(bytes), base)
    cache.set(key, entry)
    return entry
  }

  /** The entries of a batch, by id. */
  function load(blobs: readonly StoredBlob[]): Promise<Map<string, Uint8Array>> {
    return inTurn(async () => {
      const entries = new Map<string, Uint8Array>()
      const missing = new Map<string, StoredBlob>()
      for (const blob of blobs) {
        const cached = cache.get(blob.id)
        if (cached) entries.set(blob.id, cached)
        else missing.set(blob.digest, blob)
      }
      if (missing.size === 0) return entries
      for await (const [digest, bytes] of readBlobs([...missing.values()])) {
        const { id } = missing.get(digest)!
        const body = bytes.length < threadBytesMin ? compress(bytes) : await deflateInThread(bytes)
        const entry = pack('blob', bytes.length, body)
        cache.set(id, entry)
        entries.set(id, entry)
      }
      return entries
    })
  }

  return {
    async *read(objects, giveUp) {
      let loaded = new Map<string, Uint8Array>()
      for (const [at, object] of objects.entries()) {
        if ('digest' in object && object.size >= largeBytesMin) {
          const release = await pins.pin(object.id, object.size, giveUp)
          try {
            yield toEntry(object) ?? (await load([object])).get(object.id)!
          } finally {
            release()
          }
          continue
        }
        const entry = loaded.get(object.id) ?? toEntry(object)
        if (entry) {
          yield entry
          continue
        }
        loaded = await load(toBatch(objects, at))
        yield loaded.get(object.id)!
      }
    },
  }
}

/** Bytes of a cached entry in addition to its own. */
const overheadBytes = 200

/** The next stored files from a place of the list on. */
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

/** One chunk of the right size: by default zlib allocates and clears 16 kB for each small file. */
function compress(bytes: Uint8Array): Uint8Array {
  const options = { level: 1, chunkSize: Math.max(chunkBytesMin, bytes.length) }
  return deflateSync(bytes, bytes.length <= smallBytesMax ? { ...options, ...smallOptions } : options)
}

/** Numbers of kinds in packs. The base of a delta is named by its id. */
const entryKinds = { ...objectKinds, delta: 7 } as const

/**
 * An entry: a header with the kind in three bits, and the size in 4 and then 7 bits per byte, lowest first; the id of
 * the base of a delta; and the compressed bytes.
 */
function pack(kind: keyof typeof entryKinds, size: number, body: Uint8Array, base = ''): Uint8Array {
  const header: number[] = []
  let [bits, rest] = [(entryKinds[kind] << 4) | (size & 15), Math.floor(size / 16)]
  while (rest > 0) {
    header.push(bits | 128)
    bits = rest & 127
    rest = Math.floor(rest / 128)
  }
  return Buffer.concat([Buffer.of(...header, bits), Buffer.from(base, 'hex'), body])
}
