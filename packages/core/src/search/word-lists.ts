import { growArray } from './postings/grow-array.ts'
import { searchFields } from './search-document.ts'
import { fieldMark, sentenceBreak } from './words/tokenize.ts'

/** In a stored list, 0 is the end of a sentence, then come the marks of fields, then the ids of words. */
const firstWord = 1 + searchFields.length

/**
 * The words of each slot in order, with marks between fields and sentences. A list is stored as LEB128 in a string of
 * bytes: about 1.8 bytes per word, and without the 200 bytes that a typed array of its own takes.
 */
export class WordLists {
  readonly #lists: (string | undefined)[] = []
  #bytes = Buffer.alloc(4096)
  #words = new Int32Array(1024)

  /** Whether a slot has a list. */
  has(slot: number): boolean {
    return this.#lists[slot] !== undefined
  }

  /** Stores the list of a slot, replacing the previous one. */
  set(slot: number, words: Int32Array): void {
    // A number below 2^31 takes at most 5 bytes.
    if (this.#bytes.length < words.length * 5) this.#bytes = Buffer.alloc(words.length * 5)
    const bytes = this.#bytes
    let end = 0
    for (let i = 0; i < words.length; i++) {
      let rest = toWordCode(words[i]!)
      for (; rest > 127; rest >>>= 7) bytes[end++] = (rest & 127) | 128
      bytes[end++] = rest
    }
    this.#lists[slot] = bytes.toString('latin1', 0, end)
  }

  /** Removes the list of a slot. */
  remove(slot: number): void {
    this.#lists[slot] = undefined
  }

  /** The list of a slot, empty if it has none; the next call overwrites it. */
  read(slot: number): Int32Array {
    const list = this.#lists[slot] ?? ''
    const { length } = list
    if (length > this.#words.length) this.#words = growArray(this.#words, length)
    const words = this.#words
    let count = 0
    for (let at = 0; at < length;) {
      let byte = list.charCodeAt(at++)
      let code = byte & 127
      for (let shift = 7; byte > 127; shift += 7) {
        byte = list.charCodeAt(at++)
        code |= (byte & 127) << shift
      }
      words[count++] = code >= firstWord ? code - firstWord + 1 : code === 0 ? sentenceBreak : fieldMark | (code - 1)
    }
    return words.subarray(0, count)
  }
}

/** Ids of words begin at 1. */
function toWordCode(word: number): number {
  if (word === sentenceBreak) return 0
  return word >= fieldMark ? 1 + word - fieldMark : firstWord + word - 1
}
