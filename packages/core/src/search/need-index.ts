import { growArray } from './grow-array.ts'
import { Postings } from './postings.ts'
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
/** Compaction starts when this share of the entries is dead, and at least this number. */
const deadShareMax = 0.3
const deadMin = 1000
/** Postings that compaction copies for each posting that a change adds or removes, and at least. */
const copiedPerPosting = 8
const copiedMin = 2000

/**
 * Ranks skills by a described need: BM25F over all their text, the body included (S. Robertson, H. Zaragoza: The
 * probabilistic relevance framework: BM25 and beyond, 2009). Impacts are stored with the postings. The frequency of
 * terms is counted while searching, among the skills of the viewer's audience, so that other users' private skills
 * change no order.
 *
 * Each change adds an entry at the end of the postings; the entry of the previous text is dead. When many are dead,
 * each change also copies some lists without them, so that no single change takes long.
 */
export class NeedIndex {
  #postings = new Postings()
  #slotOfEntry = new Int32Array(1024)
  #entryOfSlot = new Int32Array(1024)
  #entries = 0
  #dead = 0
  #compaction: Compaction | undefined
  #scores = new Float64Array(0)
  #counts = new Uint8Array(0)
  #slots = new Int32Array(0)
  #slotCount = 0
  #unknownCount = 0
  #listSlots = new Int32Array(1024)
  #listImpacts = new Uint8Array(1024)

  /** Bytes of memory. */
  get bytes(): number {
    return this.#postings.bytes + (this.#compaction?.postings.bytes ?? 0) + this.#slotOfEntry.length * 4
  }

  /** Stores the terms of a slot, replacing the previous ones. */
  put(slot: number, { hashes, impacts }: TermVector): void {
    this.#kill(slot)
    const entry = this.#entries++
    if (entry === this.#slotOfEntry.length) this.#slotOfEntry = growArray(this.#slotOfEntry)
    if (slot >= this.#entryOfSlot.length) this.#entryOfSlot = growArray(this.#entryOfSlot, slot + 1)
    this.#slotOfEntry[entry] = slot
    this.#entryOfSlot[slot] = entry + 1
    this.#compaction?.addEntry(entry)
    for (let i = 0; i < hashes.length; i++) {
      const term = this.#postings.add(hashes[i]!, entry, impacts[i]!)
      this.#compaction?.addPosting(term, hashes[i]!, entry, impacts[i]!)
    }
    this.#compact(hashes.length)
  }

  /** Removes the terms of a slot. */
  remove(slot: number): void {
    this.#kill(slot)
    this.#compact(0)
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
    const [slots, impacts, slotOfEntry] = [this.#listSlots, this.#listImpacts, this.#slotOfEntry]
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

  #kill(slot: number): void {
    const entry = (this.#entryOfSlot[slot] ?? 0) - 1
    if (entry < 0) return
    this.#slotOfEntry[entry] = -1
    this.#entryOfSlot[slot] = 0
    this.#dead++
  }

  #compact(changed: number): void {
    if (!this.#compaction) {
      if (this.#dead < deadMin || this.#dead < this.#entries * deadShareMax) return
      this.#compaction = new Compaction(this.#postings, this.#slotOfEntry, this.#entries)
    }
    if (!this.#compaction.copy(copiedMin + changed * copiedPerPosting)) return
    const { postings, newEntries, size } = this.#compaction
    const slotOfEntry = new Int32Array(Math.max(1024, size))
    let dead = 0
    for (let entry = 0; entry < this.#entries; entry++) {
      const [to, slot] = [newEntries[entry]!, this.#slotOfEntry[entry]!]
      if (to < 0) continue
      slotOfEntry[to] = slot
      if (slot < 0) dead++
      else this.#entryOfSlot[slot] = to + 1
    }
    this.#postings = postings
    this.#slotOfEntry = slotOfEntry
    this.#entries = size
    this.#dead = dead
    this.#compaction = undefined
  }
}

/** The score of a term by impact, if `frequency` of `size` skills contain it. */
function toValues(size: number, frequency: number): Float64Array {
  const idf = Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5)) ** idfExponent
  return valueOfImpact.map((value) => Math.ceil(value * idf * scoreUnit))
}

/** A copy of postings without dead entries, made list by list while the original is searched and changed. */
class Compaction {
  readonly postings = new Postings()
  /** The new number of each entry; -1 if it was dead at the beginning. */
  newEntries: Int32Array
  /** Number of entries of the copy. */
  size = 0
  readonly #from: Postings
  /** The terms with lower numbers are copied. */
  #term = 0

  constructor(from: Postings, slotOfEntry: Int32Array, entries: number) {
    this.#from = from
    this.newEntries = new Int32Array(Math.max(1024, entries))
    for (let entry = 0; entry < entries; entry++) this.newEntries[entry] = slotOfEntry[entry]! < 0 ? -1 : this.size++
  }

  /** Numbers an entry that is added to the original. */
  addEntry(entry: number): void {
    if (entry >= this.newEntries.length) this.newEntries = growArray(this.newEntries)
    this.newEntries[entry] = this.size++
  }

  /** Adds a posting that was added to the original, unless the list of its term is copied later. */
  addPosting(term: number, hash: number, entry: number, impact: number): void {
    if (term < this.#term) this.postings.add(hash, this.newEntries[entry]!, impact)
  }

  /** Copies lists until a number of postings is reached. Returns whether all are copied. */
  copy(postingsMax: number): boolean {
    for (let left = postingsMax; left > 0 && this.#term < this.#from.size; this.#term++) {
      const count = this.#from.countOf(this.#term)
      const hash = this.#from.hashOf(this.#term)
      const reader = this.#from.reader(this.#term)
      let entry = 0
      for (let i = 0; i < count; i++) {
        entry += reader.number()
        const impact = reader.byte()
        const to = this.newEntries[entry]!
        if (to >= 0) this.postings.add(hash, to, impact)
      }
      left -= count + 1
    }
    return this.#term === this.#from.size
  }
}
