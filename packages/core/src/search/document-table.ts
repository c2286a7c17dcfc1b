import { audienceBits, toAudienceMask, type ViewerKeys } from '../visibility/audience.ts'
import { growArray } from './postings/grow-array.ts'
import type { SearchFilters } from '@skillstead/protocol'
import { type FilterRow, flagBits, toFilterRow, toFilterFlags, toIndexTests } from './filters.ts'
import type { SearchDocument } from './search-document.ts'

/** The data of a skill except its words. */
interface Row extends FilterRow {
  readonly id: number
  readonly name: string
  readonly fullName: string
  readonly readers: readonly string[]
}

const popularityDigitsMax = 6

/** The data other than words that filters, visibility and sort orders need, by slot. Slots are dense and reused. */
export class DocumentTable {
  readonly order = new NameOrder()
  readonly #slots = new Map<number, number>()
  readonly #free: number[] = []
  readonly #rows: (Row | undefined)[] = []
  /** The slots of the skills that name a reader, by the key of the reader. */
  readonly #slotsByReader = new Map<string, Set<number>>()
  /** By slot: {@link audienceBits} and the bits of {@link toFilterFlags}; 0 for a free slot. */
  #flags = new Uint8Array(1024)
  #downloads = new Float64Array(1024)
  #stars = new Float64Array(1024)
  #effectLow = new Float64Array(1024)
  #publishedAt = new Float64Array(1024)
  #popularity = new Float64Array(1024)

  /** Number of skills. */
  get size(): number {
    return this.#slots.size
  }

  /** One more than the largest slot in use. */
  get end(): number {
    return this.#rows.length
  }

  /** Downloads by slot. */
  get downloads(): Float64Array {
    return this.#downloads
  }

  /** Stars by slot. */
  get stars(): Float64Array {
    return this.#stars
  }

  /** The lower end of the interval of the latest version's effect, by slot. */
  get effectLow(): Float64Array {
    return this.#effectLow
  }

  /** Publication time of the latest version, by slot. */
  get publishedAt(): Float64Array {
    return this.#publishedAt
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
    const slot = this.#slots.get(document.id) ?? this.#take(document.id)
    const before = this.#rows[slot]
    if (before && before.fullName !== document.fullName) this.order.remove(slot)
    if (before?.fullName !== document.fullName) this.order.add(slot, document.fullName)
    this.#putReaders(slot, before?.readers ?? [], document.readers)
    this.#rows[slot] = toTableRow(document)
    this.#flags[slot] = audienceBits[document.audience] | toFilterFlags(document)
    this.#effectLow[slot] = document.effectLow
    this.#publishedAt[slot] = document.publishedAt
    this.putCounters(slot, document.downloads, document.stars)
    return slot
  }

  /** Sets the counters of a slot. */
  putCounters(slot: number, downloads: number, stars: number): void {
    this.#downloads[slot] = downloads
    this.#stars[slot] = stars
    this.#popularity[slot] = Math.min(1, Math.log10(1 + downloads + 10 * stars) / popularityDigitsMax)
  }

  /** Removes a skill and frees its slot. */
  remove(id: number): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    this.order.remove(slot)
    this.#slots.delete(id)
    this.#putReaders(slot, this.#rows[slot]!.readers, [])
    this.#rows[slot] = undefined
    this.#flags[slot] = 0
    this.#free.push(slot)
  }

  /** Returns a predicate for slots of skills that the viewer may see. The index decides visibility only here. */
  seenBy(viewer: ViewerKeys): (slot: number) => boolean {
    const flags = this.#flags
    const mask = toAudienceMask(viewer)
    // Collected once for each search: comparing keys for each closed skill would take longer than the search.
    const named = new Set((viewer ?? []).flatMap((key) => [...(this.#slotsByReader.get(key) ?? [])]))
    return (slot) => (flags[slot]! & mask) !== 0 || named.has(slot)
  }

  /** Returns a predicate for slots of skills that pass another predicate, that of `seenBy`, and the filters. */
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

  /** The slots that pass a predicate, in a new array. */
  slots(passes: (slot: number) => boolean): Int32Array<ArrayBuffer> {
    const slots = new Int32Array(this.#slots.size)
    let count = 0
    for (let slot = 0; slot < this.#rows.length; slot++) {
      if (this.#rows[slot] && passes(slot)) slots[count++] = slot
    }
    return slots.subarray(0, count)
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
    this.#downloads = growArray(this.#downloads, length)
    this.#stars = growArray(this.#stars, length)
    this.#effectLow = growArray(this.#effectLow, length)
    this.#publishedAt = growArray(this.#publishedAt, length)
    this.#popularity = growArray(this.#popularity, length)
  }
}

function toTableRow(document: SearchDocument): Row {
  const { id, name, fullName, readers } = document
  return { id, name, fullName, readers, ...toFilterRow(document) }
}

/**
 * Maintains the order of slots by full name (code units) as documents change. An insertion moves a few hundred
 * kilobytes at most, and the ranks are recomputed on the next read. Ties are then broken by comparing numbers.
 */
class NameOrder {
  #names: string[] = []
  #sorted = new Int32Array(1024)
  #ranks = new Int32Array(1024)
  #size = 0
  #stale = false

  /** Adds a slot with its name. */
  add(slot: number, name: string): void {
    this.#names[slot] = name
    if (this.#size === this.#sorted.length) this.#sorted = growArray(this.#sorted, this.#size + 1)
    const at = this.#find(name, slot)
    this.#sorted.copyWithin(at + 1, at, this.#size)
    this.#sorted[at] = slot
    this.#size++
    this.#stale = true
  }

  /** Removes a slot. */
  remove(slot: number): void {
    const at = this.#find(this.#names[slot]!, slot)
    this.#sorted.copyWithin(at, at + 1, this.#size)
    this.#size--
    this.#names[slot] = ''
    this.#stale = true
  }

  /** The rank of each slot. Valid until the next change. */
  ranks(): Int32Array {
    if (!this.#stale) return this.#ranks
    if (this.#ranks.length < this.#names.length) this.#ranks = growArray(this.#ranks, this.#names.length)
    for (let i = 0; i < this.#size; i++) this.#ranks[this.#sorted[i]!] = i
    this.#stale = false
    return this.#ranks
  }

  #find(name: string, slot: number): number {
    let low = 0
    let high = this.#size
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#sorted[middle]!
      const otherName = this.#names[other]!
      if (otherName < name || (otherName === name && other < slot)) low = middle + 1
      else high = middle
    }
    return low
  }
}
