import type { Clock } from './clock.ts'
import type { Database } from './storage/database.ts'
import { countDownloads } from './telemetry/count-downloads.ts'

/** Counts of use, gathered in memory and written in groups: a download costs a map entry, not a commit. */
export interface Counters {
  countDownload(skillId: string): void
  /** Writes what is gathered. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** The contract has counters visible within a second. */
const flushMs = 400

export function createCounters(database: Database, clock: Clock, onError: (error: unknown) => void): Counters {
  let gathered = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (gathered.size === 0) return
    const counts = gathered
    gathered = new Map()
    try {
      await database.writer.write((trx) => countDownloads(trx, database.dialect, counts, clock.now()))
    } catch (error) {
      onError(error)
      for (const [skillId, count] of counts) gather(skillId, count)
    }
  }

  /** What could not be written is gathered again and waits for the next time. */
  function gather(skillId: string, count: number): void {
    gathered.set(skillId, (gathered.get(skillId) ?? 0) + count)
    timer ??= setTimeout(() => void flush(), flushMs)
  }

  return {
    countDownload: (skillId) => gather(skillId, 1),
    flush,
    async stop() {
      await flush()
      // One more try for what failed; then the process may end.
      await flush()
      clearTimeout(timer)
    },
  }
}
