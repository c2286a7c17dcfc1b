import { growArray } from '../postings/grow-array.ts'
import { isIdeographic } from './tokenize.ts'

/** Minimum length of a corrected word: too many other words are one edit away from a shorter word. */
const repairLengthMin = 4
/** From this length on, a correction may be two edits away. */
const twoEditsLengthMin = 8

/** A possible correction. */
export interface Repair {
  id: number
  /** 1 or 2 edits; swapping two neighbours is one edit. */
  distance: number
}

/**
 * Words that may still be compared with the misspellings of a search: an attacker may publish thousands of similar
 * words.
 */
export interface RepairBudget {
  left: number
}

interface Among {
  readonly distanceMax: number
  readonly isKnown: (id: number) => boolean
  readonly budget: RepairBudget
}

/** Tables are chosen by the upper bits of a hash; each table uses the lower bits. */
const tableBits = 6

/**
 * Finds corrections of misspellings with the SymSpell algorithm: each word is indexed under itself and under every form
 * with one character deleted, so that deletions from a misspelling lead to the word. A large catalogue has millions of
 * forms: growing one single table would block the event loop for a third of a second.
 */
export class TypoDictionary {
  #wordOf: (id: number) => string
  readonly #tables = Array.from({ length: 1 << tableBits }, () => new FormTable())

  /** `wordOf` returns the word with an id. */
  constructor(wordOf: (id: number) => string) {
    this.#wordOf = wordOf
  }

  /** Adds a word. */
  add(id: number, word: string): void {
    if (!isRepairable(word)) return
    for (const hash of formHashes(word)) this.#tableOf(hash).add(hash, id)
  }

  /** Removes a word. */
  remove(id: number, word: string): void {
    if (!isRepairable(word)) return
    for (const hash of formHashes(word)) this.#tableOf(hash).remove(hash, id)
  }

  /**
   * Corrections of a misspelling among known words, nearest first; never the word itself. Compares at most
   * `budget.left` known words, and reduces `budget.left` by the number of compared words.
   */
  findRepairs(misspelling: string, isKnown: (id: number) => boolean, budget: RepairBudget): Repair[] {
    if (misspelling.length < repairLengthMin || isIdeographic(misspelling)) return []
    const nearest = this.#collect(misspelling, formHashes(misspelling), { distanceMax: 1, isKnown, budget })
    if (nearest.length > 0 || misspelling.length < twoEditsLengthMin) return nearest
    return this.#collect(misspelling, secondFormHashes(misspelling), { distanceMax: 2, isKnown, budget })
  }

  #collect(misspelling: string, hashes: Set<number>, { distanceMax, isKnown, budget }: Among): Repair[] {
    const repairs: Repair[] = []
    const seen = new Set<number>()
    for (const hash of hashes) {
      for (const id of this.#tableOf(hash).idsOf(hash)) {
        const word = this.#wordOf(id)
        if (Math.abs(word.length - misspelling.length) > distanceMax || seen.has(id)) continue
        seen.add(id)
        if (!isKnown(id)) continue
        if (budget.left === 0) break
        budget.left -= 1
        const distance = editDistance(misspelling, word)
        if (distance > 0 && distance <= distanceMax) repairs.push({ id, distance })
      }
    }
    return repairs.toSorted((a, b) => a.distance - b.distance)
  }

  #tableOf(hash: number): FormTable {
    return this.#tables[hash >>> (32 - tableBits)]!
  }
}

/** Whether a word can be a correction. Numbers are excluded: 2024 is not a misspelling of 2025. */
function isRepairable(word: string): boolean {
  return word.length >= repairLengthMin && /\p{L}/u.test(word) && !isIdeographic(word)
}

function formHashes(word: string): Set<number> {
  const hashes = new Set([hashOf(word, -1, -1)])
  for (let i = 0; i < word.length; i++) hashes.add(hashOf(word, i, -1))
  return hashes
}

function secondFormHashes(word: string): Set<number> {
  const hashes = formHashes(word)
  for (let i = 0; i < word.length; i++) {
    for (let j = i + 1; j < word.length; j++) hashes.add(hashOf(word, i, j))
  }
  return hashes
}

/** FNV-1a of a word without the characters at two positions. */
function hashOf(word: string, without: number, andWithout: number): number {
  let hash = 0x811c9dc5 | 0
  for (let i = 0; i < word.length; i++) {
    if (i !== without && i !== andWithout) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193)
  }
  return hash ^ (hash >>> 15)
}

/** Number of insertions, deletions, substitutions and swaps of neighbours that turn one word into the other. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same)
      if (
        i > 1 &&
        j > 1 &&
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      ) {
        best = Math.min(best, beforeLast[j - 2]! + 1)
      }
      row.push(best)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}

const sizeMin = 1 << 6

/**
 * A multimap from hashes to numbers: chains in typed arrays, 12 bytes per entry. Doubling its size takes milliseconds
 * per hundred thousand entries, so callers with millions of entries spread them over several tables.
 */
class FormTable {
  #heads = new Int32Array(sizeMin)
  #hashes = new Int32Array(sizeMin)
  #ids = new Int32Array(sizeMin)
  #nexts = new Int32Array(sizeMin)
  #free = 0
  #end = 1
  #size = 0

  /** Adds a number under a hash. */
  add(hash: number, id: number): void {
    if (this.#size >= this.#heads.length) this.#rehash()
    const at = this.#take()
    const bucket = hash & (this.#heads.length - 1)
    this.#hashes[at] = hash
    this.#ids[at] = id
    this.#nexts[at] = this.#heads[bucket]!
    this.#heads[bucket] = at
    this.#size++
  }

  /** Removes a number from a hash. */
  remove(hash: number, id: number): void {
    const bucket = hash & (this.#heads.length - 1)
    let before = 0
    for (let at = this.#heads[bucket]!; at !== 0; before = at, at = this.#nexts[at]!) {
      if (this.#hashes[at] !== hash || this.#ids[at] !== id) continue
      if (before === 0) this.#heads[bucket] = this.#nexts[at]!
      else this.#nexts[before] = this.#nexts[at]!
      this.#ids[at] = 0
      this.#nexts[at] = this.#free
      this.#free = at
      this.#size--
      return
    }
  }

  /** The numbers under a hash. */
  *idsOf(hash: number): Generator<number> {
    for (let at = this.#heads[hash & (this.#heads.length - 1)]!; at !== 0; at = this.#nexts[at]!) {
      if (this.#hashes[at] === hash) yield this.#ids[at]!
    }
  }

  #take(): number {
    if (this.#free !== 0) {
      const at = this.#free
      this.#free = this.#nexts[at]!
      return at
    }
    if (this.#end === this.#ids.length) {
      this.#hashes = growArray(this.#hashes)
      this.#ids = growArray(this.#ids)
      this.#nexts = growArray(this.#nexts)
    }
    return this.#end++
  }

  #rehash(): void {
    this.#heads = new Int32Array(this.#heads.length * 2)
    for (let at = 1; at < this.#end; at++) {
      if (this.#ids[at] === 0) continue // freed
      const bucket = this.#hashes[at]! & (this.#heads.length - 1)
      this.#nexts[at] = this.#heads[bucket]!
      this.#heads[bucket] = at
    }
  }
}
