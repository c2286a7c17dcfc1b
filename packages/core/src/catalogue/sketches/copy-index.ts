import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { type Database, writeApart } from '../../storage/database.ts'
import {
  findShared,
  insertSketch,
  insertWaiting,
  packShingles,
  putShingles,
  readHolders,
  selectWaitingSketches,
  type SharedGroup,
  type SharedShingle,
  skillsPerShingleMax,
  unpackShingles,
  type WaitingSketch,
  removeWaiting,
} from '../../storage/shared-shingles.ts'
import type { Tables } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { Sketch } from './sketch.ts'

export interface SketchedVersion {
  readonly skillId: string
  readonly versionId: string
  readonly sketch: Sketch
}

/**
 * The number of pending versions that are inserted together. A version's shingles are spread over the whole table, so
 * inserting one version at a time would rewrite a disk page for nearly every shingle.
 */
const defaultWaitingMax = 2048
/** Shingles per statement, so that other writes to an SQLite file are not blocked for long. */
const shinglesPerWrite = 2048

/** Finds versions that contain the same text, by the shingles in their sketches. */
export class CopyIndex {
  readonly #database: Database
  readonly #onError: (error: unknown) => void
  readonly #waitingMax: number
  readonly #waiting = new WaitingSketches()
  #putCount = 0
  #entering: Promise<void> | undefined
  #isStopped = false

  /** `onError` receives the errors of inserts. Pending sketches are still found, and the insert is retried. */
  constructor(database: Database, onError: (error: unknown) => void, { waitingMax = defaultWaitingMax } = {}) {
    this.#database = database
    this.#onError = onError
    this.#waitingMax = waitingMax
  }

  /** Adds a version, in the transaction that stores the version. Call once for each version. */
  async put(trx: WriteTransaction, { skillId, versionId, sketch }: SketchedVersion): Promise<void> {
    await insertSketch(trx, { versionId, shingleCount: sketch.shingleCount })
    if (sketch.kept.length === 0) return
    await insertWaiting(trx, { versionId, shingles: packShingles(sketch.kept), skillId })
    if (++this.#putCount >= this.#waitingMax) this.#enterSoon()
  }

  /** Skills that share any of the given shingles. If very many skills do, those that share the rarest shingles. */
  async findShared(shingles: readonly number[]): Promise<SharedGroup[]> {
    const { read, dialect } = this.#database
    return findShared(read, dialect, shingles, await this.#findWaiting(shingles))
  }

  /** For each given skill and shingle, the first version of the skill that contains the shingle. */
  async findHolders(shingles: readonly number[], skillNums: readonly number[]): Promise<SharedShingle[]> {
    const { read, dialect } = this.#database
    const those = new Set(skillNums)
    const found = (await this.#findWaiting(shingles)).filter(({ skill_num }) => those.has(skill_num))
    return keepFirst([...(await readHolders(read, dialect, shingles, skillNums)), ...found])
  }

  /** Inserts the pending sketches into the shingle table. Also runs automatically when many are pending. */
  enter(): Promise<void> {
    return (this.#entering ??= this.#enterAll().finally(() => (this.#entering = undefined)))
  }

  /** Stops after the insert in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#entering?.catch(() => {})
  }

  /** Finds the given shingles among the pending sketches. */
  async #findWaiting(shingles: readonly number[]): Promise<SharedShingle[]> {
    const waiting = this.#waiting
    // Versions that another process inserted into the table stay pending in this process, up to twice the maximum.
    if (waiting.count > 2 * this.#waitingMax) waiting.forget(waiting.last)
    await waiting.follow(this.#database.read)
    if (waiting.count >= this.#waitingMax) this.#enterSoon()
    return waiting.find(shingles)
  }

  #enterSoon(): void {
    if (!this.#entering && !this.#isStopped && !this.#database.isReadOnly) this.enter().catch(this.#onError)
  }

  async #enterAll(): Promise<void> {
    const { read, writer, dialect } = this.#database
    this.#putCount = 0
    await this.#waiting.follow(read)
    const { last } = this.#waiting
    for (const entries of this.#waiting.list(shinglesPerWrite)) {
      if (this.#isStopped) return
      await writeApart(this.#database, (db) => putShingles(db, dialect, entries), { bulk: true })
      await setImmediate()
    }
    await writer.write((trx) => removeWaiting(trx, last))
    this.#waiting.forget(last)
  }
}

/**
 * Keeps the earliest version per skill and shingle: the table may already have a pending shingle from an earlier
 * version.
 */
function keepFirst(entries: readonly SharedShingle[]): SharedShingle[] {
  const first = new Map<string, SharedShingle>()
  for (const entry of entries) {
    const key = `${entry.shingle} ${entry.skill_num}`
    const other = first.get(key)
    if (!other || entry.sketch_num < other.sketch_num) first.set(key, entry)
  }
  return [...first.values()]
}

/** The maximum number of pending shingles that are compared with one text. */
const foundMax = 16_384
/** Time for which reading pending sketches may block the event loop at once. */
const blockMs = 10
/** Size of the bit set of pending shingles: about ten bits per shingle with the maximum number of pending versions. */
const presentBits = 2 ** 21

/** The versions whose shingles are not yet in the shingle table, as far as this process has read them. */
class WaitingSketches {
  #rows: WaitingSketch[] = []
  readonly #byShingle = new Map<number, SharedShingle[]>()
  /** A bit set of the low bits of pending shingles, which shows at once that most texts have no pending shingle. */
  readonly #present = new Uint8Array(presentBits / 8)

  /** The number of pending versions. */
  get count(): number {
    return this.#rows.length
  }

  /** The `sketch_num` of the last pending version; 0 if there is none. */
  get last(): number {
    return this.#rows.at(-1)?.sketch_num ?? 0
  }

  /** Reads the pending versions that were added since the last call. */
  async follow(db: Kysely<Tables>): Promise<void> {
    const rows = await selectWaitingSketches(db, { after: this.last })
    let turnedMs = performance.now()
    for (const row of rows) {
      // A concurrent call may have read this row already.
      if (row.sketch_num > this.last) this.#add(row)
      if (performance.now() - turnedMs < blockMs) continue
      await setImmediate()
      turnedMs = performance.now()
    }
  }

  /** Finds the pending versions that have any of the given shingles. */
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

  /** All pending shingles in the order of the shingle table, in batches of about `count`. */
  *list(count: number): Generator<SharedShingle[]> {
    const byShingle = new Map(this.#byShingle)
    let some: SharedShingle[] = []
    // Sorting a typed array is several times as fast as sorting the entries.
    for (const shingle of Float64Array.from(byShingle.keys()).toSorted()) {
      some.push(...byShingle.get(shingle)!)
      if (some.length < count) continue
      yield some
      some = []
    }
    if (some.length > 0) yield some
  }

  /** Removes the versions up to the `sketch_num` `last` from memory, once they are in the shingle table. */
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
    const bit = shingle & (presentBits - 1)
    this.#present[bit >> 3]! |= 1 << (bit & 7)
    this.#byShingle.set(shingle, [entry])
  }

  #mayHave(shingle: number): boolean {
    const bit = shingle & (presentBits - 1)
    return (this.#present[bit >> 3]! & (1 << (bit & 7))) !== 0
  }
}
