import { SlotPostings } from './slot-postings.ts'
import { type TermVector, valueOfImpact } from './term-vector.ts'

/** The skills whose texts count for the frequency of terms: those of an audience, such as guests. */
export interface Audience {
  /** Number of its skills. */
  readonly size: number
  /** By slot: a skill counts if its flags and the mask have a common bit. */
  readonly flags: Uint8Array
  readonly mask: number
}

/** Result of scoring. The next search overwrites the arrays. */
export interface NeedScores {
  /** By slot; integers, so that the sum does not depend on the order of addition. */
  readonly scores: Int32Array
  /** By slot: number of terms that the skill contains. */
  readonly counts: Uint8Array
  /** One more than the largest slot. */
  readonly end: number
  /** The score of a skill that contained all terms with the highest impact. */
  readonly scoreMax: number
  /** The highest score of a visible skill. */
  readonly best: number
  /** Number of distinct terms in the query. */
  readonly termCount: number
  /** The highest number of terms in one visible skill, and the number of terms that no skill of the audience contains. */
  readonly countMax: number
  readonly unknownCount: number
  /** By term: the score of a skill that contains it with the highest impact. */
  readonly values: ReadonlyMap<number, number>
  /** Whether the most frequent terms were left out because of the cost limit. */
  readonly isPartial: boolean
}

/** Postings that one search may read: about 20 ms. Terms are read by rarity until the next one would exceed the limit. */
const postingsPerSearchMax = 1_500_000
/**
 * The exponent that flattens the inverse document frequency: a need is described in common words as well as in rare
 * ones, and its rarest word is often irrelevant.
 */
const idfExponent = 0.55
const scoreUnit = 1 << 16

/** The flattened inverse document frequency of a term that `frequency` of `size` skills contain. */
export function idfOf(size: number, frequency: number): number {
  return Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5)) ** idfExponent
}

/**
 * Ranks skills by a described need: BM25F over all their text, the body included (S. Robertson, H. Zaragoza: The
 * probabilistic relevance framework: BM25 and beyond, 2009). Impacts are stored with the postings. The frequency of
 * terms is counted while searching, among the skills of the viewer's audience, so that other users' private skills
 * change no order.
 */
export class NeedIndex {
  readonly #postings = new SlotPostings()
  #scores = new Int32Array(0)
  #counts = new Uint8Array(0)
  /** By impact: the score of a term. */
  readonly #values = new Int32Array(valueOfImpact.length)
  #unknownCount = 0

  /** Bytes of memory. */
  get bytes(): number {
    return this.#postings.byteLength
  }

  /** Stores the terms of a slot, replacing the previous ones. */
  put(slot: number, { hashes, impacts }: TermVector): void {
    this.#postings.put(slot, hashes, impacts)
  }

  /** Removes the terms of a slot. */
  remove(slot: number): void {
    this.#postings.remove(slot)
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
    const postings = this.#postings
    const terms = Array.from(hashes, (hash) => postings.find(hash)).filter((term) => term >= 0)
    terms.sort((a, b) => postings.countOf(a) - postings.countOf(b) || postings.hashOf(a) - postings.hashOf(b))
    // A term that no skill contains counts like one that only hidden skills contain.
    const unknownValue = setValues(this.#values, audience.size, 0)
    const values = new Map(Array.from(hashes, (hash) => [hash, unknownValue]))
    let scoreMax = (hashes.size - terms.length) * unknownValue
    let left = postingsPerSearchMax
    let isPartial = false
    for (const term of terms) {
      left -= postings.countOf(term)
      if (left < 0) {
        isPartial = true
        break
      }
      const value = this.#addTerm(term, audience)
      values.set(postings.hashOf(term), value)
      scoreMax += value
    }
    const [scores, counts] = [this.#scores, this.#counts]
    let [best, countMax] = [0, 0]
    for (let slot = 0; slot < end; slot++) {
      if ((scores[slot]! <= best && counts[slot]! <= countMax) || !isVisible(slot)) continue
      best = Math.max(best, scores[slot]!)
      countMax = Math.max(countMax, counts[slot]!)
    }
    const unknownCount = this.#unknownCount + hashes.size - terms.length
    const termCount = hashes.size
    return { scores, counts, end, scoreMax, best, termCount, countMax, unknownCount, values, isPartial }
  }

  /** Adds the scores of one term, and returns the maximum for a skill. The inner loops must not allocate memory. */
  #addTerm(term: number, { size, flags, mask }: Audience): number {
    const postings = this.#postings
    const length = postings.read(term)
    const { slots, bytes: impacts } = postings
    let frequency = 0
    for (let i = 0; i < length; i++) if ((flags[slots[i]!]! & mask) !== 0) frequency++
    if (frequency === 0) this.#unknownCount++
    const values = this.#values
    const highest = setValues(values, size, frequency)
    const [scores, counts] = [this.#scores, this.#counts]
    // Most terms of a need are frequent: visiting every slot later is cheaper than a list of the slots found.
    for (let i = 0; i < length; i++) {
      const slot = slots[i]!
      scores[slot]! += values[impacts[i]!]!
      counts[slot]!++
    }
    return highest
  }

  #reset(end: number): void {
    this.#unknownCount = 0
    if (end <= this.#scores.length) {
      this.#scores.fill(0, 0, end)
      this.#counts.fill(0, 0, end)
      return
    }
    this.#scores = new Int32Array(Math.max(1024, end, this.#scores.length * 2))
    this.#counts = new Uint8Array(this.#scores.length)
  }
}

/** Sets the score of a term by impact, if `frequency` of `size` skills contain it. Returns the highest. */
function setValues(values: Int32Array, size: number, frequency: number): number {
  const factor = idfOf(size, frequency) * scoreUnit
  for (let impact = 0; impact < values.length; impact++) values[impact] = Math.ceil(valueOfImpact[impact]! * factor)
  return values.at(-1)!
}
