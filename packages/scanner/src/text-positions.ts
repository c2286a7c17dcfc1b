import { AnchorTable } from './anchors.ts'

/** Positions of many sets of texts in one piece of text. Reused for each piece. */
export class TextPositions {
  readonly #table: AnchorTable
  /** The sets that contain each text, and the texts of each set. */
  readonly #setsOf: Uint16Array
  readonly #setsFrom: Uint32Array
  readonly #textsOf: readonly Uint16Array[]
  readonly #setOf: ReadonlyMap<readonly string[], number>
  /** The texts that were found, and the number of their occurrences. */
  readonly #found: number[] = []
  readonly #timesOf: Int32Array
  readonly #countOf: Int32Array
  /** The sorted ends of each text, and the index at which they begin. */
  #sorted = new Int32Array(1024)
  readonly #sortedFrom: Int32Array

  constructor(sets: readonly (readonly string[])[]) {
    const unique = [...new Set(sets)]
    this.#setOf = new Map(unique.map((texts, set) => [texts, set]))
    const indexOf = new Map<string, number>()
    this.#textsOf = unique.map((texts) => {
      const indexes = new Uint16Array(texts.length)
      for (let at = 0; at < texts.length; at++) {
        const index = indexOf.get(texts[at]!) ?? indexOf.size
        if (index === indexOf.size) indexOf.set(texts[at]!, index)
        indexes[at] = index
      }
      return indexes
    })
    const count = indexOf.size
    this.#setsFrom = new Uint32Array(count + 1)
    for (const texts of this.#textsOf) for (const text of texts) this.#setsFrom[text + 1]!++
    for (let text = 0; text < count; text++) this.#setsFrom[text + 1]! += this.#setsFrom[text]!
    this.#setsOf = new Uint16Array(this.#setsFrom[count]!)
    const end = this.#setsFrom.slice()
    for (const [set, texts] of this.#textsOf.entries()) for (const text of texts) this.#setsOf[end[text]!++] = set
    this.#table = new AnchorTable([...indexOf.keys()])
    this.#timesOf = new Int32Array(count)
    this.#sortedFrom = new Int32Array(count)
    this.#countOf = new Int32Array(unique.length)
  }

  /** The number of a set that was given. */
  setOf(texts: readonly string[]): number {
    return this.#setOf.get(texts)!
  }

  /** Replaces the previous piece. */
  read(codes: Uint16Array, size: number): void {
    this.#forget()
    this.#table.find(codes, size)
    this.#sort()
  }

  #forget(): void {
    for (const text of this.#found) this.#timesOf[text] = 0
    this.#countOf.fill(0)
    this.#found.length = 0
  }

  /** The ends of each text were found in ascending order. */
  #sort(): void {
    const { texts, ends, size } = this.#table
    const timesOf = this.#timesOf
    for (let index = 0; index < size; index++) {
      if (timesOf[texts[index]!]!++ === 0) this.#found.push(texts[index]!)
    }
    if (size > this.#sorted.length) this.#sorted = new Int32Array(2 * size)
    let from = 0
    for (const text of this.#found) {
      const times = timesOf[text]!
      const to = this.#setsFrom[text + 1]!
      for (let index = this.#setsFrom[text]!; index < to; index++) this.#countOf[this.#setsOf[index]!]! += times
      from += times
      this.#sortedFrom[text] = from
    }
    const sorted = this.#sorted
    for (let index = size - 1; index >= 0; index--) sorted[--this.#sortedFrom[texts[index]!]!] = ends[index]!
  }

  /** Number of occurrences of a set's texts. */
  count(set: number): number {
    return this.#countOf[set]!
  }

  /** The texts of a set, in the given order. */
  textsOf(set: number): Uint16Array {
    return this.#textsOf[set]!
  }

  lengthOf(text: number): number {
    return this.#table.lengths[text]!
  }

  /** Number of occurrences of a text, and the end of one of them. */
  timesOf(text: number): number {
    return this.#timesOf[text]!
  }

  endOf(text: number, index: number): number {
    return this.#sorted[this.#sortedFrom[text]! + index]!
  }

  /** Whether a text ends between two positions, inclusive. */
  endsWithin(text: number, least: number, most: number): boolean {
    let low = this.#sortedFrom[text]!
    const last = low + this.#timesOf[text]!
    let high = last
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#sorted[middle]! < least) low = middle + 1
      else high = middle
    }
    return low < last && this.#sorted[low]! <= most
  }
}
