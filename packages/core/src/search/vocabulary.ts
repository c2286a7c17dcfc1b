import { WordMap } from './word-map.ts'

/**
 * Ids of the indexed words, and the number of documents with each. An id without documents is reused for the next new
 * word, so that ids stay dense.
 */
export class Vocabulary {
  readonly #ids = new WordMap<number>()
  readonly #words: string[] = ['']
  readonly #counts: number[] = [0]
  readonly #free: number[] = []

  /** One more than the largest id in use. Id 0 is no word. */
  get end(): number {
    return this.#words.length
  }

  /** The id of a word, or 0 if no document contains it. */
  idOf(word: string): number {
    return this.#ids.get(word) ?? 0
  }

  /** The word with an id. */
  wordOf(id: number): string {
    return this.#words[id]!
  }

  /** The id of a word; assigns one if it has none. */
  intern(word: string): number {
    const known = this.#ids.get(word)
    if (known !== undefined) return known
    const id = this.#free.pop() ?? this.#words.length
    this.#ids.set(word, id)
    this.#words[id] = word
    this.#counts[id] = 0
    return id
  }

  /** Counts one more document with the word; returns true for its first. */
  retain(id: number): boolean {
    this.#counts[id]!++
    return this.#counts[id] === 1
  }

  /** Counts one document less; returns true if it was the last, and the id is free. */
  release(id: number): boolean {
    this.#counts[id]!--
    if (this.#counts[id]! > 0) return false
    this.#ids.delete(this.#words[id]!)
    this.#words[id] = ''
    this.#free.push(id)
    return true
  }
}
