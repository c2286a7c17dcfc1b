/** A full block is split in two. */
const blockMax = 512

/**
 * The ids of words in the order of the words, for prefixes. They are in blocks, so that an insertion moves a few hundred
 * numbers, and a large vocabulary is a few hundred objects for the garbage collector.
 */
export class SortedWords {
  readonly #wordOf: (id: number) => string
  readonly #blocks: number[][] = []

  /** `wordOf` returns the word with an id. */
  constructor(wordOf: (id: number) => string) {
    this.#wordOf = wordOf
  }

  /** Adds a word that is not contained. */
  add(id: number): void {
    const word = this.#wordOf(id)
    const at = this.#blockOf(word)
    const block = this.#blocks[at]
    if (!block) return void this.#blocks.push([id])
    block.splice(this.#placeIn(block, word), 0, id)
    if (block.length === blockMax) this.#blocks.splice(at + 1, 0, block.splice(blockMax / 2))
  }

  /** Removes a word by its spelling; ignores one that is not contained. */
  remove(word: string): void {
    const at = this.#blockOf(word)
    const block = this.#blocks[at]
    if (!block) return
    const place = this.#placeIn(block, word)
    if (block[place] === undefined || this.#wordOf(block[place]) !== word) return
    block.splice(place, 1)
    if (block.length === 0) this.#blocks.splice(at, 1)
  }

  /** The ids of the words that begin with a prefix, in the order of the words. */
  *withPrefix(prefix: string): Generator<number> {
    let at = this.#blockOf(prefix)
    let place = this.#placeIn(this.#blocks[at] ?? [], prefix)
    for (let block = this.#blocks[at]; block; block = this.#blocks[++at], place = 0) {
      for (; place < block.length; place++) {
        if (!this.#wordOf(block[place]!).startsWith(prefix)) return
        yield block[place]!
      }
    }
  }

  /** The number of the last block that begins before or with a word; 0 if none does. */
  #blockOf(word: string): number {
    let [low, high] = [0, this.#blocks.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#wordOf(this.#blocks[middle]![0]!) <= word) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The place of the first word of a block that is not before a word. */
  #placeIn(block: readonly number[], word: string): number {
    let [low, high] = [0, block.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#wordOf(block[middle]!) < word) low = middle + 1
      else high = middle
    }
    return low
  }
}
