import { growArray } from './postings/grow-array.ts'
import { searchFields } from './search-document.ts'
import { fieldMark, sentenceBreak } from './words/tokenize.ts'

/** Word statistics of the skills that a whole audience may see: guests, or all signed-in users. */
export class Census {
  #size = 0
  #counts = new Int32Array(1024)
  readonly #lengths = searchFields.map(() => 0)

  /** Number of skills. */
  get size(): number {
    return this.#size
  }

  /** For each field, the number of distinct words, summed over all skills. */
  get lengths(): readonly number[] {
    return this.#lengths
  }

  /** Number of skills that contain a word. */
  countOf(id: number): number {
    return this.#counts[id] ?? 0
  }

  /** Adds the words of a skill (`sign` 1), or removes them (`sign` -1). */
  count(words: Int32Array, sign: 1 | -1): void {
    this.#size += sign
    const all = new Set<number>()
    let inField = new Set<number>()
    let field = 0
    for (const word of words) {
      if (word >= fieldMark) {
        field = word - fieldMark
        inField = new Set()
      } else if (word !== sentenceBreak && !inField.has(word)) {
        inField.add(word)
        all.add(word)
        this.#lengths[field]! += sign
      }
    }
    for (const id of all) {
      if (id >= this.#counts.length) this.#counts = growArray(this.#counts, id + 1)
      this.#counts[id]! += sign
    }
  }
}
