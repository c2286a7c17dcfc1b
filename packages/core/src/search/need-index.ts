import { growArray } from './grow-array.ts'
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
  readonly scores: Float64Array
  /** By slot: number of terms that the skill contains. */
  readonly counts: Uint8Array
  /** Slots with a score. */
  readonly slots: Int32Array<ArrayBuffer>
  /** The score of a skill that contained all terms with the highest impact. */
  readonly scoreMax: number
  /** The highest score of a visible skill. */
  readonly best: number
  /** Number of distinct terms in the query. */
  readonly termCount: number
  /** The highest number of terms in one visible skill, and the number of terms that no skill of the audience contains. */
  readonly countMax: number
  readonly unknownCount: number
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

/**
 * Ranks skills by a described need: BM25F over all their text, the body included (S. Robertson, H. Zaragoza: The
 * probabilistic relevance framework: BM25 and beyond, 2009). Impacts are stored with the postings. The frequency of
 * terms is counted while searching, among the skills of the viewer's audience, so that other users' private skills
 * change no order.
 */
export class NeedIndex {
  readonly #postings = new SlotPostings()
  #scores = new Float64Array(0)
  #counts = new Uint8Array(0)
  #slots = new Int32Array(0)
  #slotCount = 0
  #unknownCount = 0
  #listSlots = new Int32Array(1024)
  #listImpacts = new Uint8Array(1024)

  /** Bytes of memory. */
  get bytes(): number {
    return this.#postings.bytes
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
    let scoreMax = (hashes.size - terms.length) * toValues(audience.size, 0).at(-1)!
    let left = postingsPerSearchMax
    let isPartial = false
    for (const term of terms) {
      left -= postings.countOf(term)
      if (left < 0) {
        isPartial = true
        break
      }
      scoreMax += this.#addTerm(term, audience)
    }
    const slots = this.#slots.subarray(0, this.#slotCount)
    const [scores, counts] = [this.#scores, this.#counts]
    let [best, countMax] = [0, 0]
    for (const slot of slots) {
      if ((scores[slot]! <= best && counts[slot]! <= countMax) || !isVisible(slot)) continue
      best = Math.max(best, scores[slot]!)
      countMax = Math.max(countMax, counts[slot]!)
    }
    const unknownCount = this.#unknownCount + hashes.size - terms.length
    return { scores, counts, slots, scoreMax, best, termCount: hashes.size, countMax, unknownCount, isPartial }
  }

  /** Adds the scores of one term, and returns the maximum for a skill. The inner loops must not allocate memory. */
  #addTerm(term: number, { size, flags, mask }: Audience): number {
    const postings = this.#postings
    const count = postings.countOf(term)
    if (count > this.#listSlots.length) {
      this.#listSlots = growArray(this.#listSlots, count)
      this.#listImpacts = growArray(this.#listImpacts, this.#listSlots.length)
    }
    const [slots, impacts, slotOfEntry] = [this.#listSlots, this.#listImpacts, postings.slotOfEntry]
    const reader = postings.reader(term)
    let [entry, length, frequency] = [0, 0, 0]
    for (let left = count; left > 0; left--) {
      entry += reader.number()
      const impact = reader.byte()
      const slot = slotOfEntry[entry]!
      if (slot < 0) continue
      slots[length] = slot
      impacts[length++] = impact
      if ((flags[slot]! & mask) !== 0) frequency++
    }
    if (frequency === 0) this.#unknownCount++
    const values = toValues(size, frequency)
    const [scores, counts, found] = [this.#scores, this.#counts, this.#slots]
    let slotCount = this.#slotCount
    for (let i = 0; i < length; i++) {
      const slot = slots[i]!
      if (scores[slot] === 0) found[slotCount++] = slot
      scores[slot]! += values[impacts[i]!]!
      counts[slot]!++
    }
    this.#slotCount = slotCount
    return values.at(-1)!
  }

  #reset(end: number): void {
    for (let i = 0; i < this.#slotCount; i++) {
      this.#scores[this.#slots[i]!] = 0
      this.#counts[this.#slots[i]!] = 0
    }
    this.#slotCount = 0
    this.#unknownCount = 0
    if (end <= this.#scores.length) return
    this.#scores = new Float64Array(Math.max(1024, end, this.#scores.length * 2))
    this.#counts = new Uint8Array(this.#scores.length)
    this.#slots = new Int32Array(this.#scores.length)
  }
}

/** The score of a term by impact, if `frequency` of `size` skills contain it. */
function toValues(size: number, frequency: number): Float64Array {
  const idf = Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5)) ** idfExponent
  return valueOfImpact.map((value) => Math.ceil(value * idf * scoreUnit))
}
