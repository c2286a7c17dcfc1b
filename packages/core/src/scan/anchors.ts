/** Told of an anchor's owner and of where the anchor ends. */
export type OnAnchor = (owner: number, end: number) => void

/**
 * Finds many short texts at once, whatever their case, in one pass (Aho and Corasick, 1975): each character is one step
 * from state to state in a flat table. Rare characters share its columns, so that it may also tell of what is alike.
 */
export class AnchorTable {
  /** The column of each code unit; 0 for all that stand in no anchor. */
  readonly #columns = new Uint8Array(65_536)
  readonly #next: Uint16Array
  /** Where the owners of a state begin in `#owners`; those of the state after it end them. */
  readonly #ownersFrom: Uint32Array
  readonly #owners: Uint32Array

  /** `anchors[owner]` are the texts whose places the owner wants to know. */
  constructor(anchors: readonly (readonly string[])[]) {
    for (const text of anchors.flat()) checkAnchor(text)
    this.#fillColumns(anchors.flat())
    const all = anchors.flatMap((texts, owner) => texts.map((text) => ({ columns: this.#toColumns(text), owner })))
    const beginnings = new Set(anchors.flat().flatMap((text) => text.split('').map((_, at) => text.slice(0, at + 1))))
    const trie = new Trie(beginnings.size + 1)
    // The shortest first: the states that most characters lead to lie side by side.
    for (const text of [...beginnings].toSorted((a, b) => a.length - b.length)) trie.add(this.#toColumns(text))
    for (const { columns, owner } of all) trie.add(columns, owner)
    const owners = trie.link()
    this.#next = trie.next.slice(0, trie.size * width)
    this.#ownersFrom = new Uint32Array(trie.size + 1)
    for (const [state, { length }] of owners.entries()) this.#ownersFrom[state + 1] = this.#ownersFrom[state]! + length
    this.#owners = Uint32Array.from(owners.flat())
  }

  /** Passes over so many code units. */
  find(codes: Uint16Array, size: number, onAnchor: OnAnchor): void {
    const columns = this.#columns
    const next = this.#next
    const ownersFrom = this.#ownersFrom
    let state = 0
    for (let at = 0; at < size; at++) {
      state = next[state * width + columns[codes[at]!]!]!
      const from = ownersFrom[state]!
      const to = ownersFrom[state + 1]!
      for (let index = from; index < to; index++) onAnchor(this.#owners[index]!, at + 1)
    }
  }

  #fillColumns(texts: readonly string[]): void {
    for (const unit of texts.flatMap((text) => this.#toUnits(text))) this.#columns[unit] = toColumn(unit)
    for (const [unit, column] of this.#columns.entries()) {
      const capital = String.fromCharCode(unit).toUpperCase()
      if (column !== 0 && capital.length === 1) this.#columns[capital.charCodeAt(0)] = column
    }
  }

  #toUnits(text: string): number[] {
    return text.split('').map((character) => character.charCodeAt(0))
  }

  #toColumns(text: string): number[] {
    return this.#toUnits(text).map((unit) => this.#columns[unit]!)
  }
}

/** A letter of ASCII has a column of its own; digits share one, and so do some signs, and some other letters. */
const width = 64
const digits = 27
const signsFrom = 28
const othersFrom = 48

function toColumn(unit: number): number {
  if (unit >= 97 && unit <= 122) return unit - 96
  if (unit >= 48 && unit <= 57) return digits
  return unit < 128 ? signsFrom + (unit % (othersFrom - signsFrom)) : othersFrom + (unit % (width - othersFrom))
}

function checkAnchor(text: string): void {
  if (Buffer.byteLength(text) >= 3 && text === text.toLowerCase()) return
  throw new TypeError(`The anchor ${JSON.stringify(text)} is not three bytes of lower-case text at least.`)
}

/** The states while the table is made: 0 is where nothing has been seen. */
class Trie {
  readonly next: Uint16Array
  readonly #owners: number[][] = [[]]
  size = 1

  constructor(statesMax: number) {
    if (statesMax > 65_536) throw new TypeError('The anchors of all rules begin in more than 65,535 ways.')
    this.next = new Uint16Array(width * statesMax)
  }

  add(columns: readonly number[], owner?: number): void {
    let state = 0
    for (const column of columns) {
      const place = state * width + column
      if (this.next[place] === 0) {
        this.next[place] = this.size
        this.#owners.push([])
        this.size++
      }
      state = this.next[place]!
    }
    if (owner !== undefined && !this.#owners[state]!.includes(owner)) this.#owners[state]!.push(owner)
  }

  /** Leads each missing step to where the longest end of what was seen goes on. Returns the owners of each state. */
  link(): number[][] {
    const fallback = new Uint16Array(this.size)
    const queue: number[] = []
    for (let column = 0; column < width; column++) {
      if (this.next[column] !== 0) queue.push(this.next[column]!)
    }
    for (const state of queue) {
      const other = fallback[state]!
      this.#owners[state] = [...new Set([...this.#owners[state]!, ...this.#owners[other]!])]
      for (let column = 0; column < width; column++) {
        const place = state * width + column
        const instead = this.next[other * width + column]!
        if (this.next[place] === 0) this.next[place] = instead
        else {
          fallback[this.next[place]!] = instead
          queue.push(this.next[place]!)
        }
      }
    }
    return this.#owners
  }
}
