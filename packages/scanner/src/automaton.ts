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
  const ending = states.filter((state) => trie.endings[state])
  const order = [...states.filter((state) => !trie.endings[state]), ...ending]
  const numberOf = new Uint16Array(order.length)
  for (const [number, state] of order.entries()) numberOf[state] = number
  const next = new Uint16Array(order.length * symbolCount)
  for (const [number, state] of order.entries()) {
    for (let symbol = 0; symbol < symbolCount; symbol++) {
      next[number * symbolCount + symbol] = numberOf[trie.next[state * symbolCount + symbol]!]!
    }
  }
  return { next, endings: ending.map((state) => trie.endings[state]!) }
}

/** The prefixes of words, each a state with a number; 0 is the empty prefix. */
class Trie {
  readonly next: Uint16Array
  /** The words that end in each state. */
  readonly endings: (number[] | undefined)[] = [undefined]
  readonly #symbolCount: number

  constructor(words: readonly Uint8Array[], symbolCount: number) {
    this.#symbolCount = symbolCount
    this.next = new Uint16Array((1 + words.reduce((sum, { length }) => sum + length, 0)) * symbolCount)
    for (const [number, word] of words.entries()) {
      let state = 0
      for (const symbol of word) state = this.#grow(state * symbolCount + symbol)
      this.#end(state, [number])
    }
  }

  #end(state: number, words: readonly number[]): void {
    const others = this.endings[state]
    this.endings[state] = others ? [...others, ...words] : [...words]
  }

  #grow(place: number): number {
    if (this.next[place] === 0) this.next[place] = this.endings.push(undefined) - 1
    if (this.endings.length > statesMax) throw new TypeError('The automaton has too many words.')
    return this.next[place]!
  }

  /**
   * Completes the transitions: a state without a transition uses that of its longest proper suffix that is a prefix of
   * a word; words that end there end in the state too. Returns all states, shortest first, because each copies from
   * shorter ones.
   */
  writeOut(): number[] {
    const count = this.#symbolCount
    const endOf = new Uint16Array(this.endings.length)
    const states = [0]
    for (const state of states) {
      for (let symbol = 1; symbol < count; symbol++) {
        const place = state * count + symbol
        const shorter = state === 0 ? 0 : this.next[endOf[state]! * count + symbol]!
        const longer = this.next[place]!
        if (longer === 0) this.next[place] = shorter
        else {
          endOf[longer] = shorter
          const shared = this.endings[shorter]
          if (shared) this.#end(longer, shared)
          states.push(longer)
        }
      }
    }
    return states
  }
}
