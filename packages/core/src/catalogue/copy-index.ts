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

/** A version that was stored, and its sketch. */
export interface SketchedVersion {
  readonly skillId: string
  readonly versionId: string
  readonly sketch: Sketch
}

/** Finds who says what a text says, by the shingles that the versions' sketches keep. */
export interface CopyIndex {
  /** Takes in a version, once, in the transaction that stores it. */
  put(trx: WriteTransaction, version: SketchedVersion): Promise<void>
  /** Who shares any of these shingles; where that are very many, those whose shared ones few others have. */
  findShared(shingles: readonly number[]): Promise<SharedGroup[]>
  /** Which of some skills have which of these shingles, and since which of their versions. */
  findHolders(shingles: readonly number[], skillNums: readonly number[]): Promise<SharedShingle[]>
  /** Enters what waits into the table of shingles, as happens by itself when it has become much. */
  enter(): Promise<void>
  /** Ends after what is being entered just now. */
  stop(): Promise<void>
}

/**
 * So many versions wait before they are entered together. A version's shingles lie all over the table: entered one
 * version at a time, each would have its own page of the disk written anew.
 */
const defaultWaitingMax = 2048
/** How many shingles are entered with one write, so that nobody waits for long. */
const shinglesPerWrite = 2048

/** `onError` is told where entering fails; what waits is found all the same, and tried again. */
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

  /** What waits of these shingles, by now. */
  async function findWaiting(shingles: readonly number[]): Promise<SharedShingle[]> {
    // Those that another process entered are known here as waiting until they are so many.
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

/** Of each skill and shingle the version that had it first: what waits may be there already, by an earlier one. */
function keepFirst(entries: readonly SharedShingle[]): SharedShingle[] {
  const first = new Map<string, SharedShingle>()
  for (const entry of entries) {
    const key = `${entry.shingle} ${entry.skill_num}`
    const other = first.get(key)
    if (!other || entry.sketch_num < other.sketch_num) first.set(key, entry)
  }
  return [...first.values()]
}
