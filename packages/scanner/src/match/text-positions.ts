import { AnchorTable, toAnchorTables, type AnchorTables } from '../text/anchors.ts'

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
  /** The place of each text in each of its sets, in the order of `sets`. */
  readonly #places: Uint16Array
  /** For each set, the first of its texts that were found, and for each of them the next, as 1 + an index of `sets`; or 0. */
  readonly #firstOf: Int32Array
  readonly #nextOf: Int32Array
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
    this.#places = toPlaces(tables)
    this.#firstOf = new Int32Array(this.#countOf.length)
    this.#nextOf = new Int32Array(tables.sets.length)
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
    this.#firstOf.fill(0)
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
      for (let index = setsFrom[text]!; index < to; index++) {
        const set = sets[index]!
        this.#countOf[set]! += times
        this.#nextOf[index] = this.#firstOf[set]!
        this.#firstOf[set] = index + 1
      }
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

  /** The first member of a set that was found, and the next after another one; 0 if there is none. */
  firstOf(set: number): number {
    return this.#firstOf[set]!
  }

  nextOf(member: number): number {
    return this.#nextOf[member - 1]!
  }

  /** The place of a member among the texts of its set, in the given order. */
  placeOf(member: number): number {
    return this.#places[member - 1]!
  }

  /** The text of a member. */
  textOf(set: number, member: number): number {
    const { texts, textsFrom } = this.#tables
    return texts[textsFrom[set]! + this.#places[member - 1]!]!
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

/** The place of each text in each of its sets. Both list the texts and sets in ascending order. */
function toPlaces({ texts, textsFrom, sets, setsFrom }: SetTables): Uint16Array {
  const places = new Uint16Array(sets.length)
  const filled = setsFrom.slice()
  for (let set = 0; set + 1 < textsFrom.length; set++) {
    const from = textsFrom[set]!
    const to = textsFrom[set + 1]!
    for (let index = from; index < to; index++) places[filled[texts[index]!]!++] = index - from
  }
  return places
}
