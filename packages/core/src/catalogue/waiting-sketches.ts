import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import {
  selectWaiting,
  skillsPerShingleMax,
  unpackShingles,
  type SharedShingle,
  type WaitingSketch,
} from '../storage/shared-shingles.ts'
import type { Tables } from '../storage/tables.ts'

/** Pending shingles that are compared with one text. */
const foundMax = 16_384
/** Time for which reading pending sketches may block the event loop at once. */
const blockMs = 10
/** About ten bits for each shingle when the maximum number of versions is pending. */
const bits = 2 ** 21

/**
 * The versions whose shingles are not yet in the table, as far as this process has read them: found without the table.
 */
export class WaitingSketches {
  #rows: WaitingSketch[] = []
  readonly #byShingle = new Map<number, SharedShingle[]>()
  /** A bit set of the shingles' low bits: for most texts it rules out pending shingles at once. */
  readonly #present = new Uint8Array(bits / 8)

  /** The number of pending versions. */
  get count(): number {
    return this.#rows.length
  }

  /** The number of the last one; 0 if there is none. */
  get last(): number {
    return this.#rows.at(-1)?.sketch_num ?? 0
  }

  /** Reads versions that were added since the last call. */
  async follow(db: Kysely<Tables>): Promise<void> {
    const rows = await selectWaiting(db, { after: this.last })
    let turnedMs = performance.now()
    for (const row of rows) {
      // A concurrent call may have read them already.
      if (row.sketch_num > this.last) this.#add(row)
      if (performance.now() - turnedMs < blockMs) continue
      await setImmediate()
      turnedMs = performance.now()
    }
  }

  /** The versions that have any of these shingles. */
  find(shingles: readonly number[]): SharedShingle[] {
    const found: SharedShingle[] = []
    for (const shingle of shingles) {
      if (found.length >= foundMax) break
      if (!this.#mayHave(shingle)) continue
      const entries = this.#byShingle.get(shingle)
      if (entries) found.push(...entries)
    }
    return found
  }

  /** All pending entries in table order, in batches of about `count`. */
  *list(count: number): Generator<SharedShingle[]> {
    const byShingle = new Map(this.#byShingle)
    let some: SharedShingle[] = []
    // Sorting plain numbers is several times as fast.
    for (const shingle of Float64Array.from(byShingle.keys()).toSorted()) {
      some.push(...byShingle.get(shingle)!)
      if (some.length < count) continue
      yield some
      some = []
    }
    if (some.length > 0) yield some
  }

  /** Drops the versions up to a number, which were inserted into the table. */
  forget(last: number): void {
    const left = this.#rows.filter(({ sketch_num }) => sketch_num > last)
    this.#rows = []
    this.#byShingle.clear()
    this.#present.fill(0)
    for (const row of left) this.#add(row)
  }

  #add(row: WaitingSketch): void {
    this.#rows.push(row)
    const { skill_num, sketch_num } = row
    for (const shingle of unpackShingles(row.shingles)) {
      const entries = this.#mayHave(shingle) ? this.#byShingle.get(shingle) : undefined
      if (!entries) this.#enter(shingle, { shingle, skill_num, sketch_num })
      else if (entries.length < skillsPerShingleMax && !entries.some((entry) => entry.skill_num === skill_num))
        entries.push({ shingle, skill_num, sketch_num })
    }
  }

  #enter(shingle: number, entry: SharedShingle): void {
    const bit = shingle & (bits - 1)
    this.#present[bit >> 3]! |= 1 << (bit & 7)
    this.#byShingle.set(shingle, [entry])
  }

  #mayHave(shingle: number): boolean {
    const bit = shingle & (bits - 1)
    return (this.#present[bit >> 3]! & (1 << (bit & 7))) !== 0
  }
}
