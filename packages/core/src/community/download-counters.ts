import { createHash, randomBytes } from 'node:crypto'
import type { SharedLimits } from '../storage/shared-limits.ts'
import type { DownloadCounter, UpstreamQueue } from '../catalogue/context/ports.ts'
import { addMirrored, type MirroredInstalls, type UseCounts } from '../catalogue/context/use-counts.ts'
import { countedAs } from '../kernel/client-kinds.ts'
import { type Clock, dayMs } from '../kernel/clock.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Database } from '../storage/database.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { Watchers } from '../webhooks/download-events.ts'
import { addDetails, countDownloads, toDay, type CountedUse } from './download-days.ts'
import { type Installer, putInstallers } from './installers.ts'
import { addInstalls, rollAllTrends, toHour } from './trends.ts'

export interface CountingParts {
  readonly database: Database
  readonly clock: Clock
  readonly outbox: Pick<Outbox, 'enqueue'>
  readonly watchers: Watchers
  readonly upstreamQueue: Pick<UpstreamQueue, 'queueInstalls'>
  readonly onError: (error: unknown) => void
  readonly recordInstallers: boolean
}

/**
 * Counters of downloads and installs, which are collected in memory and written in batches, so that counting a use
 * needs no commit.
 */
export interface DownloadCounters extends DownloadCounter {
  /** Writes the collected counts. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Counts that are not written yet. */
interface Gathered {
  /** Downloads by keys of `toUseKey`. */
  readonly uses: Map<string, number>
  /** Downloads and installs by skill, day, version and kind of client. */
  readonly details: Map<string, CountedUse>
  /** Installs to report to an upstream, by skill id. */
  readonly mirrored: Map<string, MirroredInstalls>
  /** The last installs of users, by skill and user. */
  readonly installers: Map<string, Installer>
}

/** The API contract requires that counts are visible within a second. */
const flushMs = 400

export function createDownloadCounters(parts: CountingParts, seen: SeenUses): DownloadCounters {
  const { database, clock, watchers, onError, recordInstallers } = parts
  let gathered = createGathered()
  let timer: NodeJS.Timeout | undefined
  let flushing = Promise.resolve()
  /** Pending queries of the database that the nodes share: whether a use is the first of its day. */
  const asking = new Set<Promise<boolean>>()

  /** Flushes run one after another, so that callers also wait for a flush that the timer started. */
  function flush(): Promise<void> {
    return (flushing = flushing.then(write, write))
  }

  async function write(): Promise<void> {
    await Promise.all(asking)
    clearTimeout(timer)
    timer = undefined
    let left = gathered
    gathered = createGathered()
    try {
      while (left.uses.size > 0 || left.details.size > 0 || left.installers.size > 0) {
        const all = left
        const uses = await database.writer.write((trx) => countUses(trx, parts, all))
        left = { ...createGathered(), uses: new Map(uses) }
      }
    } catch (error) {
      onError(error)
      for (const [key, count] of left.uses) gather((of) => addCount(of.uses, key, count))
      for (const use of left.details.values()) gather(({ details }) => addUse(details, use))
      for (const use of left.mirrored.values())
        gather(({ mirrored }) => addMirrored(mirrored, use.skillId, use, use.count))
      for (const [key, one] of left.installers)
        gather(({ installers }) => installers.set(key, installers.get(key) ?? one))
    }
  }

  /** Collects counts for the next flush, including counts that a previous flush could not write. */
  function gather(add: (to: Gathered) => void): void {
    add(gathered)
    timer ??= setTimeout(() => void flush(), flushMs)
  }

  function gatherIfFirst(isFirst: boolean | Promise<boolean>, add: (to: Gathered) => void): void {
    if (isFirst === true) gather(add)
    else if (isFirst !== false) void gatherOnce(isFirst, add)
  }

  async function gatherOnce(isFirst: Promise<boolean>, add: (to: Gathered) => void): Promise<void> {
    asking.add(isFirst)
    if (await isFirst) gather(add)
    asking.delete(isFirst)
  }

  return {
    countDownload(skill, { client, kind = 'api', address, userId = null } = {}) {
      if (database.isReadOnly) return
      const now = clock.now()
      const key = watchers.toKey(skill, client)
      const counted = { skill_id: skill.id, day: toDay(now), version: skill.version, client: kind }
      gatherIfFirst(seen.isFirst('download', skill.id, address, now), ({ uses, details }) => {
        addCount(uses, key, 1)
        addUse(details, { ...counted, downloads: 1, installs: 0 })
      })
      if (countedAs[kind] !== 'install') return
      if (recordInstallers && userId !== null) {
        const last = { skill_id: skill.id, user_id: userId, version: skill.version, day: toDay(now) }
        gather(({ installers }) => installers.set(`${skill.id} ${userId}`, last))
      }
      gatherIfFirst(seen.isFirst('install', skill.id, address, now), ({ details, mirrored }) => {
        addUse(details, { ...counted, downloads: 0, installs: 1 })
        if (skill.mirrored) addMirrored(mirrored, skill.id, skill.mirrored, 1)
      })
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

function createGathered(): Gathered {
  return { uses: new Map(), details: new Map(), mirrored: new Map(), installers: new Map() }
}

function addCount(uses: Map<string, number>, key: string, count: number): void {
  uses.set(key, (uses.get(key) ?? 0) + count)
}

function addUse(details: Map<string, CountedUse>, use: CountedUse): void {
  const key = `${use.skill_id} ${use.day} ${use.version} ${use.client}`
  const { downloads = 0, installs = 0 } = details.get(key) ?? {}
  details.set(key, { ...use, downloads: downloads + use.downloads, installs: installs + use.installs })
}

/** Writes counts. Returns the downloads that did not fit into this transaction. */
async function countUses(
  trx: WriteTransaction,
  parts: CountingParts,
  { uses, details, mirrored, installers }: Gathered,
): Promise<UseCounts> {
  const { clock, outbox, upstreamQueue } = parts
  const { dialect } = parts.database
  const at = clock.now()
  const hour = toHour(at)
  const installs = sumInstalls(details.values())
  const now = installs.size > 0 ? await rollAllTrends(trx, hour) : hour
  const left = uses.size > 0 ? (await countDownloads(trx, { dialect, outbox }, uses, at)).left : uses
  if (installs.size > 0) await addInstalls(trx, dialect, { hour, now, counts: installs })
  if (installers.size > 0) await putInstallers(trx, dialect, [...installers.values()])
  if (details.size > 0) await addDetails(trx, dialect, [...details.values()])
  if (mirrored.size > 0) await upstreamQueue.queueInstalls(trx, mirrored.values())
  return left
}

function sumInstalls(uses: Iterable<CountedUse>): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { skill_id: id, installs } of uses) if (installs > 0) addCount(sums, id, installs)
  return sums
}

/** Determines whether a use is the first of a skill from an address on a day (UTC); later uses do not count. */
interface SeenUses {
  /**
   * Records the use. Returns a promise if the database that the nodes share must be asked. Always true without an
   * address.
   */
  isFirst(
    use: 'download' | 'install',
    skillId: string,
    address: string | undefined,
    now: number,
  ): boolean | Promise<boolean>
}

/**
 * Maximum number of recorded uses, about 100 bytes each. Beyond this number, the oldest is evicted, and for the rest of
 * the day nodes do not share new records.
 */
const seenMax = 250_000

/**
 * Records uses as hashes in memory, with a secret salt, so that the hashes identify no address. With `shared`, all
 * nodes on a database count a use once in total, by a digest in the database that is deleted after the day.
 */
export function createSeenUses(shared?: SharedLimits): SeenUses {
  const seen = new Set<string>()
  const salt = randomBytes(32)
  let today = 0
  let added = 0

  /** Adds a use. Returns whether it was new. */
  function add(key: string): boolean {
    const hash = createHash('sha256').update(salt).update(key).digest('base64url').slice(0, 16)
    if (seen.has(hash)) return false
    if (seen.size >= seenMax) seen.delete(seen.values().next().value!)
    seen.add(hash)
    added += 1
    return true
  }

  return {
    isFirst(use, skillId, address, now) {
      // Calls without an address come from inside the process, and always count.
      if (address === undefined) return true
      const day = toDay(now)
      if (day !== today) {
        seen.clear()
        today = day
        added = 0
      }
      const key = `${use} ${day} ${skillId} ${address}`
      if (!add(key)) return false
      if (!shared || added > seenMax) return true
      return isFirstOfAll(shared, key, (day + 1) * dayMs - now)
    },
  }
}

/** Whether a use is the first on all nodes. If the database does not respond, each node counts separately. */
async function isFirstOfAll(shared: SharedLimits, key: string, windowMs: number): Promise<boolean> {
  const state = await shared.take(key, { points: 1, windowMs, share: 1, isOnce: true })
  return state === undefined || !state.exceeded
}
