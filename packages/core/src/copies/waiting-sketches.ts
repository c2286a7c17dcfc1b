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

/** The versions whose shingles wait to be entered, as far as this process read of them: found without the table. */
export class WaitingSketches {
  #rows: WaitingSketch[] = []
  readonly #byShingle = new Map<number, SharedShingle[]>()

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
    const rows = await selectWaiting(db, this.last)
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
    for (const row of left) this.#add(row)
  }

  #add(row: WaitingSketch): void {
    this.#rows.push(row)
    const { skill_num, sketch_num } = row
    for (const shingle of unpackShingles(row.shingles)) {
      const entries = this.#byShingle.get(shingle)
      if (!entries) this.#byShingle.set(shingle, [{ shingle, skill_num, sketch_num }])
      else if (entries.length < skillsPerShingleMax && !entries.some((entry) => entry.skill_num === skill_num))
        entries.push({ shingle, skill_num, sketch_num })
    }
  }
}
