import { grown } from './grown.ts'

const sizeMin = 1 << 6

/**
 * A multimap from hashes to numbers: chains in typed arrays, 12 bytes per entry. Doubling its size takes milliseconds
 * per hundred thousand entries, so callers with millions of entries spread them over several tables.
 */
export class FormTable {
  #heads = new Int32Array(sizeMin)
  #hashes = new Int32Array(sizeMin)
  #ids = new Int32Array(sizeMin)
  #nexts = new Int32Array(sizeMin)
  #free = 0
  #end = 1
  #size = 0

  /** Adds a number under a hash. */
  add(hash: number, id: number): void {
    if (this.#size >= this.#heads.length) this.#rehash()
    const at = this.#take()
    const bucket = hash & (this.#heads.length - 1)
    this.#hashes[at] = hash
    this.#ids[at] = id
    this.#nexts[at] = this.#heads[bucket]!
    this.#heads[bucket] = at
    this.#size++
  }

  /** Removes a number from a hash. */
  remove(hash: number, id: number): void {
    const bucket = hash & (this.#heads.length - 1)
    let before = 0
    for (let at = this.#heads[bucket]!; at !== 0; before = at, at = this.#nexts[at]!) {
      if (this.#hashes[at] !== hash || this.#ids[at] !== id) continue
      if (before === 0) this.#heads[bucket] = this.#nexts[at]!
      else this.#nexts[before] = this.#nexts[at]!
      this.#ids[at] = 0
      this.#nexts[at] = this.#free
      this.#free = at
      this.#size--
      return
    }
  }

  /** The numbers under a hash. */
  *idsOf(hash: number): Generator<number> {
    for (let at = this.#heads[hash & (this.#heads.length - 1)]!; at !== 0; at = this.#nexts[at]!) {
      if (this.#hashes[at] === hash) yield this.#ids[at]!
    }
  }

  #take(): number {
    if (this.#free !== 0) {
      const at = this.#free
      this.#free = this.#nexts[at]!
      return at
    }
    if (this.#end === this.#ids.length) {
      this.#hashes = grown(this.#hashes)
      this.#ids = grown(this.#ids)
      this.#nexts = grown(this.#nexts)
    }
    return this.#end++
  }

  #rehash(): void {
    this.#heads = new Int32Array(this.#heads.length * 2)
    for (let at = 1; at < this.#end; at++) {
      if (this.#ids[at] === 0) continue // freed
      const bucket = this.#hashes[at]! & (this.#heads.length - 1)
      this.#nexts[at] = this.#heads[bucket]!
      this.#heads[bucket] = at
    }
  }
}
