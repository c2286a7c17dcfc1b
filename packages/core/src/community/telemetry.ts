import type { CountingParts } from './download-counters.ts'
import { newId } from '../kernel/ids.ts'
import { addCounts, foldJournal, foldRecorded } from './fold-journal.ts'
import { toHour } from './trends.ts'
import type { MirroredInstalls, UsedSkill } from '../catalogue/use-counts.ts'

/** Installs on their way into the counts. */
export interface Telemetry {
  /** Records an install by a client, as that names itself; resolves after the commit. */
  record(skill: UsedSkill, client?: string): Promise<void>
  /** Counts what is recorded. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Counts become visible within a second of the answer, and folding takes its part of that. */
const flushMs = 500
/** After a failure, which is told of each time. */
const retryMs = 10_000

/** Installs by hour and by keys of `toUseKey`, as a row of the journal keeps them. */
export type HourlyCounts = Record<string, Record<string, number>>

interface Batch {
  readonly counts: HourlyCounts
  /** Those of them that an upstream is to hear of, by the ids of the skills. */
  readonly mirrored: Map<string, MirroredInstalls>
  committed: Promise<void>
}

/**
 * An install costs its caller a share of one small row: everything that waits for the next commit is one row of the
 * journal, which survives whatever happens next. The rows are folded into the counts a moment later, many at a time,
 * by this process or, where it ended, by the next that opens the database.
 */
export function createTelemetry(parts: CountingParts): Telemetry {
  const { database, clock, watchers, upstreamQueue, onError } = parts
  let open: Batch | undefined
  let timer: NodeJS.Timeout | undefined
  let folding: Promise<void> | undefined
  let stopped = false
  /** Whether rows are left behind that a fold failed on: the next one takes whatever is there. */
  let isBehind = false
  /** What is committed and not yet counted. */
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
        // From here on others wait for the next commit.
        open = undefined
        const row = { id, counts: JSON.stringify(batch.counts) }
        await trx.insertInto('install_journal').values(row).execute()
        if (batch.mirrored.size > 0) await upstreamQueue.queueInstalls(trx, batch.mirrored.values())
      })
    } catch (error) {
      // A writer that took nothing leaves the batch open, and its next caller would be told of an old failure.
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

  /** One after the other. What fails stays in the journal, and is counted with the next that succeeds. */
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
