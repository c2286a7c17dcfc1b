const statesMax = 65_536

/** Transitions between states; the first state is 0, and the last ones are those in which words end. */
export interface Automaton {
  /** The next state for each state and symbol. */
  readonly next: Uint16Array
  /** The first state in which words end, and the numbers of the words that end in each: up to where the next begins. */
  readonly firstEnding: number
  readonly endingFrom: Uint32Array
  readonly ending: Uint16Array
}

/**
 * Builds an automaton that finds all words in one pass. Symbols are numbers below `symbolCount`; 0 is in no word and
 * ends a shorter word. `symbols`: those of all words, each of `length`.
 */
export function toAutomaton(symbols: Uint8Array, length: number, symbolCount: number): Automaton {
  const trie = new Trie(symbols, length, symbolCount)
  trie.complete()
  return trie.writeOut()
}

/** The prefixes of words, each a state with a number; 0 is the empty prefix. */
class Trie {
  readonly #symbolCount: number
  readonly #next: Uint16Array
  /** The symbol of each state after its parent, its first child, and the next child of its parent; 0 for none. */
  readonly #symbol: Uint8Array
  readonly #child: Uint16Array
  readonly #sibling: Uint16Array
  /** The longest proper suffix of each state that is a state. */
  readonly #suffix: Uint16Array
  /** The last word that ends in each state, and the one before it with the same symbols, both from 1; 0 for none. */
  readonly #word: Uint16Array
  readonly #wordBefore: Uint16Array
  /** Number of words that end in each state. */
  readonly #count: Uint32Array
  /** All states, shortest first. */
  readonly #states: Uint16Array
  #size = 1

  constructor(symbols: Uint8Array, length: number, symbolCount: number) {
    const words = symbols.length / length
    const sizeMax = symbols.length + 1
    this.#symbolCount = symbolCount
    this.#next = new Uint16Array(sizeMax * symbolCount)
    this.#symbol = new Uint8Array(sizeMax)
    this.#child = new Uint16Array(sizeMax)
    this.#sibling = new Uint16Array(sizeMax)
    this.#suffix = new Uint16Array(sizeMax)
    this.#word = new Uint16Array(sizeMax)
    this.#wordBefore = new Uint16Array(words + 1)
    this.#count = new Uint32Array(sizeMax)
    this.#states = new Uint16Array(sizeMax)
    for (let word = 0; word < words; word++) this.#add(symbols, word * length, (word + 1) * length, word + 1)
    if (this.#size > statesMax) throw new TypeError('The automaton has too many words.')
  }

  /** Adds the prefixes of a word. */
  #add(symbols: Uint8Array, from: number, to: number, word: number): void {
    let state = 0
    for (let at = from; at < to && symbols[at] !== 0; at++) {
      const place = state * this.#symbolCount + symbols[at]!
      let longer = this.#next[place]!
      if (longer === 0) {
        longer = this.#size++
        this.#next[place] = longer
        this.#symbol[longer] = symbols[at]!
        this.#sibling[longer] = this.#child[state]!
        this.#child[state] = longer
      }
      state = longer
    }
    this.#wordBefore[word] = this.#word[state]!
    this.#word[state] = word
    this.#count[state]!++
  }

  /**
   * Completes the transitions, from short states to long ones: a state without a transition uses that of its suffix, and
   * words that end in the suffix end in the state too.
   */
  complete(): void {
    const count = this.#symbolCount
    const next = this.#next
    let size = 1
    for (let index = 0; index < size; index++) {
      const state = this.#states[index]!
      const own = state * count
      const suffix = this.#suffix[state]! * count
      if (state !== 0) next.copyWithin(own, suffix, suffix + count)
      for (let child = this.#child[state]!; child !== 0; child = this.#sibling[child]!) {
        const place = own + this.#symbol[child]!
        const shorter = state === 0 ? 0 : next[place]!
        this.#suffix[child] = shorter
        this.#count[child]! += this.#count[shorter]!
        next[place] = child
        this.#states[size++] = child
      }
    }
  }

  /** States that few symbols lead to come first: most of a text leads to these, and they stay in the CPU cache. */
  writeOut(): Automaton {
    const size = this.#size
    const order = new Uint16Array(size)
    const numberOf = new Uint16Array(size)
    let number = 0
    for (const state of this.#states.subarray(0, size)) if (this.#count[state] === 0) order[number++] = state
    const firstEnding = number
    for (const state of this.#states.subarray(0, size)) if (this.#count[state] !== 0) order[number++] = state
    for (let at = 0; at < size; at++) numberOf[order[at]!] = at
    const count = this.#symbolCount
    const next = new Uint16Array(size * count)
    for (let at = 0, to = 0; at < size; at++) {
      const from = order[at]! * count
      for (let place = from; place < from + count; place++) next[to++] = numberOf[this.#next[place]!]!
    }
    const endings = order.subarray(firstEnding)
    const endingFrom = new Uint32Array(endings.length + 1)
    for (let at = 0; at < endings.length; at++) endingFrom[at + 1] = endingFrom[at]! + this.#count[endings[at]!]!
    const ending = new Uint16Array(endingFrom[endings.length]!)
    for (let at = 0; at < endings.length; at++) this.#writeWords(endings[at]!, ending, endingFrom[at]!)
    return { next, firstEnding, endingFrom, ending }
  }

  /** Writes the words that end in a state, also as the end of a longer text. */
  #writeWords(from: number, ending: Uint16Array, to: number): void {
    for (let state = from; state !== 0; state = this.#suffix[state]!) {
      for (let word = this.#word[state]!; word !== 0; word = this.#wordBefore[word]!) ending[to++] = word - 1
    }
  }
}
