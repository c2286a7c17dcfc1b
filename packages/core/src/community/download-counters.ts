import { createHash, randomBytes } from 'node:crypto'
import type { SharedLimits } from '../storage/shared-limits.ts'
import type { UpstreamQueue } from '../catalogue/context/ports.ts'
import type { UseCounts, UsedSkill } from '../catalogue/context/use-counts.ts'
import { type Clock, dayMs } from '../kernel/clock.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Database } from '../storage/database.ts'
import type { Watchers } from '../webhooks/download-events.ts'
import { countDownloads, toDay } from './download-days.ts'

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
  /** `client` is the name that the client reports. Of each address, only the first download of a day counts. */
  countDownload(skill: UsedSkill, client?: string, address?: string): void
  /** Writes the collected counts. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** The contract requires counters to be visible within a second. */
const flushMs = 400

export function createDownloadCounters(
  { database, clock, outbox, watchers, onError }: CountingParts,
  seen: SeenDownloads,
): DownloadCounters {
  const parts = { dialect: database.dialect, outbox }
  let gathered = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let flushing = Promise.resolve()
  /** Pending queries to other nodes whether a download is the first of its day. */
  const asking = new Set<Promise<boolean>>()

  /** Flushes run one after another, so that callers also wait for a flush that the timer started. */
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
      if (database.isReadOnly) return
      const key = watchers.toKey(skill, client)
      const isFirst = seen.isFirst(skill.id, address, clock.now())
      if (isFirst === true) return gather(key, 1)
      if (isFirst === false) return
      void gatherOnce(key, isFirst)
    },
    flush,
    async stop() {
      await flush()
      // Writes the counts of a failed flush once more; then the process may end.
      await flush()
      clearTimeout(timer)
    },
  }
}

/** Determines whether a download is the first of a skill from an address on a day (UTC); others do not count. */
interface SeenDownloads {
  /** Records the download. Returns a promise if other nodes must be asked. Always true without an address. */
  isFirst(skillId: string, address: string | undefined, now: number): boolean | Promise<boolean>
}

/**
 * The maximum number of records, about 100 bytes each. Above it the oldest is evicted, and nodes do not share records.
 */
const seenMax = 250_000

/**
 * Stores hashes in memory, with a secret salt, so that they identify no address. With `shared`, all nodes on a database
 * count a download once in total; they store a digest that is deleted after the day.
 */
export function createSeenDownloads(shared?: SharedLimits): SeenDownloads {
  const seen = new Set<string>()
  const salt = randomBytes(32)
  let today = 0
  let added = 0

  /** Adds a download. Returns whether it was new. */
  function add(key: string): boolean {
    const hash = createHash('sha256').update(salt).update(key).digest('base64url').slice(0, 16)
    if (seen.has(hash)) return false
    if (seen.size >= seenMax) seen.delete(seen.values().next().value!)
    seen.add(hash)
    added += 1
    return true
  }

  return {
    isFirst(skillId, address, now) {
      // Calls without an address are the operator's own.
      if (address === undefined) return true
      const day = toDay(now)
      if (day !== today) {
        seen.clear()
        today = day
        added = 0
      }
      const key = `download ${day} ${skillId} ${address}`
      if (!add(key)) return false
      if (!shared || added > seenMax) return true
      return isFirstOfAll(shared, key, (day + 1) * dayMs - now)
    },
  }
}

/** If the database does not respond, each node counts separately. */
async function isFirstOfAll(shared: SharedLimits, key: string, windowMs: number): Promise<boolean> {
  const state = await shared.take(key, { points: 1, windowMs, share: 1, isOnce: true })
  return state === undefined || !state.exceeded
}
