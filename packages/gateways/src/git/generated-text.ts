import { createHash } from 'node:crypto'
import { createDeltaWriter } from './deltas.ts'
import { createSortedParts, type SortedParts } from './sorted-parts.ts'

/**
 * The form of a tree or file that is generated from items: one part per item, in the order of the keys, between two
 * frames.
 */
export interface TextForm<Item> {
  readonly kind: 'tree' | 'blob'
  /** The bytes before the first and after the last part, for the current items. */
  toFrames(): readonly [before: Uint8Array, after: Uint8Array]
  /** The key by which parts are ordered. The part of a later item with the same key replaces the part. */
  toKey(item: Item): string
  toPart(item: Item): Uint8Array
}

/** A generated tree or file to which items are added one by one. */
export interface GeneratedText<Item> {
  /** Adds or replaces an item. */
  put(item: Item): void
  /** The id and size of the object with all items so far. */
  toHash(): TextHash
  /** Adds or replaces an item. Returns the new object's id and size, and its delta from the previous object. */
  change(item: Item): TextHash & { readonly delta: Uint8Array }
  toBytes(): Uint8Array
}

interface TextHash {
  readonly id: string
  readonly size: number
}

export function createGeneratedText<Item>(form: TextForm<Item>): GeneratedText<Item> {
  /** The parts of items put before the first use, sorted at once: inserting them one by one would take longer. */
  const first = new Map<string, Uint8Array>()
  let opened: SortedParts | undefined
  const open = () => (opened ??= createSortedParts(first))
  let [before, after]: readonly [Uint8Array, Uint8Array] = [Buffer.alloc(0), Buffer.alloc(0)]

  function toRuns(): readonly Uint8Array[] {
    ;[before, after] = form.toFrames()
    return [before, open().bytes, after]
  }

  function toHash(): TextHash {
    const runs = toRuns()
    const size = runs.reduce((sum, { length }) => sum + length, 0)
    const hash = createHash('sha1').update(`${form.kind} ${size}\0`)
    for (const run of runs) hash.update(run)
    return { id: hash.digest('hex'), size }
  }

  return {
    put(item) {
      const [key, part] = [form.toKey(item), form.toPart(item)]
      if (opened) opened.set(key, part)
      else first.set(key, part)
    },
    toHash,
    change(item) {
      const parts = open()
      const base = { before, length: parts.bytes.length, after }
      const splice = parts.set(form.toKey(item), form.toPart(item)) ?? {
        at: base.length,
        removed: 0,
        inserted: Buffer.alloc(0),
      }
      const hash = toHash()
      const writer = createDeltaWriter()
      const frame = (from: Uint8Array, to: Uint8Array, at: number) => {
        if (Buffer.compare(from, to) === 0) writer.copy(at, to.length)
        else writer.insert(to)
      }
      frame(base.before, before, 0)
      const start = base.before.length
      writer.copy(start, splice.at)
      writer.insert(splice.inserted)
      const end = splice.at + splice.removed
      writer.copy(start + end, base.length - end)
      frame(base.after, after, start + base.length)
      return { ...hash, delta: writer.end(start + base.length + base.after.length, hash.size) }
    },
    toBytes: () => Buffer.concat(toRuns()),
  }
}
