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
    const writes = [...counts].map(async ([skillId, count]) => {
      try {
        await addDownloads(skillId, count)
      } catch (error) {
        onError(error)
        gather(skillId, count)
      }
    })
    await Promise.all(writes)
  }

  /** What could not be written is gathered again and waits for the next time. */
  function gather(skillId: string, count: number): void {
    gathered.set(skillId, (gathered.get(skillId) ?? 0) + count)
    timer ??= setTimeout(() => void flush(), flushMs)
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
