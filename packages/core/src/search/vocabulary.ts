import { WordMap } from './word-map.ts'

/**
 * Numbers for the words of the index, and in how many documents each stands. A number whose last document has gone is
 * given to the next new word, so that the numbers stay dense.
 */
export class Vocabulary {
  readonly #ids = new WordMap<number>()
  readonly #words: string[] = ['']
  readonly #counts: number[] = [0]
  readonly #free: number[] = []

  /** One more than the largest number in use. Number 0 is no word. */
  get end(): number {
    return this.#words.length
  }

  /** The number of a word, or 0 when no document has it. */
  idOf(word: string): number {
    return this.#ids.get(word) ?? 0
  }

  /** The word of a number. */
  wordOf(id: number): string {
    return this.#words[id]!
  }

  /** The number of a word, which is given one when it has none. */
  intern(word: string): number {
    const known = this.#ids.get(word)
    if (known !== undefined) return known
    const id = this.#free.pop() ?? this.#words.length
    this.#ids.set(word, id)
    this.#words[id] = word
    this.#counts[id] = 0
    return id
  }

  /** Notes one more document with the word; true for its first. */
  retain(id: number): boolean {
    this.#counts[id]!++
    return this.#counts[id] === 1
  }

  /** Notes one document less; true when that was the last, and the number is free. */
  release(id: number): boolean {
    this.#counts[id]!--
    if (this.#counts[id]! > 0) return false
    this.#ids.delete(this.#words[id]!)
    this.#words[id] = ''
    this.#free.push(id)
    return true
  }
}
