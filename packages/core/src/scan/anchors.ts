/** Told of which text was found, and where it ends. */
export type OnAnchor = (text: number, end: number) => void

/** Shorter ones stand everywhere. What is written without spaces says as much with fewer characters, of three bytes each. */
export const anchorCharactersMin = 3
const bytesMin = 3

/** So many characters of a text are its key; the class of each takes so many bits. */
const gramCharacters = 4
const classBits = 5
const gramMask = (1 << (classBits * gramCharacters)) - 1
/** Marks the class of a character that is a text's key by itself. */
const keyBit = 1 << classBits
/** Keys share so many slots: few enough to stay in the nearest cache. */
const slotBits = 18

/** What is kept of each text, in a row: its number, its length, how far it goes on behind its key, and its characters' place. */
const entryFields = 4

/**
 * Finds many short texts at once, whatever their case, in one pass: of each text the rarest four characters are its key,
 * and one bit tells of any four characters whether they may be a key; only there the texts of that key are compared.
 */
export class AnchorTable {
  /** The class of each code unit; 0 for all above ASCII. */
  readonly #classes = Uint8Array.from({ length: 65_536 }, (_, unit) => toClass(unit))
  readonly #isKey = new Uint8Array(1 << (slotBits - 3))
  /** Where the entries of each slot begin; those of the next one end them. Of key characters the same. */
  readonly #entriesFrom: Uint16Array
  readonly #entries: Uint16Array
  readonly #codes: Uint16Array

  constructor(texts: readonly string[]) {
    for (const text of texts) checkAnchor(text)
    this.#codes = Uint16Array.from(texts.join(''), (unit) => unit.charCodeAt(0))
    const bySlot = new KeyTable(texts, this.#classes).bySlot
    for (const slot of bySlot.keys()) if (slot < 1 << slotBits) this.#isKey[slot >>> 3]! |= 1 << (slot & 7)
    this.#entriesFrom = new Uint16Array((1 << slotBits) + 65_537)
    const starts = toStarts(texts)
    const entries: number[] = []
    for (let slot = 0; slot < this.#entriesFrom.length; slot++) {
      this.#entriesFrom[slot] = entries.length / entryFields
      for (const { text, behind } of bySlot.get(slot) ?? []) {
        entries.push(text, texts[text]!.length, behind, starts[text]!)
      }
    }
    if (Math.max(entries.length / entryFields, this.#codes.length) > 65_535)
      throw new TypeError('The anchors are too many.')
    this.#entries = Uint16Array.from(entries)
  }

  /** Passes over so many code units; tells of texts in the order of their keys. */
  find(codes: Uint16Array, size: number, onAnchor: OnAnchor): void {
    const classes = this.#classes
    const isKey = this.#isKey
    let gram = 0
    for (let at = 0; at < size; at++) {
      const one = classes[codes[at]!]!
      gram = ((gram << classBits) | (one & ~keyBit)) & gramMask
      const slot = toSlot(gram)
      if (((isKey[slot >>> 3]! >>> (slot & 7)) & 1) === 1) this.#compare(slot, codes, size, at, onAnchor)
      if (one === keyBit) this.#compare((1 << slotBits) + codes[at]!, codes, size, at, onAnchor)
    }
  }

  #compare(slot: number, codes: Uint16Array, size: number, at: number, onAnchor: OnAnchor): void {
    const entries = this.#entries
    const to = this.#entriesFrom[slot + 1]! * entryFields
    for (let entry = this.#entriesFrom[slot]! * entryFields; entry < to; entry += entryFields) {
      const end = at + 1 + entries[entry + 2]!
      const length = entries[entry + 1]!
      if (end <= size && this.#isAt(entries[entry + 3]!, length, codes, end - length)) onAnchor(entries[entry]!, end)
    }
  }

  #isAt(expected: number, length: number, codes: Uint16Array, start: number): boolean {
    if (start < 0) return false
    for (let index = 0; index < length; index++) {
      if (lowerOf[codes[start + index]!] !== this.#codes[expected + index]) return false
    }
    return true
  }
}

function toSlot(gram: number): number {
  return Math.imul(gram, 0x9e37_79b1) >>> (32 - slotBits)
}

interface Entry {
  readonly text: number
  /** How many characters of the text follow its key. */
  readonly behind: number
}

/** The keys of texts while the table is made. */
class KeyTable {
  readonly bySlot = new Map<number, Entry[]>()
  readonly #classes: Uint8Array

  /** Marks the classes of those characters that are keys by themselves. */
  constructor(texts: readonly string[], classes: Uint8Array) {
    this.#classes = classes
    for (const [text, { length }] of texts.entries()) {
      const units = Uint16Array.from(texts[text]!, (unit) => unit.charCodeAt(0))
      const keyLength = Math.min(gramCharacters, length)
      const at = this.#findKey(units, keyLength)
      if (at === -1) this.#addCharacter(text, units)
      else this.#addGrams(units.subarray(at, at + keyLength), { text, behind: length - at - keyLength })
    }
  }

  /** Whatever stands before a text of three characters. */
  #addGrams(units: Uint16Array, entry: Entry): void {
    const least = this.#toGram(units)
    const firsts = units.length < gramCharacters ? keyBit : 1
    const slots = Array.from({ length: firsts }, (_, first) => {
      return toSlot(least | (first << (classBits * (gramCharacters - 1))))
    })
    for (const slot of new Set(slots)) this.#add(slot, entry)
  }

  #addCharacter(text: number, units: Uint16Array): void {
    const at = units.findIndex((unit) => unit > 127)
    for (const key of new Set([units[at]!, toCapital(units[at]!)])) {
      this.#classes[key] = keyBit
      this.#add((1 << slotBits) + key, { text, behind: units.length - at - 1 })
    }
  }

  #add(slot: number, entry: Entry): void {
    const entries = this.bySlot.get(slot)
    if (entries) entries.push(entry)
    else this.bySlot.set(slot, [entry])
  }

  /** Where the characters of ASCII begin that are the best key of a text: rare, and the key of few others. Or -1. */
  #findKey(units: Uint16Array, length: number): number {
    let best = -1
    let most = -Infinity
    for (let at = 0; length >= anchorCharactersMin && at + length <= units.length; at++) {
      const key = units.subarray(at, at + length)
      const others = this.bySlot.get(toSlot(this.#toGram(key)))?.length ?? 0
      const worth = toKeyRarity(String.fromCharCode(...key)) - Math.log(others + 1)
      if (worth <= most || key.some((unit) => unit > 127)) continue
      best = at
      most = worth
    }
    return best
  }

  #toGram(units: Uint16Array): number {
    return units.reduce((gram, unit) => (gram << classBits) | (this.#classes[unit]! & ~keyBit), 0)
  }
}

const lowerOf = Uint16Array.from({ length: 65_536 }, (_, unit) => {
  const lower = String.fromCharCode(unit).toLowerCase()
  return lower.length === 1 ? lower.charCodeAt(0) : unit
})

function toCapital(unit: number): number {
  const capital = String.fromCharCode(unit).toUpperCase()
  return capital.length === 1 ? capital.charCodeAt(0) : unit
}

/** Letters have a class of their own, whatever their case; digits share one, and signs share the rest. */
function toClass(unit: number): number {
  const lower = unit | 32
  if (unit > 127) return 0
  if (lower >= 97 && lower <= 122) return lower - 96
  return unit >= 48 && unit <= 57 ? 27 : 28 + (unit & 3)
}

/** Where each text begins in all of them together. */
function toStarts(texts: readonly string[]): number[] {
  let at = 0
  return texts.map(({ length }) => (at += length) - length)
}

/** How often each letter stands in a thousand characters of English, and space behind them; and all else. */
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

/** How rare a text is, as far as its characters tell: the logarithm of one in so many places. */
export function toRarity(text: string): number {
  return text
    .split('')
    .reduce((sum, character) => sum - Math.log((perThousand.get(character) ?? otherPerThousand) / 1000), 0)
}

/** Words that stand in most texts about programs; what is a part of them makes a poor key. */
const commonWords = `
  the user name with script data file from type content http read return skill over event back code check when call list
  native this token function tool https:// require command service mode only item start import request session project
  that action value default pattern server share repository automatic string your context step update client connection
  document need contain access help component down process before message review wait security provide version install
  should make have into each used using after other error test output input system example first create path model
  instruction information application report agent config environment key result response build work time which form
  support available private public deploy construct preview every
`.split(/\s+/)
const commonText = commonWords.map((word) => ` ${word} `).join('\n')
const commonRarity = 7

function toKeyRarity(key: string): number {
  return commonText.includes(key) ? commonRarity : toRarity(key)
}

function checkAnchor(text: string): void {
  if (Buffer.byteLength(text) >= bytesMin && text === text.toLowerCase()) return
  throw new TypeError(`The anchor ${JSON.stringify(text)} is not three bytes of lower-case text at least.`)
}
