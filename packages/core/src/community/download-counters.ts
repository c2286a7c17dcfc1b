import type { UpstreamQueue } from '../catalogue/catalogue-ports.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Database } from '../storage/database.ts'
import { countDownloads } from './count-downloads.ts'
import type { SeenDownloads } from './seen-downloads.ts'
import type { UseCounts, UsedSkill } from '../catalogue/use-counts.ts'
import type { Watchers } from '../webhooks/download-watchers.ts'

/** Dependencies of counting uses. */
export interface CountingParts {
  readonly database: Database
  readonly clock: Clock
  readonly outbox: Pick<Outbox, 'enqueue'>
  readonly watchers: Watchers
  readonly upstreamQueue: Pick<UpstreamQueue, 'queueInstalls'>
  readonly onError: (error: unknown) => void
}

/** Use counters, collected in memory and written in batches: a download costs a map entry, not a commit. */
export interface DownloadCounters {
  /**
   * `client` is the downloading program, as it reports itself. Of each address, only the first download of a day
   * counts.
   */
  countDownload(skill: UsedSkill, client?: string, address?: string): void
  /** Writes the collected counts. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** The contract requires counters to be visible within a second. */
const flushMs = 400

export function createCounters(
  { database, clock, outbox, watchers, onError }: CountingParts,
  seen: SeenDownloads,
): DownloadCounters {
  const parts = { dialect: database.dialect, outbox }
  let gathered = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let flushing = Promise.resolve()
  /** Downloads for which other nodes are being asked whether they are the first. */
  const asking = new Set<Promise<boolean>>()

  /** Flushes run one after another, so that callers also wait for the one the timer started. */
  function flush(): Promise<void> {
    return (flushing = flushing.then(write, write))
  }

  async function write(): Promise<void> {
    await Promise.all(asking)
    clearTimeout(timer)
    timer = undefined
    let uses: UseCounts = gathered
    gathered = new Map()
    try {
      while (uses.size > 0) {
        const all = uses
        uses = (await database.writer.write((trx) => countDownloads(trx, parts, all, clock.now()))).left
      }
    } catch (error) {
      onError(error)
      for (const [key, count] of uses) gather(key, count)
    }
  }

  /** Counts that could not be written are collected again for the next flush. */
  function gather(key: string, count: number): void {
    gathered.set(key, (gathered.get(key) ?? 0) + count)
    timer ??= setTimeout(() => void flush(), flushMs)
  }

  async function gatherOnce(key: string, isFirst: Promise<boolean>): Promise<void> {
    asking.add(isFirst)
    if (await isFirst) gather(key, 1)
    asking.delete(isFirst)
  }

  return {
    countDownload(skill, client, address) {
      const key = watchers.toKey(skill, client)
      const isFirst = seen.isFirst(skill.id, address, clock.now())
      if (isFirst === true) return gather(key, 1)
      if (isFirst === false) return
      void gatherOnce(key, isFirst)
    },
    flush,
    async stop() {
      await flush()
      // One more attempt for counts that failed; then the process may end.
      await flush()
      clearTimeout(timer)
    },
  }
}
