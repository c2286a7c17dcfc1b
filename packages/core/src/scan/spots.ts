import { AnchorTable } from './anchors.ts'
import type { Match } from './match.ts'

/** Where the texts of many sets stand in one piece of text. It is used for piece after piece. */
export class Spots {
  readonly #table: AnchorTable
  readonly #lengths: Int32Array
  /** The sets that each text is in, and the texts of each set. */
  readonly #setsOf: readonly Uint16Array[]
  readonly #textsOf: readonly Uint16Array[]
  readonly #setOf: ReadonlyMap<string, number>
  /** What was found, in the order of its finding; and how often each text was. */
  readonly #texts: number[] = []
  readonly #ends: number[] = []
  #size = 0
  readonly #found: number[] = []
  readonly #timesOf: Int32Array
  readonly #countOf: Int32Array
  /** The ends of each text in a row, in order, and where they begin. */
  #sorted = new Int32Array(1024)
  readonly #sortedFrom: Int32Array

  constructor(sets: readonly (readonly string[])[]) {
    const unique = new Map(sets.map((texts) => [texts.join('\n'), texts]))
    this.#setOf = new Map([...unique.keys()].map((key, index) => [key, index]))
    const texts = [...new Set([...unique.values()].flat())]
    const indexOf = new Map(texts.map((text, index) => [text, index]))
    this.#textsOf = [...unique.values()].map((each) => Uint16Array.from(each, (text) => indexOf.get(text)!))
    const setsOf: number[][] = texts.map(() => [])
    for (const [set, members] of this.#textsOf.entries()) for (const text of members) setsOf[text]!.push(set)
    this.#setsOf = setsOf.map((each) => Uint16Array.from(each))
    this.#table = new AnchorTable(texts)
    this.#lengths = Int32Array.from(texts, ({ length }) => length)
    this.#timesOf = new Int32Array(texts.length)
    this.#sortedFrom = new Int32Array(texts.length)
    this.#countOf = new Int32Array(unique.size)
  }

  setOf(texts: readonly string[]): number {
    return this.#setOf.get(texts.join('\n'))!
  }

  /** Forgets the piece before. */
  read(codes: Uint16Array, size: number): void {
    this.#forget()
    this.#table.find(codes, size, this.#add)
    this.#sort()
  }

  readonly #add = (text: number, end: number): void => {
    if (this.#timesOf[text]!++ === 0) this.#found.push(text)
    this.#texts[this.#size] = text
    this.#ends[this.#size++] = end
  }

  #forget(): void {
    for (const text of this.#found) this.#timesOf[text] = 0
    this.#countOf.fill(0)
    this.#found.length = 0
    this.#size = 0
  }

  /** One text's ends are found in their order. */
  #sort(): void {
    if (this.#size > this.#sorted.length) this.#sorted = new Int32Array(2 * this.#size)
    let from = 0
    for (const text of this.#found) {
      const times = this.#timesOf[text]!
      for (const set of this.#setsOf[text]!) this.#countOf[set]! += times
      from += times
      this.#sortedFrom[text] = from
    }
    for (let index = this.#size - 1; index >= 0; index--) {
      this.#sorted[--this.#sortedFrom[this.#texts[index]!]!] = this.#ends[index]!
    }
  }

  /** How many places a set has. */
  count(set: number): number {
    return this.#countOf[set]!
  }

  hasAll(sets: readonly number[]): boolean {
    for (let index = 0; index < sets.length; index++) if (this.#countOf[sets[index]!] === 0) return false
    return true
  }

  /** The places of a set's texts, in the order of their ends. */
  places(set: number): Match[] {
    const places: Match[] = []
    for (const text of this.#textsOf[set]!) {
      const from = this.#sortedFrom[text]!
      for (let index = from; index < from + this.#timesOf[text]!; index++) {
        const end = this.#sorted[index]!
        places.push({ start: end - this.#lengths[text]!, end })
      }
    }
    return places.length === 1 ? places : places.toSorted((a, b) => a.end - b.end)
  }

  /** Whether one of a set's texts lies between two places. */
  hasWithin(set: number, from: number, to: number): boolean {
    for (const text of this.#textsOf[set]!) {
      if (this.#timesOf[text] !== 0 && this.#nextEnd(text, from + this.#lengths[text]!) <= to) return true
    }
    return false
  }

  /** The first end of a text at a place or behind it. */
  #nextEnd(text: number, least: number): number {
    let low = this.#sortedFrom[text]!
    const last = low + this.#timesOf[text]!
    let high = last
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#sorted[middle]! < least) low = middle + 1
      else high = middle
    }
    return low === last ? Infinity : this.#sorted[low]!
  }
}
