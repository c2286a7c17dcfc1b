import type { Clock } from './clock.ts'
import type { Outbox } from './outbox/outbox.ts'
import type { Database } from './storage/database.ts'
import { countDownloads } from './telemetry/count-downloads.ts'
import type { UseCounts, UsedSkill } from './telemetry/uses.ts'
import type { Watchers } from './webhooks/watchers.ts'

/** What counting uses of skills works with. */
export interface CountingParts {
  readonly database: Database
  readonly clock: Clock
  readonly outbox: Pick<Outbox, 'enqueue'>
  readonly watchers: Watchers
  readonly onError: (error: unknown) => void
}

/** Counts of use, gathered in memory and written in groups: a download costs a map entry, not a commit. */
export interface Counters {
  /** `client` is the program that downloads, as it names itself. */
  countDownload(skill: UsedSkill, client?: string): void
  /** Writes what is gathered. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** The contract has counters visible within a second. */
const flushMs = 400

export function createCounters({ database, clock, outbox, watchers, onError }: CountingParts): Counters {
  const parts = { dialect: database.dialect, outbox }
  let gathered = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let flushing = Promise.resolve()

  /** One after the other: whoever asks waits for what the timer began too. */
  function flush(): Promise<void> {
    return (flushing = flushing.then(write, write))
  }

  async function write(): Promise<void> {
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

  return {
    countDownload: (skill, client) => gather(watchers.toKey(skill, client), 1),
    flush,
    async stop() {
      await flush()
      // One more try for what failed; then the process may end.
      await flush()
      clearTimeout(timer)
    },
  }
}
