const partBits = 6

/**
 * A map by words that never makes room for all of them at once: with half a million of them one `Map` holds the event loop
 * for a tenth of a second when it doubles.
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

  /** By three of its characters: enough to spread words, and less than what `Map` does for each anyway. */
  #partOf(word: string): Map<string, V> {
    const { length } = word
    const sum = word.charCodeAt(0) * 31 * 31 + word.charCodeAt(length >> 1) * 31 + word.charCodeAt(length - 1) + length
    return this.#parts[Math.imul(sum, 0x9e3779b1) >>> (32 - partBits)]!
  }
}
