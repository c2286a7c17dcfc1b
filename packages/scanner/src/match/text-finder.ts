/**
 * Number of classes of code units. Few enough that the transitions of a state fit into one cache line. Where the
 * classes of a text match, its code units are compared.
 */
const classCount = 32
const root = 0
/**
 * Number of code units of a text that the automaton finds. The rest of a longer text is compared afterwards: the
 * automaton then has half as many states, which fit the cache better.
 */
const beginningUnits = 8
const statesMax = 65_535
const bytesMin = 3

/**
 * Finds many short texts at once, ignoring case, with one step per code unit, however many texts there are: the
 * automaton of Aho and Corasick ("Efficient string matching", 1975) over classes of code units.
 */
export class TextFinder {
  /** The numbers of the texts that the last search found, and for each text its positions in ascending order. */
  readonly found: number[] = []
  readonly startsOf: readonly number[][]
  readonly #texts: readonly string[]
  /** The number of units of each text that agree wherever their classes do: each has a class of its own. */
  readonly #agreed: readonly number[]
  /** The next state for each state and class. */
  readonly #next: Uint16Array
  /** The longest proper suffix of each state that is a state. */
  readonly #suffixes: Uint16Array
  /** The longest suffix of each state, possibly itself, at which texts end; the root if there is none. */
  readonly #outputs: Uint16Array
  /** The texts that end at a state. */
  readonly #endingAt: number[][] = []

  /** Throws a `TypeError` if a text is too short or not in lower case, or if there are too many. */
  constructor(texts: readonly string[]) {
    const statesUsedMax = texts.reduce((sum, { length }) => sum + Math.min(length, beginningUnits), 1)
    if (statesUsedMax > statesMax) throw new TypeError('There are too many texts to search for. Use fewer.')
    this.#texts = texts
    this.#agreed = texts.map((text) => (/^[a-z ]*$/.test(text.slice(0, beginningUnits)) ? beginningUnits : 0))
    this.startsOf = texts.map(() => [])
    this.#next = new Uint16Array(statesUsedMax * classCount)
    const states = this.#addTexts()
    this.#suffixes = new Uint16Array(states)
    this.#outputs = new Uint16Array(states)
    this.#link()
  }

  /** Adds a state for each beginning of a text, and returns the number of states. */
  #addTexts(): number {
    let states = 1
    for (const [number, text] of this.#texts.entries()) {
      checkText(text)
      let state = root
      for (let at = 0; at < Math.min(text.length, beginningUnits); at++) {
        const place = state * classCount + classOf[text.charCodeAt(at)]!
        if (this.#next[place] === root) this.#next[place] = states++
        state = this.#next[place]!
      }
      ;(this.#endingAt[state] ??= []).push(number)
    }
    return states
  }

  /** Completes the transitions, from short states to long ones: a state without a transition has that of its suffix. */
  #link(): void {
    const next = this.#next
    const queue = [root]
    for (const state of queue) {
      for (let each = 0; each < classCount; each++) {
        const place = state * classCount + each
        const child = next[place]!
        const other = state === root ? root : next[this.#suffixes[state]! * classCount + each]!
        if (child === root) next[place] = other
        else {
          this.#suffixes[child] = other
          this.#outputs[child] = this.#endingAt[child] ? child : this.#outputs[other]!
          queue.push(child)
        }
      }
    }
  }

  /** Searches the first `size` code units. */
  find(codes: Uint16Array, size: number): void {
    for (const number of this.found) clear(this.startsOf[number]!)
    clear(this.found)
    const [next, outputs, classes] = [this.#next, this.#outputs, classOf]
    let state = root
    for (let at = 0; at < size; at++) {
      state = next[state * classCount + classes[codes[at]!]!]!
      if (outputs[state] !== root) this.#add(outputs[state]!, codes, at + 1)
    }
  }

  #add(first: number, codes: Uint16Array, end: number): void {
    for (let state = first; state !== root; state = this.#outputs[this.#suffixes[state]!]!) {
      for (const number of this.#endingAt[state]!) {
        const text = this.#texts[number]!
        const start = end - Math.min(text.length, beginningUnits)
        const agreed = this.#agreed[number]!
        if (agreed < text.length && !isAt(text, codes, start, agreed)) continue
        if (this.startsOf[number]!.push(start) === 1) this.found.push(number)
      }
    }
  }
}

/** Empties a list. Setting its length to 0 would free its memory, which the next text needs again. */
export function clear(list: number[]): void {
  while (list.length > 0) list.pop()
}

function checkText(text: string): void {
  const isLong = text.length >= bytesMin || Buffer.byteLength(text) >= bytesMin
  if (isLong && text === text.toLowerCase()) return
  throw new TypeError(`The anchor ${JSON.stringify(text)} must be lower-case text of at least three bytes.`)
}

function isAt(text: string, codes: Uint16Array, start: number, from: number): boolean {
  for (let at = from; at < text.length; at++) if (lowerOf[codes[start + at]!] !== text.charCodeAt(at)) return false
  return true
}

/** Above these code units, no letter of a rule has two cases: Latin, Greek, Cyrillic and Armenian. */
const casedUnits = 0x590
/** The lower-case letter of each code unit, and its class. A loop fills them fast, because each thread needs it. */
const lowerOf = new Uint16Array(65_536)
const classOf = new Uint8Array(65_536)
for (let unit = 0; unit < lowerOf.length; unit++) {
  const lower = unit < casedUnits ? String.fromCharCode(unit).toLowerCase() : ''
  lowerOf[unit] = lower === '\n' ? 32 : lower.length === 1 ? lower.charCodeAt(0) : unit
  classOf[unit] = toClass(lowerOf[unit]!)
}

/** Letters and the space have classes of their own; all other characters share the remaining classes. */
function toClass(unit: number): number {
  if (unit >= 97 && unit <= 122) return unit - 96
  if (unit === 32) return 27
  return unit > 127 ? 31 : unit < 47 ? 28 : unit < 58 ? 29 : 30
}
