import { Automaton } from './automaton.ts'

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

/**
 * Finds many short texts at once, ignoring case, in one pass with one step per code unit, however many texts there are:
 * the Aho-Corasick automaton ("Efficient string matching", 1975), of the beginnings of the texts.
 */
export class AnchorTable {
  /** The texts found by the last search and the end of each, in order of their beginnings, and their number. */
  texts = new Uint16Array(foundAtFirst)
  ends = new Uint32Array(foundAtFirst)
  size = 0
  /** The class of each code unit; 0 for code units that occur in no text. */
  readonly #classes: Uint8Array
  readonly #automaton: Automaton
  /** Number of code units of each text. */
  readonly lengths: Uint16Array
  /** The texts that are longer than their beginning or contain code units of a shared class. */
  readonly #compared: readonly (string | undefined)[]

  constructor(texts: readonly string[]) {
    const used = new Uint8Array(unitCount)
    const beginnings = new Uint8Array(texts.length * beginningUnits)
    this.#compared = texts.map((text, index) => {
      checkAnchor(text)
      let isExact = text.length <= beginningUnits
      for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at)
        used[unit] = 1
        const unitClass = toClass(unit)
        if (unitClass >= digitClass) isExact = false
        if (at < beginningUnits) beginnings[index * beginningUnits + at] = unitClass
      }
      return isExact ? undefined : text
    })
    const classes = new Uint8Array(unitCount)
    for (let unit = 0; unit < unitCount; unit++) {
      if (used[lowerOf[unit]!] === 1) classes[unit] = toClass(lowerOf[unit]!)
    }
    this.#classes = classes
    this.lengths = Uint16Array.from(texts, ({ length }) => length)
    this.#automaton = new Automaton(beginnings, beginningUnits, classCount)
  }

  /** Searches the first `size` code units. */
  find(codes: Uint16Array, size: number): void {
    const classes = this.#classes
    const automaton = this.#automaton
    const { next, isEnding } = automaton
    this.size = 0
    let state = automaton.root
    for (let at = 0; at < size; at++) {
      const unitClass = classes[codes[at]!]!
      const before = state
      state = next[before * classCount + unitClass]!
      if (state === 0) state = automaton.follow(before, unitClass)
      if (isEnding[state] === 1) this.#add(state, codes, at + 1, size)
    }
  }

  /** Adds the texts whose first code units end at a position. */
  #add(state: number, codes: Uint16Array, wordEnd: number, size: number): void {
    const { endingFrom, ending } = this.#automaton
    const to = endingFrom[state + 1]!
    for (let index = endingFrom[state]!; index < to; index++) {
      const text = ending[index]!
      const compared = this.#compared[text]
      const more = Math.max(0, this.lengths[text]! - beginningUnits)
      const end = wordEnd + more
      if (compared !== undefined && (end > size || !isAt(compared, codes, end - compared.length))) continue
      if (this.size === this.texts.length) this.#grow()
      this.texts[this.size] = text
      this.ends[this.size++] = end
    }
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

function isAt(text: string, codes: Uint16Array, start: number): boolean {
  for (let index = 0; index < text.length; index++) {
    if (lowerOf[codes[start + index]!] !== text.charCodeAt(index)) return false
  }
  return true
}

/** The lower-case letter of each code unit, read in blocks: most blocks have no letters with case. */
const lowerOf = new Uint16Array(unitCount)
for (let unit = 0; unit < unitCount; unit++) lowerOf[unit] = unit
const blockUnits = 64
for (let from = 0; from < unitCount; from += blockUnits) {
  const block = String.fromCharCode(...lowerOf.subarray(from, from + blockUnits))
  if (block.toLowerCase() === block) continue
  for (let unit = from; unit < from + blockUnits; unit++) {
    const lower = String.fromCharCode(unit).toLowerCase()
    if (lower.length === 1) lowerOf[unit] = lower.charCodeAt(0)
  }
}

/** Frequency of each letter and of the space per thousand characters of English, and of all other characters. */
const otherPerThousand = 3
const perThousand = new Map(
  Object.entries({ e: 100, t: 72, a: 65, o: 60, i: 58, n: 56, s: 52, r: 50, l: 33, h: 32, d: 31, c: 28, u: 22, m: 21 }),
)
for (const [letter, times] of Object.entries({
  p: 19,
  f: 17,
  g: 16,
  y: 13,
  b: 12,
  w: 12,
  v: 8,
  k: 6,
  x: 3,
  ' ': 170,
})) {
  perThousand.set(letter, times)
}

/** Estimated rarity of a text by its characters: the logarithm of the number of positions per occurrence. */
export function toRarity(text: string): number {
  return text
    .split('')
    .reduce((sum, character) => sum - Math.log((perThousand.get(character) ?? otherPerThousand) / 1000), 0)
}
