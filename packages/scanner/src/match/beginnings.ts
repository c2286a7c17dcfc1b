/** Number of characters of a match by which it is found. */
const beginCharacters = 4
/** At the end of a beginning: what follows does not matter. */
export const anything = '\0'
/** Before a beginning: `\b`. */
export const wordEdge = '\x01'
/** With more beginnings than this, a match may begin almost everywhere. */
const beginningsMax = 200

/** Letters and the space have classes of their own. */
const classBits = 5
const classCount = 1 << classBits
/** The class of each code unit, the same for both cases of a letter. */
const classOf = new Uint8Array(65_536).fill(31)
for (let unit = 0; unit < 128; unit++) classOf[unit] = unit === 32 ? 27 : 28 + (unit % 3)
for (let letter = 1; letter <= 26; letter++) classOf[64 + letter] = classOf[96 + letter] = letter

/** Hashes of the classes of a beginning have 13 bits; one more tells whether a character of a word precedes it. */
const hashMask = 0x1fff
const inWord = 0x2000
const afterUnit = new Uint16Array(65_536)
for (let unit = 0; unit < 128; unit++) if (/\w/.test(String.fromCharCode(unit))) afterUnit[unit] = inWord

/** Joins the beginnings of two adjacent parts: texts of up to four characters. */
export function joinBeginnings(some: readonly string[], others: readonly string[]): readonly string[] {
  const joined = new Set<string>()
  for (const text of some) {
    if (isComplete(text)) joined.add(text)
    else for (const other of others) joined.add(join(text, other))
    if (joined.size > beginningsMax) return limitBeginnings(some.map(openBeginning))
  }
  return [...joined]
}

function join(text: string, other: string): string {
  const joined = text === '' ? other : text + other.replace(wordEdge, '')
  return joined.slice(0, beginCharacters + Number(joined.startsWith(wordEdge)))
}

/** Each beginning once; anything if they are too many. */
export function limitBeginnings(beginnings: readonly string[]): readonly string[] {
  const different = new Set(beginnings)
  return different.size > beginningsMax ? [anything] : [...different]
}

/** A beginning after which any characters follow. */
export function openBeginning(text: string): string {
  return isComplete(text) ? text : text + anything
}

/** Whether what follows the beginnings does not matter. */
export function areComplete(beginnings: readonly string[]): boolean {
  return beginnings.every(isComplete)
}

function isComplete(text: string): boolean {
  return text.length >= beginCharacters + Number(text.startsWith(wordEdge)) || text.endsWith(anything)
}

/** A bit for each hash of a beginning; undefined if a match may begin almost everywhere. */
export function toBeginningMask(beginnings: readonly string[]): Uint32Array | undefined {
  const mask = new Uint32Array(1 << 9)
  for (const text of beginnings) {
    const known = text.replace(wordEdge, '').replace(anything, '').slice(0, beginCharacters)
    if (known.length < beginCharacters - 2) return undefined
    const isAtEdge = text.startsWith(wordEdge) && afterUnit[known.charCodeAt(0)] === inWord
    const rest = classCount ** (beginCharacters - known.length)
    let classes = 0
    for (let at = 0; at < known.length; at++) classes = classes * classCount + classOf[known.charCodeAt(at)]!
    for (let each = 0; each < rest; each++) {
      const hash = toHash(classes * rest + each)
      mask[hash >>> 5]! |= 1 << (hash & 31)
      if (!isAtEdge) mask[(hash | inWord) >>> 5]! |= 1 << (hash & 31)
    }
  }
  return mask
}

function toHash(classes: number): number {
  return (classes ^ (classes >>> 7)) & hashMask
}

/** The hashes of what begins at each position of a piece of text. Reused for each piece. */
export class Beginnings {
  readonly #hashes: Uint16Array

  constructor(charactersMax: number) {
    this.#hashes = new Uint16Array(charactersMax)
  }

  /** Replaces the previous piece. */
  read(codes: Uint16Array, size: number): void {
    const hashes = this.#hashes
    const [classes, after] = [classOf, afterUnit]
    let following = 0
    for (let at = size - 1; at >= 0; at--) {
      following = (following >>> classBits) | (classes[codes[at]!]! << (classBits * (beginCharacters - 1)))
      const hash = (following ^ (following >>> 7)) & hashMask
      hashes[at] = at === 0 ? hash : hash | after[codes[at - 1]!]!
    }
  }

  /** The first position between two, the second exclusive, at which a match may begin; the second if there is none. */
  find(mask: Uint32Array, from: number, to: number): number {
    const hashes = this.#hashes
    let at = from
    while (at < to && ((mask[hashes[at]! >>> 5]! >>> (hashes[at]! & 31)) & 1) === 0) at++
    return at
  }

  /** Whether a match may begin at a position before which the text is cut. */
  mayBegin(mask: Uint32Array, at: number): boolean {
    const hash = this.#hashes[at]! & hashMask
    return ((mask[hash >>> 5]! >>> (hash & 31)) & 1) === 1
  }
}
