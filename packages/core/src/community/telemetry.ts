import type { CountingParts } from './download-counters.ts'
import { newId } from '../kernel/ids.ts'
import { addCounts, foldJournal, foldRecorded } from './fold-journal.ts'
import { toHour } from './trends.ts'
import type { MirroredInstalls, UsedSkill } from '../catalogue/use-counts.ts'

/** Records installs and adds them to the counters. */
export interface Telemetry {
  /** Records an install by a client, as it reports itself; resolves after the commit. */
  record(skill: UsedSkill, client?: string): Promise<void>
  /** Counts all recorded installs. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Counts become visible within a second of the response, and folding takes part of that. */
const flushMs = 500
/** Delay after a failure; each failure is reported. */
const retryMs = 10_000

/** Installs by hour and by keys of `toUseKey`, as stored in a journal row. */
export type HourlyCounts = Record<string, Record<string, number>>

interface Batch {
  readonly counts: HourlyCounts
  /** Installs to report to an upstream, by skill id. */
  readonly mirrored: Map<string, MirroredInstalls>
  committed: Promise<void>
}

/**
 * An install costs a share of one small row: all installs waiting for the next commit form one row of the journal,
 * which survives a crash. The rows are added to the counters a moment later, in batches, by this process or, if it
 * ended, by the next one that opens the database.
 */
export function createTelemetry(parts: CountingParts): Telemetry {
  const { database, clock, watchers, upstreamQueue, onError } = parts
  let open: Batch | undefined
  let timer: NodeJS.Timeout | undefined
  let folding: Promise<void> | undefined
  let stopped = false
  /** Whether a fold failed and left rows behind; the next fold takes all rows. */
  let isBehind = false
  /** Committed but not yet counted. */
  let recorded: { ids: string[]; counts: HourlyCounts } = { ids: [], counts: {} }

  function begin(): Batch {
    const batch: Batch = { counts: {}, mirrored: new Map(), committed: Promise.resolve() }
    batch.committed = commit(batch)
    return batch
  }

  async function commit(batch: Batch): Promise<void> {
    const id = newId()
    try {
      await database.writer.write(async (trx) => {
        // Later installs wait for the next commit.
        open = undefined
        const row = { id, counts: JSON.stringify(batch.counts) }
        await trx.insertInto('install_journal').values(row).execute()
        if (batch.mirrored.size > 0) await upstreamQueue.queueInstalls(trx, batch.mirrored.values())
      })
    } catch (error) {
      // If the writer failed before it took the batch, close it here: otherwise its next caller would get the old
      // error.
      if (open === batch) open = undefined
      throw error
    }
    recorded.ids.push(id)
    addCounts(recorded.counts, batch.counts)
    schedule()
  }

  function schedule(delayMs = flushMs): void {
    if (stopped) return
    timer ??= setTimeout(() => void fold(foldOwn), delayMs)
    timer.unref()
  }

  /** Folds run one after another. Failed ones stay in the journal and are counted with the next that succeeds. */
  function fold(work: () => Promise<void>): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const running = (folding ?? Promise.resolve())
      .then(work)
      .catch((error: unknown) => {
        isBehind = true
        onError(error)
        schedule(retryMs)
      })
      .finally(() => {
        if (folding === running) folding = undefined
      })
    return (folding = running)
  }

  async function foldOwn(): Promise<void> {
    const own = recorded
    recorded = { ids: [], counts: {} }
    if (own.ids.length > 0) await foldRecorded(parts, own)
    if (isBehind) await foldAll()
  }

  async function foldAll(): Promise<void> {
    await foldJournal(parts)
    isBehind = false
  }

  async function foldEverything(): Promise<void> {
    await foldOwn()
    await foldAll()
  }

  return {
    record(skill, client) {
      open ??= begin()
      const hour = (open.counts[toHour(clock.now())] ??= {})
      const key = watchers.toKey(skill, client)
      hour[key] = (hour[key] ?? 0) + 1
      const { id: skillId, mirrored } = skill
      if (mirrored) {
        const count = (open.mirrored.get(skillId)?.count ?? 0) + 1
        open.mirrored.set(skillId, { ...mirrored, skillId, count })
      }
      return open.committed
    },
    flush: () => fold(foldEverything),
    async stop() {
      stopped = true
      await fold(foldEverything)
    },
  }
}
