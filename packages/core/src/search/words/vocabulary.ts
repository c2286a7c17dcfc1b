/**
 * Ids of the indexed words, and the number of documents with each word. An id without documents is reused for the next
 * new word, so that ids stay dense.
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

  /** The id of a word; assigns an id to a new word. */
  intern(word: string): number {
    const known = this.#ids.get(word)
    if (known !== undefined) return known
    const id = this.#free.pop() ?? this.#words.length
    this.#ids.set(word, id)
    this.#words[id] = word
    this.#counts[id] = 0
    return id
  }

  /** Number of documents with a word. */
  countOf(id: number): number {
    return this.#counts[id]!
  }

  /** Counts another document with the word; returns true for the first document. */
  retain(id: number): boolean {
    this.#counts[id]!++
    return this.#counts[id] === 1
  }

  /** Counts a document less; after the last document, the id is free. */
  release(id: number): void {
    this.#counts[id]!--
    if (this.#counts[id]! > 0) return
    this.#ids.delete(this.#words[id]!)
    this.#words[id] = ''
    this.#free.push(id)
  }
}

const partBits = 6

/**
 * A map by words that is split into parts, so that it never grows all at once: doubling a `Map` of half a million words
 * blocks the event loop for a tenth of a second.
 */
class WordMap<V> {
  readonly #parts = Array.from({ length: 1 << partBits }, () => new Map<string, V>())

  get(word: string): V | undefined {
    return this.#partOf(word).get(word)
  }

  set(word: string, value: V): void {
    this.#partOf(word).set(word, value)
  }

  delete(word: string): void {
    this.#partOf(word).delete(word)
  }

  /**
   * The part of a word, chosen by three of its characters: enough to spread words, and cheaper than the hash that `Map`
   * computes.
   */
  #partOf(word: string): Map<string, V> {
    const { length } = word
    const sum = word.charCodeAt(0) * 31 * 31 + word.charCodeAt(length >> 1) * 31 + word.charCodeAt(length - 1) + length
    return this.#parts[Math.imul(sum, 0x9e3779b1) >>> (32 - partBits)]!
  }
}
