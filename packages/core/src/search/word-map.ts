const partBits = 6

/**
 * A map by words that is split into parts, so that it never grows all at once: doubling a `Map` of half a million words
 * blocks the event loop for a tenth of a second.
 */
export class WordMap<V> {
  readonly #parts = Array.from({ length: 1 << partBits }, () => new Map<string, V>())

  get(word: string): V | undefined {
    return this.#partOf(word).get(word)
  }

  has(word: string): boolean {
    return this.#partOf(word).has(word)
  }

  set(word: string, value: V): void {
    this.#partOf(word).set(word, value)
  }

  delete(word: string): void {
    this.#partOf(word).delete(word)
  }

  /** Chosen by three of the characters: enough to spread words, and cheaper than the hash that `Map` computes. */
  #partOf(word: string): Map<string, V> {
    const { length } = word
    const sum = word.charCodeAt(0) * 31 * 31 + word.charCodeAt(length >> 1) * 31 + word.charCodeAt(length - 1) + length
    return this.#parts[Math.imul(sum, 0x9e3779b1) >>> (32 - partBits)]!
  }
}
