import { stemmer } from 'stemmer'
import { growArray } from '../postings/grow-array.ts'
import { addUmlautForms, fieldLengthMax, isStopWord, pushTokens, toFoldedPlainText } from './tokenize.ts'

/** How often each stem occurs in a text, by its hash, and the number of all tokens. */
export interface StemCounts {
  readonly stems: ReadonlyMap<number, number>
  readonly length: number
}

/** The stem of an English word (M. Porter: An algorithm for suffix stripping, 1980); other words are unchanged. */
export function toStem(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word
}

/** The hash of a word's stem: FNV-1a with a final mix, as a signed 32-bit number. */
export function hashStem(word: string): number {
  const stem = toStem(word)
  let hash = fnvBasis
  for (let i = 0; i < stem.length; i++) hash = Math.imul(hash ^ stem.charCodeAt(i), fnvPrime)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 12)
}

/**
 * Counts the stems of the tokens of a text, without stop words. Equals counting the result of `tokenize`, but is
 * several times faster, because no string is made for a word that an earlier text contained.
 */
export function countStems(text: string): StemCounts {
  const { hashes, counts, length } = listStems(text)
  return { stems: new Map(hashes.map((hash, i) => [hash, counts[i]!])), length }
}

/** Like {@link countStems}, but returns lists: a long text fills them in a third of the time of a map. */
export function listStems(text: string): { hashes: number[]; counts: number[]; length: number } {
  if (knownUnits.size > knownWordsMax || knownUnits.length > knownUnitsMax) knownUnits = new KnownWords()
  const plain = toFoldedPlainText(addUmlautForms(text.slice(0, fieldLengthMax)))
  const { found, counts } = knownUnits.read(plain)
  const stems: KnownStem[] = []
  let length = 0
  for (const id of found) {
    const word = knownUnits.at(id)
    const count = counts[id]!
    for (const stem of word.stems) {
      if (stem.count === 0) stems.push(stem)
      stem.count += count
    }
    length += word.tokens * count
    counts[id] = 0
  }
  const result = { hashes: stems.map(({ hash }) => hash), counts: stems.map(({ count }) => count), length }
  for (const stem of stems) stem.count = 0
  return result
}

const fnvBasis = 0x811c9dc5 | 0
const fnvPrime = 0x01000193

/** A stem, which words share, and how often the text that is being read contains it. */
interface KnownStem {
  readonly hash: number
  count: number
}

/** The number of a word's tokens, and the stems of the tokens that are not stop words. */
interface KnownWord {
  readonly tokens: number
  readonly stems: readonly KnownStem[]
}

/** The cache is cleared when it exceeds this number of words or UTF-16 units. */
const knownWordsMax = 30_000
const knownUnitsMax = 400_000

/** Words of recent texts, in a hash table with linear probing. */
class KnownWords {
  readonly #words: KnownWord[] = []
  readonly #stems = new Map<number, KnownStem>()
  /** The UTF-16 units of all words; by id: the end of a word, where the next one starts. */
  #units = new Uint16Array(64 * 1024)
  #ends = new Int32Array(4096)
  /** The hash table, at most half full: 0 is free; any other number is the id of a word. */
  #table = new Int32Array(16 * 1024)
  #hashes = new Int32Array(4096)
  #counts = new Int32Array(4096)

  constructor() {
    this.#words.push({ tokens: 0, stems: [] })
  }

  get size(): number {
    return this.#words.length
  }

  get length(): number {
    return this.#ends[this.size - 1]!
  }

  at(id: number): KnownWord {
    return this.#words[id]!
  }

  /**
   * Finds the words of a plain text: their ids, and by id how often the text contains it. The caller resets the counts.
   * The loops use no module-level name: that would double their time.
   */
  read(plain: string): { found: number[]; counts: Int32Array } {
    const [basis, prime, kindOf, word, none] = [fnvBasis, fnvPrime, unitKinds, inWord, outside]
    const found: number[] = []
    const { length } = plain
    for (let i = 0; i < length;) {
      const start = i
      let hash = basis
      for (; i < length; i++) {
        const unit = plain.charCodeAt(i)
        let kind = kindOf[unit]!
        if (kind > word) kind = findUnitKind(plain, i)
        if (kind === none) break
        hash = Math.imul(hash ^ unit, prime)
      }
      if (i === start) {
        i++
        continue
      }
      const id = this.#find(plain, start, i, hash)
      if (this.#counts[id]!++ === 0) found.push(id)
    }
    return { found, counts: this.#counts }
  }

  #find(plain: string, start: number, end: number, hash: number): number {
    const [table, hashes, ends, units] = [this.#table, this.#hashes, this.#ends, this.#units]
    const mask = table.length - 1
    let at = (hash ^ (hash >>> 15)) & mask
    for (; table[at] !== 0; at = (at + 1) & mask) {
      const id = table[at]!
      if (hashes[id] !== hash) continue
      let known = ends[id - 1]!
      if (ends[id]! - known !== end - start) continue
      let i = start
      while (i < end && units[known] === plain.charCodeAt(i)) {
        i++
        known++
      }
      if (i === end) return id
    }
    return this.#add(plain.slice(start, end), hash)
  }

  #add(word: string, hash: number): number {
    const id = this.#words.length
    const tokens: string[] = []
    pushTokens(word, true, tokens)
    this.#words.push({ tokens: tokens.length, stems: this.#toStems(tokens) })
    const start = this.#ends[id - 1]!
    const end = start + word.length
    if (end > this.#units.length) this.#units = growArray(this.#units, end)
    for (let i = 0; i < word.length; i++) this.#units[start + i] = word.charCodeAt(i)
    if (id === this.#ends.length) {
      this.#ends = growArray(this.#ends)
      this.#hashes = growArray(this.#hashes)
      this.#counts = growArray(this.#counts)
    }
    this.#ends[id] = end
    this.#hashes[id] = hash
    if (id * 2 > this.#table.length) this.#grow()
    this.#insert(id)
    return id
  }

  #toStems(tokens: readonly string[]): KnownStem[] {
    return tokens
      .filter((token) => !isStopWord(token))
      .map((token) => {
        const hash = hashStem(token)
        let stem = this.#stems.get(hash)
        if (!stem) this.#stems.set(hash, (stem = { hash, count: 0 }))
        return stem
      })
  }

  #grow(): void {
    this.#table = new Int32Array(this.#table.length * 2)
    for (let id = 1; id < this.size - 1; id++) this.#insert(id)
  }

  #insert(id: number): void {
    const hash = this.#hashes[id]!
    const mask = this.#table.length - 1
    let at = (hash ^ (hash >>> 15)) & mask
    while (this.#table[at] !== 0) at = (at + 1) & mask
    this.#table[at] = id
  }
}

let knownUnits = new KnownWords()

/** The kinds of UTF-16 units. */
const [outside, inWord, unknown] = [0, 1, 2]
const unitKinds = new Uint8Array(0x1_00_00).fill(unknown)
const isWordCharacter = /^[\p{L}\p{N}\p{M}]$/u

/** Whether the unit at a position belongs to a word. Half of a surrogate pair depends on the other half. */
function findUnitKind(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  if (unit < 0xd800 || unit > 0xdfff) return (unitKinds[unit] = isWordCharacter.test(text[at]!) ? inWord : outside)
  const start = unit < 0xdc00 ? at : at - 1
  return isWordCharacter.test(String.fromCodePoint(text.codePointAt(Math.max(0, start))!)) ? inWord : outside
}
