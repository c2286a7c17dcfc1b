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

/** No more of what waits is compared with one text. */
const foundMax = 16_384
/** How long taking in what waits may hold the event loop at a time. */
const sliceMs = 10
/** Ten for each shingle where as many versions wait as may. */
const bits = 2 ** 21

/** The versions whose shingles wait to be entered, as far as this process read of them: found without the table. */
export class WaitingSketches {
  #rows: WaitingSketch[] = []
  readonly #byShingle = new Map<number, SharedShingle[]>()
  /** A bit for all shingles that end in the same bits, set where one of them waits: of most texts hardly any does. */
  readonly #present = new Uint8Array(bits / 8)

  /** How many versions. */
  get count(): number {
    return this.#rows.length
  }

  /** The last of them; 0 where there is none. */
  get last(): number {
    return this.#rows.at(-1)?.sketch_num ?? 0
  }

  /** Reads what came since. */
  async follow(db: Kysely<Tables>): Promise<void> {
    const rows = await selectWaiting(db, { after: this.last })
    let turnedMs = performance.now()
    for (const row of rows) {
      // Another call may have read them in the meantime.
      if (row.sketch_num > this.last) this.#add(row)
      if (performance.now() - turnedMs < sliceMs) continue
      await setImmediate()
      turnedMs = performance.now()
    }
  }

  /** Who has any of these shingles. */
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

  /** Everything as it is now, in the order of the table, so many at a time or a few more. */
  *list(count: number): Generator<SharedShingle[]> {
    const byShingle = new Map(this.#byShingle)
    let some: SharedShingle[] = []
    // Numbers by themselves are sorted several times as fast.
    for (const shingle of Float64Array.from(byShingle.keys()).toSorted()) {
      some.push(...byShingle.get(shingle)!)
      if (some.length < count) continue
      yield some
      some = []
    }
    if (some.length > 0) yield some
  }

  /** Drops the versions up to one, which were entered. */
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
