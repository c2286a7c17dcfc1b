import { growArray } from './grow-array.ts'
import { PostingLists } from './posting-lists.ts'

/**
 * An inverted index of terms that are 32-bit hashes. The list of a term has, for each entry that contains it, the
 * distance to the previous entry number (LEB128) and an impact of one byte: 2 to 3 bytes per posting in practice. Two
 * terms with the same hash share a list: among 500,000 terms one in 8,600 does.
 *
 * References: Zobel, Moffat: Inverted files for text search engines, ACM Computing Surveys 38(2), 2006 (delta-coded
 * postings); Anh, de Kretser, Moffat: Vector-space ranking with effective early termination, SIGIR 2001 (quantised
 * impacts).
 */
export class Postings {
  readonly #lists = new PostingLists()
  readonly #terms = new TermTable()
  #lastEntries = new Int32Array(1024)
  #counts = new Int32Array(1024)
  #size = 0

  /** Bytes of memory. */
  get bytes(): number {
    return this.#lists.bytes + this.#terms.bytes + this.#counts.length * 8
  }

  /** Number of terms. Terms are numbered in the order in which they were first added. */
  get size(): number {
    return this.#size
  }

  /** The number of a term, or -1 if no entry contains it. */
  find(hash: number): number {
    return this.#terms.find(hash | 0)
  }

  /** The hash of a term by its number. */
  hashOf(term: number): number {
    return this.#terms.hashOf(term)
  }

  /** Number of postings of a term, by its number. */
  countOf(term: number): number {
    return this.#counts[term]!
  }

  /**
   * Reads a term's postings in order, and translates entry numbers by a table. Postings whose translation is negative
   * are left out. Sets the first elements of `numbers` and `impacts`, which need room for {@link countOf} elements, and
   * returns the number of set elements.
   */
  read(term: number, table: Int32Array, numbers: Int32Array, impacts: Uint8Array): number {
    const lists = this.#lists
    let [entry, length] = [0, 0]
    for (let isIn = lists.open(term); isIn; isIn = lists.next()) {
      const { block, end } = lists
      for (let { at } = lists; at < end;) {
        let byte = block[at++]!
        entry += byte & 127
        for (let shift = 7; byte > 127; shift += 7) {
          byte = block[at++]!
          entry += (byte & 127) << shift
        }
        const number = table[entry]!
        numbers[length] = number
        impacts[length] = block[at++]!
        if (number >= 0) length++
      }
    }
    return length
  }

  /** Adds the value of the impact of each of a term's postings to the sum of its entry. */
  addTo(term: number, values: Float64Array, sums: Float64Array): void {
    const lists = this.#lists
    let entry = 0
    // This inner loop of every search decodes and adds in one pass, because storing the decoded postings would double
    // the time.
    for (let isIn = lists.open(term); isIn; isIn = lists.next()) {
      const { block, end } = lists
      for (let { at } = lists; at < end;) {
        let byte = block[at++]!
        entry += byte & 127
        for (let shift = 7; byte > 127; shift += 7) {
          byte = block[at++]!
          entry += (byte & 127) << shift
        }
        sums[entry]! += values[block[at++]!]!
      }
    }
  }

  /** Number of a term's postings whose translation by a table is not negative. */
  countIn(term: number, table: Int32Array): number {
    const lists = this.#lists
    let [entry, count] = [0, 0]
    for (let isIn = lists.open(term); isIn; isIn = lists.next()) {
      const { block, end } = lists
      for (let { at } = lists; at < end; at++) {
        let byte = block[at++]!
        entry += byte & 127
        for (let shift = 7; byte > 127; shift += 7) {
          byte = block[at++]!
          entry += (byte & 127) << shift
        }
        if (table[entry]! >= 0) count++
      }
    }
    return count
  }

  /** Adds a posting and returns the number of the term. The entries of a term must be added in ascending order. */
  add(hash: number, entry: number, impact: number): number {
    let term = this.#terms.find(hash | 0)
    if (term < 0) term = this.#create(hash | 0)
    this.#lists.append(term, entry - this.#lastEntries[term]!, impact)
    this.#lastEntries[term] = entry
    this.#counts[term]!++
    return term
  }

  #create(hash: number): number {
    const term = this.#lists.create()
    if (term === this.#counts.length) {
      this.#lastEntries = growArray(this.#lastEntries)
      this.#counts = growArray(this.#counts)
    }
    this.#terms.add(hash, term)
    this.#size++
    return term
  }
}

/** The upper bits of a hash choose one of several tables, so that no growing table blocks the event loop for long. */
const partBits = 4

/** The numbers of terms by their hashes: open addressing with linear probing, at most half full. */
class TermTable {
  /** The hash of each term, by the number of the term. */
  #hashes = new Int32Array(1024)
  readonly #parts = Array.from({ length: 1 << partBits }, () => ({
    /** 0: free. Otherwise the number of the term plus one. */
    numbers: new Int32Array(256),
    size: 0,
  }))

  get bytes(): number {
    return this.#parts.reduce((sum, { numbers }) => sum + numbers.length * 4, this.#hashes.length * 4)
  }

  hashOf(term: number): number {
    return this.#hashes[term]!
  }

  find(hash: number): number {
    const { numbers } = this.#parts[hash >>> (32 - partBits)]!
    const hashes = this.#hashes
    const mask = numbers.length - 1
    for (let at = hash & mask; numbers[at] !== 0; at = (at + 1) & mask) {
      const term = numbers[at]! - 1
      if (hashes[term] === hash) return term
    }
    return -1
  }

  add(hash: number, term: number): void {
    if (term === this.#hashes.length) this.#hashes = growArray(this.#hashes)
    this.#hashes[term] = hash
    const part = this.#parts[hash >>> (32 - partBits)]!
    if (++part.size * 2 > part.numbers.length) {
      const { numbers } = part
      part.numbers = new Int32Array(numbers.length * 2)
      for (const number of numbers) if (number !== 0) insertTerm(part.numbers, this.#hashes[number - 1]!, number)
    }
    insertTerm(part.numbers, hash, term + 1)
  }
}

function insertTerm(numbers: Int32Array, hash: number, number: number): void {
  const mask = numbers.length - 1
  let at = hash & mask
  while (numbers[at] !== 0) at = (at + 1) & mask
  numbers[at] = number
}
