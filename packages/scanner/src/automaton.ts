const statesMax = 65_536

/** Transitions between states; the first state is 0, and the last ones are those in which words end. */
export interface Automaton {
  /** The next state for each state and symbol. */
  readonly next: Uint16Array
  /** The indexes of the words that end in each of the last states. */
  readonly endings: readonly (readonly number[])[]
}

/**
 * Builds an automaton that finds all words in one pass. Symbols are numbers below `symbolCount`; 0 is in no word.
 * States that few symbols lead to come first: most of a text leads to these, and they stay in the CPU cache.
 */
export function toAutomaton(words: readonly Uint8Array[], symbolCount: number): Automaton {
  const trie = new Trie(words, symbolCount)
  const states = trie.writeOut()
  const order = new Uint16Array(states.length)
  let size = 0
  for (const state of states) if (!trie.endings[state]) order[size++] = state
  const firstEnding = size
  for (const state of states) if (trie.endings[state]) order[size++] = state
  const numberOf = new Uint16Array(size)
  for (let number = 0; number < size; number++) numberOf[order[number]!] = number
  const next = new Uint16Array(size * symbolCount)
  for (let number = 0, to = 0; number < size; number++) {
    const from = order[number]! * symbolCount
    for (let at = from; at < from + symbolCount; at++) next[to++] = numberOf[trie.next[at]!]!
  }
  return { next, endings: Array.from(order.subarray(firstEnding), (state) => trie.endings[state]!) }
}

/** The prefixes of words, each a state with a number; 0 is the empty prefix. */
class Trie {
  readonly next: Uint16Array
  /** The words that end in each state. */
  readonly endings: (readonly number[] | undefined)[]
  readonly #symbolCount: number
  #size = 1

  constructor(words: readonly Uint8Array[], symbolCount: number) {
    this.#symbolCount = symbolCount
    const sizeMax = 1 + words.reduce((sum, { length }) => sum + length, 0)
    this.next = new Uint16Array(sizeMax * symbolCount)
    this.endings = Array.from({ length: sizeMax })
    for (let number = 0; number < words.length; number++) {
      const state = this.#grow(words[number]!)
      this.endings[state] = [...(this.endings[state] ?? []), number]
    }
    if (this.#size > statesMax) throw new TypeError('The automaton has too many words.')
  }

  /** Adds the prefixes of a word, and returns the state of the whole word. */
  #grow(word: Uint8Array): number {
    const { next } = this
    let state = 0
    for (let at = 0; at < word.length; at++) {
      const place = state * this.#symbolCount + word[at]!
      if (next[place] === 0) next[place] = this.#size++
      state = next[place]!
    }
    return state
  }

  /**
   * Completes the transitions: a state without a transition uses that of its longest proper suffix that is a prefix of
   * a word; words that end there end in the state too. Returns all states, shortest first, because each copies from
   * shorter ones.
   */
  writeOut(): Uint16Array {
    const { next, endings } = this
    const count = this.#symbolCount
    const suffixOf = new Uint16Array(this.#size)
    const states = new Uint16Array(this.#size)
    let size = 1
    for (let index = 0; index < size; index++) {
      const state = states[index]!
      const own = state * count
      const suffix = suffixOf[state]! * count
      for (let symbol = 1; symbol < count; symbol++) {
        const shorter = state === 0 ? 0 : next[suffix + symbol]!
        const longer = next[own + symbol]!
        if (longer === 0) {
          next[own + symbol] = shorter
          continue
        }
        suffixOf[longer] = shorter
        const shared = endings[shorter]
        if (shared) endings[longer] = [...(endings[longer] ?? []), ...shared]
        states[size++] = longer
      }
    }
    return states
  }
}
