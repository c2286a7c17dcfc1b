import { setImmediate } from 'node:timers/promises'
import type { Database } from '../storage/database.ts'
import {
  findShared,
  insertSketch,
  insertWaiting,
  packShingles,
  putShingles,
  readHolders,
  type SharedGroup,
  type SharedShingle,
} from '../storage/shared-shingles.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { Sketch } from './sketch.ts'
import { WaitingSketches } from './waiting-sketches.ts'

/** A stored version and its sketch. */
export interface SketchedVersion {
  readonly skillId: string
  readonly versionId: string
  readonly sketch: Sketch
}

/** Finds versions that contain the same text, by the shingles in their sketches. */
export interface CopyIndex {
  /** Adds a version, once, in the transaction that stores it. */
  put(trx: WriteTransaction, version: SketchedVersion): Promise<void>
  /** Skills that share any of these shingles. If there are very many, those that share the rarest shingles. */
  findShared(shingles: readonly number[]): Promise<SharedGroup[]>
  /** Which of some skills have which of these shingles, and since which version. */
  findHolders(shingles: readonly number[], skillNums: readonly number[]): Promise<SharedShingle[]>
  /** Inserts the pending sketches into the shingle table. Runs by itself when many are pending. */
  enter(): Promise<void>
  /** Stops after the insert in progress. */
  stop(): Promise<void>
}

/**
 * The number of pending versions that are inserted together. A version's shingles are spread over the whole table, so
 * inserting one version at a time would rewrite a disk page for nearly every shingle.
 */
const defaultWaitingMax = 2048
/** Shingles per write transaction, so that other writes are not blocked for long. */
const shinglesPerWrite = 2048

/** `onError` receives the errors of inserts. Pending sketches are still found, and the insert is retried. */
export function createCopyIndex(
  database: Database,
  onError: (error: unknown) => void,
  { waitingMax = defaultWaitingMax } = {},
): CopyIndex {
  const { read, writer, dialect } = database
  const waiting = new WaitingSketches()
  let putCount = 0
  let entering: Promise<void> | undefined
  let stopped = false

  /** The pending entries of these shingles. */
  async function findWaiting(shingles: readonly number[]): Promise<SharedShingle[]> {
    // Versions that another process inserted count as pending here until this limit.
    if (waiting.count > 2 * waitingMax) waiting.forget(waiting.last)
    await waiting.follow(read)
    if (waiting.count >= waitingMax) enterSoon()
    return waiting.find(shingles)
  }

  function enterSoon(): void {
    if (!entering && !stopped) enter().catch(onError)
  }

  function enter(): Promise<void> {
    return (entering ??= enterAll().finally(() => (entering = undefined)))
  }

  async function enterAll(): Promise<void> {
    putCount = 0
    await waiting.follow(read)
    const { last } = waiting
    for (const entries of waiting.list(shinglesPerWrite)) {
      if (stopped) return
      await writer.write((trx) => putShingles(trx, dialect, entries), { bulk: true })
      await setImmediate()
    }
    await writer.write(async (trx) => {
      await trx.deleteFrom('waiting_sketches').where('sketch_num', '<=', last).execute()
    })
    waiting.forget(last)
  }

  return {
    async put(trx, { skillId, versionId, sketch }) {
      const [row] = await insertSketch(trx, { versionId, shingleCount: sketch.shingleCount })
      if (!row || sketch.kept.length === 0) return
      await insertWaiting(trx, { num: row.num, shingles: packShingles(sketch.kept), skillId })
      if (++putCount >= waitingMax) enterSoon()
    },
    async findShared(shingles) {
      return findShared(read, dialect, shingles, await findWaiting(shingles))
    },
    async findHolders(shingles, skillNums) {
      const those = new Set(skillNums)
      const found = (await findWaiting(shingles)).filter(({ skill_num }) => those.has(skill_num))
      return keepFirst([...(await readHolders(read, dialect, shingles, skillNums)), ...found])
    },
    enter,
    async stop() {
      stopped = true
      await entering?.catch(() => {})
    },
  }
}

/** The first version per skill and shingle: the table may already have a pending shingle from an earlier version. */
function keepFirst(entries: readonly SharedShingle[]): SharedShingle[] {
  const first = new Map<string, SharedShingle>()
  for (const entry of entries) {
    const key = `${entry.shingle} ${entry.skill_num}`
    const other = first.get(key)
    if (!other || entry.sketch_num < other.sketch_num) first.set(key, entry)
  }
  return [...first.values()]
}
