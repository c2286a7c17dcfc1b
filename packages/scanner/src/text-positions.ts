import { AnchorTable, toAnchorTables, type AnchorTables } from './anchors.ts'

/** Sets of texts, all of which are searched for. */
export interface SetTables extends AnchorTables {
  /** The texts of each set, and where those of each set begin. */
  readonly texts: Uint16Array
  readonly textsFrom: Uint16Array
  /** The sets that contain each text, and where those of each text begin. */
  readonly sets: Uint16Array
  readonly setsFrom: Uint16Array
}

/** The tables of some sets of texts. */
export function toSetTables(sets: readonly (readonly string[])[]): SetTables {
  const numbers = new Map([...new Set(sets.flat())].map((text, number) => [text, number]))
  const setsOf = Array.from(numbers, (): number[] => [])
  for (const [set, texts] of sets.entries()) for (const text of texts) setsOf[numbers.get(text)!]!.push(set)
  const texts = joinLists(sets.map((each) => each.map((text) => numbers.get(text)!)))
  const { all, from } = joinLists(setsOf)
  return { ...toAnchorTables([...numbers.keys()]), texts: texts.all, textsFrom: texts.from, sets: all, setsFrom: from }
}

/** Lists one after the other, and where each begins. */
export function joinLists(lists: readonly (readonly number[])[]): { all: Uint16Array; from: Uint16Array } {
  return { all: Uint16Array.from(lists.flat()), from: countUp(lists) }
}

/** Where each list begins if they follow each other, and where the last one ends. Throws a `TypeError` if that is too far. */
export function countUp(lists: readonly (readonly unknown[])[]): Uint16Array {
  let sum = 0
  const from = Uint16Array.from([0, ...lists.map(({ length }) => (sum += length))])
  if (from.at(-1) !== sum) throw new TypeError('There are too many texts to search for.')
  return from
}

/** Positions of many sets of texts in one piece of text. Reused for each piece. */
export class TextPositions {
  readonly #tables: SetTables
  readonly #table: AnchorTable
  /** The texts of the sets that were asked for. */
  readonly #textsOf: (Uint16Array | undefined)[]
  /** The texts that were found, and the number of their occurrences. */
  readonly #found: number[] = []
  readonly #timesOf: Int32Array
  readonly #countOf: Int32Array
  /** The sorted ends of each text, and the index at which they begin. */
  #sorted = new Int32Array(1024)
  readonly #sortedFrom: Int32Array

  constructor(tables: SetTables) {
    const count = tables.lengths.length
    this.#tables = tables
    this.#table = new AnchorTable(tables)
    this.#timesOf = new Int32Array(count)
    this.#sortedFrom = new Int32Array(count)
    this.#countOf = new Int32Array(tables.textsFrom.length - 1)
    this.#textsOf = Array.from(this.#countOf, () => undefined)
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
    const { sets, setsFrom } = this.#tables
    const timesOf = this.#timesOf
    for (let index = 0; index < size; index++) {
      if (timesOf[texts[index]!]!++ === 0) this.#found.push(texts[index]!)
    }
    if (size > this.#sorted.length) this.#sorted = new Int32Array(2 * size)
    let from = 0
    for (const text of this.#found) {
      const times = timesOf[text]!
      const to = setsFrom[text + 1]!
      for (let index = setsFrom[text]!; index < to; index++) this.#countOf[sets[index]!]! += times
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
    const { texts, textsFrom } = this.#tables
    return (this.#textsOf[set] ??= texts.subarray(textsFrom[set], textsFrom[set + 1]))
  }

  lengthOf(text: number): number {
    return this.#tables.lengths[text]!
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
