/** A change of a run of bytes: `removed` bytes at `at` become `inserted`. */
interface Splice {
  readonly at: number
  readonly removed: number
  readonly inserted: Uint8Array
}

/** Parts in the order of their keys, joined into bytes that change in place. */
export interface SortedParts {
  /** The joined parts. Valid until the next change. */
  readonly bytes: Uint8Array
  /** Adds a part, or replaces the part with this key. Returns the change of `bytes`; undefined if nothing changes. */
  set(key: string, part: Uint8Array): Splice | undefined
}

export function createSortedParts(first: ReadonlyMap<string, Uint8Array>): SortedParts {
  const keys = [...first.keys()].toSorted()
  /** The length of each part, in the order of `keys`. */
  const lengths = keys.map((key) => first.get(key)!.length)
  let buffer = Buffer.concat(keys.map((key) => first.get(key)!))
  let length = buffer.length

  /** The index of the first key that is not lower than `key`. */
  function find(key: string): number {
    let [low, high] = [0, keys.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (keys[middle]! < key) low = middle + 1
      else high = middle
    }
    return low
  }

  function apply(splice: Splice): Splice {
    const { at, removed, inserted } = splice
    const total = length - removed + inserted.length
    if (total > buffer.length) buffer = Buffer.concat([buffer.subarray(0, length)], total * 2)
    buffer.copyWithin(at + inserted.length, at + removed, length)
    buffer.set(inserted, at)
    length = total
    return splice
  }

  return {
    get bytes() {
      return buffer.subarray(0, length)
    },
    set(key, part) {
      const place = find(key)
      let at = 0
      for (let i = 0; i < place; i++) at += lengths[i]!
      if (keys[place] === key) {
        const removed = lengths[place]!
        if (buffer.subarray(at, at + removed).equals(part)) return undefined
        lengths[place] = part.length
        return apply({ at, removed, inserted: part })
      }
      keys.splice(place, 0, key)
      lengths.splice(place, 0, part.length)
      return apply({ at, removed: 0, inserted: part })
    },
  }
}
