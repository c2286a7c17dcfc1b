import { Automaton, toAutomatonTables, type AutomatonTables } from './automaton.ts'

/**
 * Shorter anchors occur everywhere. Scripts without spaces express as much with fewer characters, of three bytes each.
 */
export const anchorCharactersMin = 3
const bytesMin = 3
const foundAtFirst = 4096
const unitCount = 65_536
/** The rest of a longer text is compared where its beginning was found: half as many states fit the cache better. */
const beginningUnits = 8

/**
 * Few enough that the transitions of a state fit into one cache line; code units of the same class are compared
 * afterwards.
 */
const classCount = 32
const spaceClass = 27
const digitClass = 28
const signClass = 29
const otherClass = 31

/** Short texts with the automaton of their beginnings. */
export interface AnchorTables extends AutomatonTables {
  /** Number of code units of each text, and the code units of all texts. */
  readonly lengths: Uint16Array
  readonly units: Uint16Array
  /** 1 for the texts that are longer than their beginning or contain code units of a shared class. */
  readonly compared: Uint16Array
  /** The code units that occur in texts. */
  readonly used: Uint16Array
}

/** The tables of some texts. Throws a `TypeError` if one is too short or not in lower case. */
export function toAnchorTables(texts: readonly string[]): AnchorTables {
  for (const text of texts) checkAnchor(text)
  const beginnings = texts.map((text) =>
    String.fromCharCode(...toUnits(text.slice(0, beginningUnits)).map((unit) => toClass(unit))),
  )
  const units = toUnits(texts.join(''))
  return {
    lengths: Uint16Array.from(texts, ({ length }) => length),
    units,
    compared: Uint16Array.from(texts, (text) => Number(text.length > beginningUnits || hasSharedClass.test(text))),
    used: Uint16Array.from(new Set(units)),
    ...toAutomatonTables(beginnings, classCount),
  }
}

/**
 * Finds many short texts at once, ignoring case, in one pass with one step per code unit, however many texts there are:
 * the Aho-Corasick automaton ("Efficient string matching", 1975), of the beginnings of the texts.
 */
export class AnchorTable {
  /** The texts found by the last search and the end of each, in order of their beginnings, and their number. */
  texts = new Uint16Array(foundAtFirst)
  ends = new Uint32Array(foundAtFirst)
  size = 0
  readonly #tables: AnchorTables
  /** The class of each code unit; 0 for code units that occur in no text. */
  readonly #classes = new Uint8Array(unitCount)
  readonly #automaton: Automaton
  /** The outputs of the states, and where they end. */
  #outputs = new Uint16Array(foundAtFirst)
  #outputEnds = new Uint32Array(foundAtFirst)
  /** Where the code units of each text begin. */
  readonly #unitsFrom: Uint32Array

  constructor(tables: AnchorTables) {
    const { lengths, used } = tables
    this.#tables = tables
    for (const unit of used) this.#classes[unit] = toClass(unit)
    for (const unit of upperCase) this.#classes[unit] = this.#classes[lowerOf[unit]!]!
    this.#automaton = new Automaton(tables, classCount)
    this.#unitsFrom = new Uint32Array(lengths.length)
    for (let text = 1; text < lengths.length; text++) {
      this.#unitsFrom[text] = this.#unitsFrom[text - 1]! + lengths[text - 1]!
    }
  }

  /** Searches the first `size` code units. */
  find(codes: Uint16Array, size: number): void {
    if (size >= this.#outputs.length) {
      this.#outputs = new Uint16Array(size + 1)
      this.#outputEnds = new Uint32Array(size + 1)
    }
    this.size = 0
    const count = this.#follow(codes, size)
    for (let index = 0; index < count; index++) this.#add(this.#outputs[index]!, codes, this.#outputEnds[index]!, size)
  }

  /**
   * Writes the outputs and their ends, and returns their number. The inner loop calls nothing, which makes it several
   * times faster.
   */
  #follow(codes: Uint16Array, size: number): number {
    const { outputs } = this.#tables
    const automaton = this.#automaton
    const { next, root } = automaton
    const classes = this.#classes
    const [found, ends] = [this.#outputs, this.#outputEnds]
    let count = 0
    let state = root
    for (let at = 0; at < size;) {
      while (at < size) {
        const after = next[state * classCount + classes[codes[at]!]!]!
        if (after === 0) break
        state = after
        const output = outputs[state]!
        found[count] = output
        ends[count] = ++at
        if (output !== 0) count++
      }
      if (at < size) void automaton.follow(state, classes[codes[at]!]!)
    }
    return count
  }

  /** Adds the texts whose first code units end at a position: those of an output, and of its suffixes. */
  #add(first: number, codes: Uint16Array, wordEnd: number, size: number): void {
    const { outputs, suffixes, words, wordsFrom, compared, lengths } = this.#tables
    for (let output = first; output !== 0; output = outputs[suffixes[output]!]!) {
      const to = wordsFrom[output + 1]!
      for (let index = wordsFrom[output]!; index < to; index++) {
        const text = words[index]!
        const length = lengths[text]!
        const end = length > beginningUnits ? wordEnd + length - beginningUnits : wordEnd
        if (compared[text] === 1 && (end > size || !this.#isAt(text, codes, end - length))) continue
        if (this.size === this.texts.length) this.#grow()
        this.texts[this.size] = text
        this.ends[this.size++] = end
      }
    }
  }

  /** Compares from the end, because the beginning is known to be similar. */
  #isAt(text: number, codes: Uint16Array, start: number): boolean {
    const { units, lengths } = this.#tables
    const from = this.#unitsFrom[text]!
    const length = lengths[text]!
    for (let index = length - 1; index >= 0; index--) {
      if (lowerOf[codes[start + index]!] !== units[from + index]) return false
    }
    return true
  }

  #grow(): void {
    const { texts, ends } = this
    this.texts = new Uint16Array(2 * texts.length)
    this.ends = new Uint32Array(2 * ends.length)
    this.texts.set(texts)
    this.ends.set(ends)
  }
}

function checkAnchor(text: string): void {
  const isLong = text.length >= bytesMin || Buffer.byteLength(text) >= bytesMin
  if (isLong && text === text.toLowerCase()) return
  throw new TypeError(`The anchor ${JSON.stringify(text)} must be lower-case text of at least three bytes.`)
}

/** Letters and the space have classes of their own; digits, punctuation and everything above ASCII share the rest. */
function toClass(unit: number): number {
  if (unit > 127) return otherClass
  if (unit >= 97 && unit <= 122) return unit - 96
  if (unit >= 48 && unit <= 57) return digitClass
  return unit === 32 ? spaceClass : signClass + (unit & 1)
}

/** Digits, punctuation and everything above ASCII. */
const hasSharedClass = /[^a-z ]/

function toUnits(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
}

/** Letters whose lower case depends on the text around them, or has several code units. */
const specialCase = /[\u0130\u03a3]/g

/** The lower-case letter of each code unit, from one text with all of them. */
const lowerOf = new Uint16Array(unitCount)
for (let unit = 0; unit < unitCount; unit++) lowerOf[unit] = unit
const allUnits = Buffer.from(lowerOf.buffer)
allUnits.write(allUnits.toString('utf16le').replace(specialCase, ' ').toLowerCase(), 'utf16le')
lowerOf[0x130] = 0x130
lowerOf[0x3a3] = 0x3c3
/** The code units that have another lower-case letter. */
const upperCase: number[] = []
for (let unit = 0; unit < unitCount; unit++) if (lowerOf[unit] !== unit) upperCase.push(unit)
