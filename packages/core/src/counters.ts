import type { Clock } from './clock.ts'
import { appendChange } from './log.ts'
import type { Database } from './storage/database.ts'

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
    const written = [...counts].map(([skillId, count]) => addDownloads(skillId, count))
    for (const outcome of await Promise.allSettled(written)) {
      if (outcome.status === 'rejected') onError(outcome.reason)
    }
  }

  function addDownloads(skillId: string, count: number): Promise<void> {
    return database.writer.write(async (trx) => {
      await trx
        .updateTable('skills')
        .set((eb) => ({ downloads: eb('downloads', '+', count) }))
        .where('id', '=', skillId)
        .execute()
      await appendChange(trx, { kind: 'counters', subject: skillId, at: clock.now(), entries: [] })
    })
  }

  return {
    countDownload(skillId) {
      gathered.set(skillId, (gathered.get(skillId) ?? 0) + 1)
      timer ??= setTimeout(() => void flush(), flushMs)
    },
    flush,
    stop: flush,
  }
}
