import { grown } from './grown.ts'

/**
 * Maintains the order of slots by full name (code units) as documents change. An insertion moves a few hundred
 * kilobytes at most, and the ranks are recomputed on the next read. Ties are then broken by comparing numbers.
 */
export class NameOrder {
  #names: string[] = []
  #sorted = new Int32Array(1024)
  #ranks = new Int32Array(1024)
  #size = 0
  #stale = false

  /** Adds a slot with its name. */
  add(slot: number, name: string): void {
    this.#names[slot] = name
    if (this.#size === this.#sorted.length) this.#sorted = grown(this.#sorted, this.#size + 1)
    const at = this.#find(name, slot)
    this.#sorted.copyWithin(at + 1, at, this.#size)
    this.#sorted[at] = slot
    this.#size++
    this.#stale = true
  }

  /** Removes a slot. */
  remove(slot: number): void {
    const at = this.#find(this.#names[slot]!, slot)
    this.#sorted.copyWithin(at, at + 1, this.#size)
    this.#size--
    this.#names[slot] = ''
    this.#stale = true
  }

  /** The rank of each slot. Valid until the next change. */
  ranks(): Int32Array {
    if (!this.#stale) return this.#ranks
    if (this.#ranks.length < this.#names.length) this.#ranks = grown(this.#ranks, this.#names.length)
    for (let i = 0; i < this.#size; i++) this.#ranks[this.#sorted[i]!] = i
    this.#stale = false
    return this.#ranks
  }

  #find(name: string, slot: number): number {
    let low = 0
    let high = this.#size
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#sorted[middle]!
      const otherName = this.#names[other]!
      if (otherName < name || (otherName === name && other < slot)) low = middle + 1
      else high = middle
    }
    return low
  }
}
