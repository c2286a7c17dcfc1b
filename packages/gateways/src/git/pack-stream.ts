import { createHash } from 'node:crypto'
import type { PackEntries } from './pack-entries.ts'
import { flushPacket, toBandPacket } from './pkt-line.ts'
import type { PackObject } from './repository.ts'
import type { Selection } from './select-commits.ts'

/** A longer chain of deltas would cost clients much to read its last object. */
const deltaDepthMax = 64

/**
 * The objects of a selection, each once: commits and tags, then the trees and blobs that the client lacks. The base of a
 * delta is before it; only with `isThin` it may be an object that the client has.
 */
export async function listObjects({ commits, tags, known, isThin }: Selection): Promise<PackObject[]> {
  const had = new Set<string>()
  for (const commit of known) for (const { id } of await commit.readContent()) had.add(id)
  const objects = new Map<string, PackObject>()
  for (const { object } of [...commits, ...tags]) objects.set(object.id, object)
  const parents = new Set([...commits, ...known].map(({ object }) => object.id))
  const depths = new Map<string, number>()
  // The oldest commit is the last.
  for (const commit of commits.toReversed()) {
    const isContinued = commit.parent !== undefined && parents.has(commit.parent)
    for (const object of await (isContinued ? commit.readAdded() : commit.readContent())) {
      if (had.has(object.id) || objects.has(object.id)) continue
      if (object.kind !== 'delta') {
        objects.set(object.id, object)
        continue
      }
      const depth = (depths.get(object.base) ?? 0) + 1
      const isUsable = depth <= deltaDepthMax && (objects.has(object.base) || (isThin && had.has(object.base)))
      objects.set(object.id, isUsable ? object : object.whole)
      if (isUsable) depths.set(object.id, depth)
    }
  }
  return [...objects.values()]
}

/** Bytes of the files, objects and deltas before compression. */
export function measureObjects(objects: readonly PackObject[]): number {
  return objects.reduce((sum, object) => sum + ('bytes' in object ? object.bytes.length : object.size), 0)
}

/** A pack (gitformat-pack), version 2. `giveUp`: as in {@link PackEntries.read}. */
export async function* writePack(
  entries: PackEntries,
  objects: readonly PackObject[],
  giveUp: () => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha1')
  const head = Buffer.alloc(12)
  head.write('PACK', 'latin1')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(objects.length, 8)
  hash.update(head)
  yield head
  for await (const entry of entries.read(objects, giveUp)) {
    hash.update(entry)
    yield entry
  }
  yield hash.digest()
}

/** Puts a pack into packets. An error ends the response with the text of `toMessage`. */
export async function* toBands(
  pack: AsyncIterable<Uint8Array>,
  dataBytesMax: number,
  toMessage: (error: unknown) => string,
): AsyncGenerator<Uint8Array> {
  try {
    let parts: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of pack) {
      for (let at = 0; at < chunk.length;) {
        const part = chunk.subarray(at, at + dataBytesMax - bytes)
        parts.push(part)
        bytes += part.length
        at += part.length
        if (bytes < dataBytesMax) continue
        yield toBandPacket(1, parts)
        parts = []
        bytes = 0
      }
    }
    if (bytes > 0) yield toBandPacket(1, parts)
  } catch (error) {
    yield toBandPacket(3, [Buffer.from(`${toMessage(error)}\n`)])
  }
  yield flushPacket
}

/** The packets before a pack, and the pack. */
export async function* prepend(head: Uint8Array, pack: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head
  yield* pack
}
