import type { UpstreamQueue } from '../catalogue/catalogue-ports.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Database } from '../storage/database.ts'
import { countDownloads } from './count-downloads.ts'
import type { SeenDownloads } from './seen-downloads.ts'
import type { UseCounts, UsedSkill } from '../catalogue/use-counts.ts'
import type { Watchers } from '../webhooks/download-watchers.ts'

/** What counting uses of skills works with. */
export interface CountingParts {
  readonly database: Database
  readonly clock: Clock
  readonly outbox: Pick<Outbox, 'enqueue'>
  readonly watchers: Watchers
  readonly upstreamQueue: Pick<UpstreamQueue, 'queueInstalls'>
  readonly onError: (error: unknown) => void
}

/** Counts of use, gathered in memory and written in groups: a download costs a map entry, not a commit. */
export interface DownloadCounters {
  /** `client` is the program that downloads, as it names itself. Of an address, only the first of a day counts. */
  countDownload(skill: UsedSkill, client?: string, address?: string): void
  /** Writes what is gathered. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** The contract has counters visible within a second. */
const flushMs = 400

export function createCounters(
  { database, clock, outbox, watchers, onError }: CountingParts,
  seen: SeenDownloads,
): DownloadCounters {
  const parts = { dialect: database.dialect, outbox }
  let gathered = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let flushing = Promise.resolve()
  /** Downloads of which other nodes are asked whether they are the first. */
  const asking = new Set<Promise<boolean>>()

  /** One after the other: whoever asks waits for what the timer began too. */
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

  /** What could not be written is gathered again and waits for the next time. */
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
      // One more try for what failed; then the process may end.
      await flush()
      clearTimeout(timer)
    },
  }
}
