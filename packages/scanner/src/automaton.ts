const statesMax = 65_535
/** The state of the empty prefix. 0 stands for no state. */
const root = 1

/** The prefixes of words, each a state with a number from 1, in the order in which words are added. */
class Trie {
  size = root + 1
  readonly symbolCount: number
  /** For each state and symbol, the state of the prefix with the symbol. */
  readonly next: Uint16Array
  /** The last symbol of each state, its first child, and the next child of its parent. */
  readonly symbol: Uint8Array
  readonly child: Uint16Array
  readonly sibling: Uint16Array
  /** The last word that equals each state, and the one before it that equals each word: numbers from 1. */
  readonly word: Uint16Array
  readonly wordBefore: Uint16Array

  constructor(words: Uint8Array, lengthMax: number, symbolCount: number) {
    const sizeMax = words.length + root + 1
    this.symbolCount = symbolCount
    this.next = new Uint16Array(sizeMax * symbolCount)
    this.symbol = new Uint8Array(sizeMax)
    this.child = new Uint16Array(sizeMax)
    this.sibling = new Uint16Array(sizeMax)
    this.word = new Uint16Array(sizeMax)
    this.wordBefore = new Uint16Array(words.length / lengthMax + 1)
    for (let from = 0, word = 1; from < words.length; from += lengthMax, word++) {
      this.#add(words, from, from + lengthMax, word)
    }
    if (this.size > statesMax) throw new TypeError('The automaton has too many words.')
  }

  #add(words: Uint8Array, from: number, to: number, word: number): void {
    const { next, symbolCount } = this
    let state = root
    for (let at = from; at < to && words[at] !== 0; at++) {
      const place = state * symbolCount + words[at]!
      if (next[place] === 0) next[place] = this.#addChild(state, words[at]!)
      state = next[place]!
    }
    this.wordBefore[word] = this.word[state]!
    this.word[state] = word
  }

  #addChild(state: number, symbol: number): number {
    const child = this.size++
    this.symbol[child] = symbol
    this.sibling[child] = this.child[state]!
    this.child[state] = child
    return child
  }
}

/**
 * Finds all words in one pass over a text. Transitions are computed when a text needs them: few are ever needed, and a
 * process that scans one text would wait for all.
 */
export class Automaton {
  readonly root = root
  /** The next state for each state and symbol; 0 if it is not computed yet. */
  readonly next: Uint16Array
  /** 1 for states in which words end. The numbers of these words, and where those of each state begin. */
  readonly isEnding: Uint8Array
  readonly ending: Uint16Array
  readonly endingFrom: Uint32Array
  readonly #symbolCount: number
  /** The longest proper suffix of each state that is a state. */
  readonly #suffix: Uint16Array

  /**
   * `words` has the symbols of all words, `lengthMax` for each: numbers below `symbolCount`, of which 0 fills up shorter
   * words. Throws a `TypeError` if there are too many.
   */
  constructor(words: Uint8Array, lengthMax: number, symbolCount: number) {
    const trie = new Trie(words, lengthMax, symbolCount)
    const { size, next, word, wordBefore } = trie
    this.next = next
    this.#symbolCount = symbolCount
    this.#suffix = new Uint16Array(size)
    this.isEnding = new Uint8Array(size)
    this.endingFrom = new Uint32Array(size + 1)
    this.#completeSuffixes(trie)
    const ending: number[] = []
    for (let state = root; state < size; state++) {
      this.endingFrom[state] = ending.length
      if (this.isEnding[state] === 0) continue
      for (let end = state; end !== 0; end = this.#suffix[end]!) {
        for (let number = word[end]!; number !== 0; number = wordBefore[number]!) ending.push(number - 1)
      }
    }
    this.endingFrom[size] = ending.length
    this.ending = Uint16Array.from(ending)
  }

  /** From short states to long ones, because each needs shorter ones. */
  #completeSuffixes({ size, symbol, child, sibling, word }: Trie): void {
    const suffix = this.#suffix
    const isEnding = this.isEnding
    const states = new Uint16Array(size)
    states[0] = root
    for (let index = 0, end = 1; index < end; index++) {
      const state = states[index]!
      for (let longer = child[state]!; longer !== 0; longer = sibling[longer]!) {
        const shorter = state === root ? root : this.follow(suffix[state]!, symbol[longer]!)
        suffix[longer] = shorter
        isEnding[longer] = word[longer] === 0 ? isEnding[shorter]! : 1
        states[end++] = longer
      }
    }
  }

  /** The state after another one and a symbol: that after its suffix, unless it is a prefix itself. */
  follow(state: number, symbol: number): number {
    const place = state * this.#symbolCount + symbol
    if (this.next[place] === 0) {
      this.next[place] = state === root ? root : this.follow(this.#suffix[state]!, symbol)
    }
    return this.next[place]!
  }
}
