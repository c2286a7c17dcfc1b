const bytesMin = 3
const unitsMin = 2

/** The beginnings of texts are told apart by some bits of their first code units. */
const bitsOfUnit = 5
const unitsOfKey = 4
const keyMask = 2 ** (bitsOfUnit * unitsOfKey) - 1
const unitMask = 2 ** bitsOfUnit - 1

/**
 * Finds many short texts at once, ignoring case: a text is compared where its first code units may be. That is rare enough to
 * be about as fast as an automaton, and the time is linear in the length of what is searched.
 */
export class TextFinder {
  /** The numbers of the texts that the last search found, and for each text its positions in ascending order. */
  readonly found: number[] = []
  readonly startsOf: readonly number[][]
  readonly #texts: readonly string[]
  /** For each key, the place in the lists of the texts that may begin there; 0 for none. */
  readonly #listOf = new Uint32Array(keyMask + 1)
  readonly #lists: number[][] = [[]]

  /** Throws a `TypeError` if a text is too short or not in lower case. */
  constructor(texts: readonly string[]) {
    this.#texts = texts
    this.startsOf = texts.map(() => [])
    for (const [number, text] of texts.entries()) {
      checkText(text)
      // Any units may follow a short text.
      const free = bitsOfUnit * Math.max(0, unitsOfKey - text.length)
      let key = 0
      for (let at = 0; at < Math.min(text.length, unitsOfKey); at++) key = toNextKey(key, text.charCodeAt(at))
      for (let rest = 0; rest < 2 ** free; rest++) this.#add((key << free) | rest, number)
    }
  }

  #add(key: number, number: number): void {
    if (this.#listOf[key] === 0) this.#listOf[key] = this.#lists.push([]) - 1
    this.#lists[this.#listOf[key]!]!.push(number)
  }

  /** Searches the first `size` code units. */
  find(codes: Uint16Array, size: number): void {
    for (const number of this.found) this.startsOf[number]!.length = 0
    this.found.length = 0
    const [listOf, lower] = [this.#listOf, lowerOf]
    let key = 0
    for (let at = 0; at < size + unitsOfKey - 1; at++) {
      key = ((key << bitsOfUnit) | (at < size ? lower[codes[at]!]! & unitMask : 0)) & keyMask
      if (listOf[key] !== 0) this.#compare(this.#lists[listOf[key]!]!, codes, at - unitsOfKey + 1, size)
    }
  }

  #compare(list: readonly number[], codes: Uint16Array, start: number, size: number): void {
    if (start < 0) return
    for (const number of list) {
      const text = this.#texts[number]!
      if (start + text.length > size || !isAt(text, codes, start)) continue
      if (this.startsOf[number]!.push(start) === 1) this.found.push(number)
    }
  }
}

function toNextKey(key: number, unit: number): number {
  return (key << bitsOfUnit) | (unit & unitMask)
}

function checkText(text: string): void {
  const isLong = text.length >= unitsMin && Buffer.byteLength(text) >= bytesMin
  if (isLong && text === text.toLowerCase()) return
  throw new TypeError(
    `The anchor ${JSON.stringify(text)} must be lower-case text of at least three bytes in UTF-8 and two characters.`,
  )
}

/** Compares from the end: the beginning is known to be similar. */
function isAt(text: string, codes: Uint16Array, start: number): boolean {
  for (let at = text.length - 1; at >= 0; at--) if (lowerOf[codes[start + at]!] !== text.charCodeAt(at)) return false
  return true
}

/** Above these, no letter of a rule has two cases: Latin, Greek, Cyrillic and Armenian. */
const casedUnits = 0x590
/** The lower-case letter of each code unit. Filled by a loop: it is part of the start of each thread. */
const lowerOf = new Uint16Array(65_536)
for (let unit = 0; unit < lowerOf.length; unit++) {
  const lower = unit < casedUnits ? String.fromCharCode(unit).toLowerCase() : ''
  lowerOf[unit] = lower.length === 1 ? lower.charCodeAt(0) : unit
}
