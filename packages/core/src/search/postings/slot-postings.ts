import { growArray } from './grow-array.ts'
import { Postings } from './postings.ts'

/** Compaction starts when at least this share of the entries, and at least `deadMin` of them, are dead. */
const deadShareMax = 0.3
const deadMin = 1000
/** Postings that compaction copies for each posting that a change adds or removes; per change at least `copiedMin`. */
const copiedPerPosting = 8
const copiedMin = 2000

/**
 * Postings of slots whose terms may be replaced and removed. Each change adds an entry at the end of the postings; the
 * entry of the previous text is dead. When many entries are dead, each change also copies some lists without the dead
 * entries, so that no single change takes long.
 */
export class SlotPostings {
  /** The result of {@link read}; the next call overwrites it. */
  slots = new Int32Array(1024)
  bytes = new Uint8Array(1024)
  #postings = new Postings()
  #slotOfEntry = new Int32Array(1024)
  #entryOfSlot = new Int32Array(1024)
  /** The sums of a search by entry: sums by slot would need a table in the loop that adds. */
  #sums = new Float64Array(0)
  #entries = 0
  #dead = 0
  #compaction: Compaction | undefined

  /** Bytes of memory. */
  get byteLength(): number {
    const copy = this.#compaction
    const entries = (this.#slotOfEntry.length + this.#entryOfSlot.length + (copy?.newEntries.length ?? 0)) * 4
    return (
      this.#postings.bytes +
      (copy?.postings.bytes ?? 0) +
      entries +
      this.#sums.byteLength +
      this.slots.byteLength +
      this.bytes.byteLength
    )
  }

  /** Number of postings of a term, postings of dead entries included. */
  countOf(hash: number): number {
    const term = this.#postings.find(hash)
    return term < 0 ? 0 : this.#postings.countOf(term)
  }

  /**
   * Reads a term's postings, without dead entries, in the order in which the entries were put. Sets the first elements
   * of `slots` and `bytes` and returns their number.
   */
  read(hash: number): number {
    const term = this.#postings.find(hash)
    if (term < 0) return 0
    const count = this.#postings.countOf(term)
    if (count > this.slots.length) {
      this.slots = growArray(this.slots, count)
      this.bytes = growArray(this.bytes, this.slots.length)
    }
    return this.#postings.read(term, this.#slotOfEntry, this.slots, this.bytes)
  }

  /** Number of postings of a term, without dead entries. */
  countLive(hash: number): number {
    if (this.#dead === 0) return this.countOf(hash)
    const term = this.#postings.find(hash)
    return term < 0 ? 0 : this.#postings.countIn(term, this.#slotOfEntry)
  }

  /** Sets the sums of all slots to 0. */
  resetSums(): void {
    if (this.#sums.length < this.#entries) this.#sums = new Float64Array(this.#slotOfEntry.length)
    else this.#sums.fill(0, 0, this.#entries)
  }

  /** Adds the value of the byte of each of a term's postings to the slot's sum. */
  addTo(hash: number, values: Float64Array): void {
    const term = this.#postings.find(hash)
    if (term >= 0) this.#postings.addTo(term, values, this.#sums)
  }

  /** Divides the sum of each slot by `unit`: sets the quotient in `quotients` and the remainder in `remainders`. */
  readSums(unit: number, quotients: Int32Array, remainders: Uint16Array): void {
    const [sums, slots] = [this.#sums, this.#slotOfEntry]
    for (let entry = 0; entry < this.#entries; entry++) {
      const sum = sums[entry]!
      const slot = slots[entry]!
      if (sum === 0 || slot < 0) continue
      const quotient = Math.floor(sum / unit)
      quotients[slot] = quotient
      remainders[slot] = sum - quotient * unit
    }
  }

  /**
   * Stores the terms of a slot and a byte for each term, replacing the previous terms. A term may occur several times.
   */
  put(slot: number, hashes: Int32Array, bytes: Uint8Array): void {
    this.#kill(slot)
    const entry = this.#entries++
    if (entry === this.#slotOfEntry.length) this.#slotOfEntry = growArray(this.#slotOfEntry)
    if (slot >= this.#entryOfSlot.length) this.#entryOfSlot = growArray(this.#entryOfSlot, slot + 1)
    this.#slotOfEntry[entry] = slot
    this.#entryOfSlot[slot] = entry + 1
    this.#compaction?.addEntry(entry)
    for (let i = 0; i < hashes.length; i++) {
      const term = this.#postings.add(hashes[i]!, entry, bytes[i]!)
      this.#compaction?.addPosting(term, hashes[i]!, entry, bytes[i]!)
    }
    this.#compact(hashes.length)
  }

  /** Removes the terms of a slot. */
  remove(slot: number): void {
    this.#kill(slot)
    this.#compact(0)
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

/** A copy of postings without dead entries, made list by list while the original is searched and changed. */
class Compaction {
  readonly postings = new Postings()
  /** The new number of each entry; -1 if it was dead at the beginning. */
  newEntries: Int32Array
  /** Number of entries of the copy. */
  size = 0
  readonly #from: Postings
  #entries = new Int32Array(1024)
  #bytes = new Uint8Array(1024)
  /** The next term to copy: the lists of all terms with lower numbers are already copied. */
  #term = 0

  constructor(from: Postings, slotOfEntry: Int32Array, entries: number) {
    this.#from = from
    this.newEntries = new Int32Array(Math.max(1024, entries))
    for (let entry = 0; entry < entries; entry++) this.newEntries[entry] = slotOfEntry[entry]! < 0 ? -1 : this.size++
  }

  /** Assigns a number in the copy to an entry that is added to the original. */
  addEntry(entry: number): void {
    if (entry >= this.newEntries.length) this.newEntries = growArray(this.newEntries)
    this.newEntries[entry] = this.size++
  }

  /** Adds a posting that was added to the original, unless the list of its term is copied later. */
  addPosting(term: number, hash: number, entry: number, impact: number): void {
    if (term < this.#term) this.postings.add(hash, this.newEntries[entry]!, impact)
  }

  /** Copies lists until `postingsMax` postings are copied. Returns whether all lists are copied. */
  copy(postingsMax: number): boolean {
    for (let left = postingsMax; left > 0 && this.#term < this.#from.size; this.#term++) {
      const count = this.#from.countOf(this.#term)
      const hash = this.#from.hashOf(this.#term)
      if (count > this.#entries.length) {
        this.#entries = growArray(this.#entries, count)
        this.#bytes = growArray(this.#bytes, this.#entries.length)
      }
      const copied = this.#from.read(this.#term, this.newEntries, this.#entries, this.#bytes)
      for (let i = 0; i < copied; i++) this.postings.add(hash, this.#entries[i]!, this.#bytes[i]!)
      left -= count + 1
    }
    return this.#term === this.#from.size
  }
}
