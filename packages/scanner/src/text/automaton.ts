/** The state of the empty prefix. 0 stands for no state. */
const root = 1
const statesMax = 65_535

/** The prefixes of words, each a state, in order of their lengths. */
export interface AutomatonTables {
  /** The last symbol of each state. */
  readonly symbols: Uint16Array
  /** The first state that is one symbol longer than each state; those before that of the next state are, too. */
  readonly children: Uint16Array
  /** The longest proper suffix of each state that is a state. */
  readonly suffixes: Uint16Array
  /** The longest suffix of each state that is a word, possibly the state itself; 0 if none is. */
  readonly outputs: Uint16Array
  /** The numbers of the words that equal each state, and where those of each state begin. */
  readonly words: Uint16Array
  readonly wordsFrom: Uint16Array
}

/** The tables of words, which consist of the symbols 1 to `symbolCount` - 1. Throws a `TypeError` if there are too many. */
export function toAutomatonTables(words: readonly string[], symbolCount: number): AutomatonTables {
  const sorted = words.map((word, number) => ({ word, number })).toSorted((a, b) => (a.word < b.word ? -1 : 1))
  // Of each state: the words that begin with it, as a range of the sorted ones, and its length.
  const states = [
    { from: 0, to: 0, length: 0 },
    { from: 0, to: sorted.length, length: 0 },
  ]
  const symbols = [0, 0]
  const children = [states.length]
  const wordsFrom = [0]
  const ending: number[] = []
  for (let state = root; state < states.length; state++) {
    const { from, to, length } = states[state]!
    let at = from
    wordsFrom.push(ending.length)
    for (; at < to && sorted[at]!.word.length === length; at++) ending.push(sorted[at]!.number)
    children.push(states.length)
    while (at < to) {
      const start = at
      const symbol = sorted[at]!.word.charCodeAt(length)
      while (at < to && sorted[at]!.word.charCodeAt(length) === symbol) at++
      symbols.push(symbol)
      states.push({ from: start, to: at, length: length + 1 })
    }
  }
  children.push(states.length)
  wordsFrom.push(ending.length)
  if (states.length > statesMax) throw new TypeError('The automaton has too many words.')
  const tables = {
    symbols: Uint16Array.from(symbols),
    children: Uint16Array.from(children),
    suffixes: new Uint16Array(states.length),
    outputs: new Uint16Array(states.length),
    words: Uint16Array.from(ending),
    wordsFrom: Uint16Array.from(wordsFrom),
  }
  completeSuffixes(tables, symbolCount)
  return tables
}

/** From short states to long ones, because each needs shorter ones. */
function completeSuffixes(tables: AutomatonTables, symbolCount: number): void {
  const { symbols, children, suffixes, outputs, wordsFrom } = tables
  const automaton = new Automaton(tables, symbolCount)
  for (let state = root; state < symbols.length; state++) {
    for (let child = children[state]!; child < children[state + 1]!; child++) {
      const suffix = state === root ? root : automaton.follow(suffixes[state]!, symbols[child]!)
      suffixes[child] = suffix
      outputs[child] = wordsFrom[child] === wordsFrom[child + 1] ? outputs[suffix]! : child
    }
  }
}

/**
 * Finds all words in one pass over a text, one transition per symbol. Transitions are computed when a text needs them:
 * few are ever needed, and a process that scans one text would wait for all.
 */
export class Automaton {
  readonly root = root
  /** The next state for each state and symbol; 0 if it is not computed yet. */
  readonly next: Uint16Array
  readonly #symbolCount: number
  readonly #tables: AutomatonTables

  constructor(tables: AutomatonTables, symbolCount: number) {
    this.next = new Uint16Array(tables.symbols.length * symbolCount)
    this.#symbolCount = symbolCount
    this.#tables = tables
  }

  /** The state after another one and a symbol: that after its suffix, unless it is a prefix itself. */
  follow(state: number, symbol: number): number {
    const place = state * this.#symbolCount + symbol
    if (this.next[place] === 0) this.next[place] = this.#findNext(state, symbol)
    return this.next[place]!
  }

  #findNext(state: number, symbol: number): number {
    const { symbols, children, suffixes } = this.#tables
    const to = children[state + 1]!
    for (let child = children[state]!; child < to; child++) if (symbols[child] === symbol) return child
    return state === root ? root : this.follow(suffixes[state]!, symbol)
  }
}
