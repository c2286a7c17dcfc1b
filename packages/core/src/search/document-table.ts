import { audienceBits, toAudienceMask, type ViewerKeys } from '../visibility/audience.ts'
import { growArray } from './postings/grow-array.ts'
import type { SearchFilters } from '@skillstead/protocol'
import { SlotOrder } from './slot-order.ts'
import { type FilterRow, flagBits, toFilterRow, toFilterFlags, toIndexTests } from './filters.ts'
import type { SearchDocument } from './search-document.ts'

/** The data of a skill except its words. */
interface Row extends FilterRow {
  readonly id: number
  readonly name: string
  readonly fullName: string
  readonly readers: readonly string[]
}

/** The orders of lists. */
const listSorts = ['downloads', 'recent', 'stars', 'effect'] as const
export type ListSort = (typeof listSorts)[number]

const popularityDigitsMax = 6
const sortedAfterPuts = 4096

/** The data other than words that filters, visibility and sort orders need, by slot. Slots are dense and reused. */
export class DocumentTable {
  readonly #slots = new Map<number, number>()
  readonly #free: number[] = []
  readonly #rows: (Row | undefined)[] = []
  /** The slots of the skills that name a reader, by the key of the reader. */
  readonly #slotsByReader = new Map<string, Set<number>>()
  /** By slot: {@link audienceBits} and the bits of {@link toFilterFlags}; 0 for a free slot. */
  #flags = new Uint8Array(1024)
  /** Number of skills by their flags. */
  readonly #countsByFlags = new Uint32Array(256)
  /** The values that lists are sorted by, by slot. */
  readonly #keys = {
    downloads: new Float64Array(1024),
    stars: new Float64Array(1024),
    /** Publication time of the latest version. */
    recent: new Float64Array(1024),
    /** The lower end of the interval of the latest version's effect. */
    effect: new Float64Array(1024),
  }
  #popularity = new Float64Array(1024)
  readonly #names = this.#createOrder((a, b) => this.#rows[a]!.fullName < this.#rows[b]!.fullName)
  readonly #orders = {
    downloads: this.#createOrder(this.#comparer('downloads')),
    stars: this.#createOrder(this.#comparer('stars')),
    recent: this.#createOrder(this.#comparer('recent')),
    effect: this.#createOrder(this.#comparer('effect')),
  }
  #ranks = new Int32Array()
  #puts = 0
  #ranked?: Int32Array

  /** Number of skills. */
  get size(): number {
    return this.#slots.size
  }

  /** One more than the largest slot in use. */
  get end(): number {
    return this.#rows.length
  }

  /** Popularity by slot: 0 for an unused skill, 1 for one with a million downloads; a star counts as ten downloads. */
  get popularity(): Float64Array {
    return this.#popularity
  }

  /** The slot of a skill, or undefined if the table does not contain it. */
  findSlot(id: number): number | undefined {
    return this.#slots.get(id)
  }

  /** The id of the skill in a used slot. */
  idAt(slot: number): number {
    return this.#rows[slot]!.id
  }

  /** The short name of the skill in a used slot. */
  nameAt(slot: number): string {
    return this.#rows[slot]!.name
  }

  /** Whether the skill in a slot is deprecated. */
  isDeprecated(slot: number): boolean {
    return (this.#flags[slot]! & flagBits.deprecated) !== 0
  }

  /** Adds or replaces a skill and returns its slot. */
  put(document: SearchDocument): number {
    // Sort after every few changes: sorting many changed skills at the next search would block the thread.
    if (++this.#puts % sortedAfterPuts === 0) for (const sort of listSorts) this.slotsBy(sort)
    const slot = this.#slots.get(document.id) ?? this.#take(document.id)
    const before = this.#rows[slot]
    const isRenamed = before?.fullName !== document.fullName
    if (isRenamed) this.#names.change(slot)
    this.#putReaders(slot, before?.readers ?? [], document.readers)
    this.#rows[slot] = toTableRow(document)
    if (before) this.#countsByFlags[this.#flags[slot]!]!--
    this.#flags[slot] = audienceBits[document.audience] | toFilterFlags(document)
    this.#countsByFlags[this.#flags[slot]!]!++
    for (const order of isRenamed ? Object.values(this.#orders) : []) order.change(slot)
    this.#putKey('recent', slot, document.publishedAt)
    this.#putKey('effect', slot, document.effectLow)
    this.putCounters(slot, document.downloads, document.stars)
    return slot
  }

  /** Sets the counters of a slot. */
  putCounters(slot: number, downloads: number, stars: number): void {
    this.#putKey('downloads', slot, downloads)
    this.#putKey('stars', slot, stars)
    this.#popularity[slot] = Math.min(1, Math.log10(1 + downloads + 10 * stars) / popularityDigitsMax)
  }

  /** Removes a skill and frees its slot. */
  remove(id: number): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    for (const order of [this.#names, ...Object.values(this.#orders)]) order.change(slot)
    this.#slots.delete(id)
    this.#putReaders(slot, this.#rows[slot]!.readers, [])
    this.#rows[slot] = undefined
    this.#countsByFlags[this.#flags[slot]!]!--
    this.#flags[slot] = 0
    this.#free.push(slot)
  }

  /** Returns a predicate for slots of skills that the viewer may see. The index decides visibility only here. */
  seenBy(viewer: ViewerKeys): (slot: number) => boolean {
    const flags = this.#flags
    const mask = toAudienceMask(viewer)
    const named = this.#slotsNaming(viewer)
    return (slot) => (flags[slot]! & mask) !== 0 || named.has(slot)
  }

  /** Returns a predicate for slots of skills that pass the filters and `isSeen`, the predicate of {@link seenBy}. */
  matcher(isSeen: (slot: number) => boolean, filters: SearchFilters): (slot: number) => boolean {
    const { mask, value, tests } = toIndexTests(filters)
    const flags = this.#flags
    // Fast path: called for every skill that has one of the words, and most searches only filter by flags.
    if (tests.length === 0) return (slot) => (flags[slot]! & mask) === value && isSeen(slot)
    return (slot) => {
      if ((flags[slot]! & mask) !== value || !isSeen(slot)) return false
      const row = this.#rows[slot]
      return row !== undefined && tests.every((passes) => passes(row))
    }
  }

  /** The properties that filters compare, of the skills in used slots. */
  *rowsAt(slots: Int32Array): Generator<FilterRow> {
    for (const slot of slots) yield this.#rows[slot]!
  }

  /** Number of skills that the viewer sees and the filters accept; undefined if a filter compares more than flags. */
  count(viewer: ViewerKeys, filters: SearchFilters): number | undefined {
    const { mask, value, tests } = toIndexTests(filters)
    if (tests.length > 0) return undefined
    const audience = toAudienceMask(viewer)
    let count = 0
    for (const [flags, skills] of this.#countsByFlags.entries())
      if ((flags & mask) === value && (flags & audience) !== 0) count += skills
    for (const slot of this.#slotsNaming(viewer)) {
      const flags = this.#flags[slot]!
      if ((flags & mask) === value && (flags & audience) === 0) count++
    }
    return count
  }

  /** The numbers that a list is sorted by, by slot. */
  keysOf(sort: ListSort): Float64Array {
    return this.#keys[sort]
  }

  /** All slots in the order of a list: descending, then by name. Valid until the next change; not to be written. */
  slotsBy(sort: ListSort): Int32Array {
    this.ranks()
    return this.#orders[sort].slots()
  }

  /** The rank of each slot by full name (code units). Valid until the next change. */
  ranks(): Int32Array {
    const sorted = this.#names.slots()
    if (sorted === this.#ranked) return this.#ranks
    if (this.#ranks.length < this.end) this.#ranks = new Int32Array(this.#flags.length)
    for (let i = 0; i < sorted.length; i++) this.#ranks[sorted[i]!] = i
    this.#ranked = sorted
    return this.#ranks
  }

  /** The slots that pass a predicate, in a new array and no order. */
  slots(passes: (slot: number) => boolean): Int32Array<ArrayBuffer> {
    const slots = new Int32Array(this.#slots.size)
    let count = 0
    for (let slot = 0; slot < this.#rows.length; slot++) {
      if (this.#rows[slot] && passes(slot)) slots[count++] = slot
    }
    return slots.subarray(0, count)
  }

  #comparer(sort: ListSort): (a: number, b: number) => boolean {
    return (a, b) => {
      const keys = this.#keys[sort]
      return keys[a]! > keys[b]! || (keys[a] === keys[b] && this.#ranks[a]! < this.#ranks[b]!)
    }
  }

  #createOrder(comesBefore: (a: number, b: number) => boolean): SlotOrder {
    return new SlotOrder(comesBefore, (slot) => this.#rows[slot] !== undefined)
  }

  /**
   * The slots of the skills that name a key of the viewer, collected once for each search: comparing the keys of each
   * skill with named readers would take longer than the search.
   */
  #slotsNaming(viewer: ViewerKeys): Set<number> {
    return new Set((viewer ?? []).flatMap((key) => [...(this.#slotsByReader.get(key) ?? [])]))
  }

  #putKey(sort: ListSort, slot: number, key: number): void {
    if (this.#keys[sort][slot] === key) return
    this.#keys[sort][slot] = key
    this.#orders[sort].change(slot)
  }

  #putReaders(slot: number, before: readonly string[], after: readonly string[]): void {
    for (const key of before) {
      const slots = this.#slotsByReader.get(key)
      if (slots?.delete(slot) && slots.size === 0) this.#slotsByReader.delete(key)
    }
    for (const key of after) {
      const slots = this.#slotsByReader.get(key)
      if (slots) slots.add(slot)
      else this.#slotsByReader.set(key, new Set([slot]))
    }
  }

  #take(id: number): number {
    const slot = this.#free.pop() ?? this.#rows.length
    this.#slots.set(id, slot)
    if (slot === this.#rows.length) this.#rows.push(undefined)
    if (slot >= this.#flags.length) this.#grow()
    return slot
  }

  #grow(): void {
    const length = this.#flags.length * 2
    this.#flags = growArray(this.#flags, length)
    for (const sort of listSorts) this.#keys[sort] = growArray(this.#keys[sort], length)
    this.#popularity = growArray(this.#popularity, length)
  }
}

function toTableRow(document: SearchDocument): Row {
  const { id, name, fullName, readers } = document
  return { id, name, fullName, readers, ...toFilterRow(document) }
}
