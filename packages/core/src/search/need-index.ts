import type { SearchDocument } from './search-document.ts'
import { SlotPostings } from './postings/slot-postings.ts'
import { type TermVector, valueOfImpact } from './words/term-vector.ts'
import { needTermsMax } from './words/tokenize.ts'

/** The skills whose texts count for the frequency of terms: skills that all guests, or all signed-in users, may see. */
export interface Audience {
  /** Number of skills in the audience. */
  readonly size: number
  readonly isGuest: boolean
}

/** Result of scoring. The next search overwrites the arrays. */
export interface NeedScores {
  /** By slot; integers, so that the sum does not depend on the order of addition. */
  readonly scores: Int32Array
  /** By slot: number of terms that the skill contains. */
  readonly counts: Uint16Array
  /** One more than the largest slot. */
  readonly end: number
  /** The score that a skill would have if it contained every term, each with the highest impact. */
  readonly scoreMax: number
  /** The highest score of a visible skill. */
  readonly best: number
  /** Number of distinct terms in the query. */
  readonly termCount: number
  /** The most terms of the query that one visible skill contains. */
  readonly countMax: number
  /** Number of terms of the query that no skill of the audience contains. */
  readonly unknownCount: number
  /** For each term that was read: what the term adds to the score of a skill at the highest impact. */
  readonly values: ReadonlyMap<number, number>
  /** Whether the most frequent terms were left out because of the cost limit. */
  readonly isPartial: boolean
}

/**
 * Postings of the audience's skills that one search may read: about 20 ms. Terms are read by rarity until the next term
 * would exceed the limit, or would be the 129th term that some skill contains. In private skills, only the first 128
 * terms of the query count: a limit that depended on the content of private skills would reveal the words of other
 * users' skills.
 */
const postingsPerSearchMax = 1_500_000
/**
 * The exponent that flattens the inverse document frequency: the rarest word of a described need is often irrelevant.
 */
const idfExponent = 0.55
const scoreUnit = 1 << 16
/**
 * A sum is the score times this unit, plus the number of terms: one addition per posting in place of two. A query has
 * at most `needTermsMax` public and `needTermsMax` private terms.
 */
const countUnit = 512

/** The flattened inverse document frequency of a term that `frequency` of `size` skills contain. */
function idfOf(size: number, frequency: number): number {
  return Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5)) ** idfExponent
}

/**
 * Ranks skills by a described need: BM25F over all their text, the body included (S. Robertson, H. Zaragoza: The
 * probabilistic relevance framework: BM25 and beyond, 2009). Impacts are stored with the postings. The frequency of
 * terms is counted while searching, among the skills of the viewer's audience, so that other users' private skills
 * change no order.
 */
export class NeedIndex {
  readonly #parts = { guests: new SlotPostings(), users: new SlotPostings(), readers: new SlotPostings() }
  #scores = new Int32Array(0)
  #counts = new Uint16Array(0)
  /** By impact: the number that a term adds to a sum. */
  readonly #values = new Float64Array(valueOfImpact.length)

  /** Bytes of memory. */
  get bytes(): number {
    const parts = Object.values(this.#parts).reduce((sum, { byteLength }) => sum + byteLength, 0)
    return parts + this.#scores.byteLength + this.#counts.byteLength
  }

  /** Stores the terms of a slot, replacing the previous terms. */
  put(slot: number, { hashes, impacts }: TermVector, audience: SearchDocument['audience']): void {
    const part = this.#parts[audience]
    for (const other of Object.values(this.#parts)) if (other !== part) other.remove(slot)
    part.put(slot, hashes, impacts)
  }

  /** Removes the terms of a slot. */
  remove(slot: number): void {
    for (const part of Object.values(this.#parts)) part.remove(slot)
  }

  /**
   * Scores the skills that contain one of the terms, visible or not. `end` is one more than the largest slot, and
   * `isVisible` returns whether the viewer may see the skill in a slot.
   */
  score(
    hashes: ReadonlySet<number>,
    { audience, end, isVisible }: { audience: Audience; end: number; isVisible: (slot: number) => boolean },
  ): NeedScores {
    this.#reset(end)
    const { guests, users, readers: own } = this.#parts
    const parts = audience.isGuest ? [guests] : [guests, users]
    const terms = Array.from(hashes, (hash) => ({
      hash,
      cost: parts.reduce((sum, part) => sum + part.countOf(hash), 0),
    }))
    terms.sort((a, b) => a.cost - b.cost || a.hash - b.hash)
    const values = new Map<number, number>()
    const ownHashes = new Set(audience.isGuest ? [] : [...hashes].slice(0, needTermsMax))
    let [scoreMax, unknownCount, knownCount] = [0, 0, 0]
    let left = postingsPerSearchMax
    for (const { hash, cost } of terms) {
      left -= cost
      if (left < 0 || (cost > 0 && ++knownCount > needTermsMax)) break
      const frequency = parts.reduce((sum, part) => sum + part.countLive(hash), 0)
      if (frequency === 0) unknownCount++
      const highest = setValues(this.#values, audience.size, frequency)
      values.set(hash, highest)
      scoreMax += highest
      for (const part of parts) part.addTo(hash, this.#values)
      if (ownHashes.has(hash)) own.addTo(hash, this.#values)
    }
    const isPartial = values.size < hashes.size || (!audience.isGuest && ownHashes.size < hashes.size)
    const [scores, counts] = [this.#scores, this.#counts]
    for (const part of audience.isGuest ? parts : [...parts, own]) part.readSums(countUnit, scores, counts)
    let [best, countMax] = [0, 0]
    for (let slot = 0; slot < end; slot++) {
      if ((scores[slot]! <= best && counts[slot]! <= countMax) || !isVisible(slot)) continue
      best = Math.max(best, scores[slot]!)
      countMax = Math.max(countMax, counts[slot]!)
    }
    return { scores, counts, end, scoreMax, best, termCount: hashes.size, countMax, unknownCount, values, isPartial }
  }

  #reset(end: number): void {
    for (const part of Object.values(this.#parts)) part.resetSums()
    if (end <= this.#scores.length) {
      this.#scores.fill(0, 0, end)
      this.#counts.fill(0, 0, end)
      return
    }
    this.#scores = new Int32Array(Math.max(1024, end, this.#scores.length * 2))
    this.#counts = new Uint16Array(this.#scores.length)
  }
}

/**
 * Sets in `values`, for each impact, the number that a term contained in `frequency` of `size` skills adds to a sum.
 * Returns the highest number.
 */
function setValues(values: Float64Array, size: number, frequency: number): number {
  const factor = idfOf(size, frequency) * scoreUnit
  for (let impact = 0; impact < values.length; impact++)
    values[impact] = Math.ceil(valueOfImpact[impact]! * factor) * countUnit + 1
  return (values.at(-1)! - 1) / countUnit
}
