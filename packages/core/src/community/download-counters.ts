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

/**
 * Counters of downloads and installs, which are collected in memory and written in batches, so that counting a use
 * needs no commit.
 */
export class DownloadCounters implements DownloadCounter {
  readonly #parts: CountingParts
  readonly #seen: SeenUses
  #gathered = createGathered()
  #timer: NodeJS.Timeout | undefined
  #flushing = Promise.resolve()
  /** Pending queries of the database that the nodes share: whether a use is the first of its day. */
  readonly #asking = new Set<Promise<boolean>>()

  constructor(parts: CountingParts, seen: SeenUses) {
    this.#parts = parts
    this.#seen = seen
  }

  countDownload(
    ...[skill, { client, kind = 'api', address, userId = null } = {}]: Parameters<DownloadCounter['countDownload']>
  ): void {
    const { database, clock, watchers, recordInstallers } = this.#parts
    if (database.isReadOnly) return
    const now = clock.now()
    const key = watchers.toKey(skill, client)
    const counted = { skill_id: skill.id, day: toDay(now), version: skill.version, client: kind }
    this.#gatherIfFirst(this.#seen.isFirst('download', skill.id, address, now), ({ uses, details }) => {
      addCount(uses, key, 1)
      addUse(details, { ...counted, downloads: 1, installs: 0 })
    })
    if (countedAs[kind] !== 'install') return
    if (recordInstallers && userId !== null) {
      const last = { skill_id: skill.id, user_id: userId, version: skill.version, day: toDay(now) }
      this.#gather(({ installers }) => installers.set(`${skill.id} ${userId}`, last))
    }
    this.#gatherIfFirst(this.#seen.isFirst('install', skill.id, address, now), ({ details, mirrored }) => {
      addUse(details, { ...counted, downloads: 0, installs: 1 })
      if (skill.mirrored) addMirrored(mirrored, skill.id, skill.mirrored, 1)
    })
  }

  /** Writes the collected counts. Flushes run one after another, so that callers also wait for a flush of the timer. */
  flush(): Promise<void> {
    const write = () => this.#write()
    return (this.#flushing = this.#flushing.then(write, write))
  }

  async stop(): Promise<void> {
    await this.flush()
    // Writes the counts of a failed flush once more; then the process may end.
    await this.flush()
    clearTimeout(this.#timer)
  }

  async #write(): Promise<void> {
    await Promise.all(this.#asking)
    clearTimeout(this.#timer)
    this.#timer = undefined
    let left = this.#gathered
    this.#gathered = createGathered()
    try {
      while (left.uses.size > 0 || left.details.size > 0 || left.installers.size > 0) {
        const all = left
        const uses = await this.#parts.database.writer.write((trx) => countUses(trx, this.#parts, all))
        left = { ...createGathered(), uses: new Map(uses) }
      }
    } catch (error) {
      this.#parts.onError(error)
      this.#gatherAgain(left)
    }
  }

  #gatherAgain(left: Gathered): void {
    for (const [key, count] of left.uses) this.#gather(({ uses }) => addCount(uses, key, count))
    for (const use of left.details.values()) this.#gather(({ details }) => addUse(details, use))
    for (const use of left.mirrored.values())
      this.#gather(({ mirrored }) => addMirrored(mirrored, use.skillId, use, use.count))
    for (const [key, one] of left.installers)
      this.#gather(({ installers }) => installers.set(key, installers.get(key) ?? one))
  }

  /** Collects counts for the next flush, including counts that a previous flush could not write. */
  #gather(add: (to: Gathered) => void): void {
    add(this.#gathered)
    this.#timer ??= setTimeout(() => void this.flush(), flushMs)
  }

  #gatherIfFirst(isFirst: boolean | Promise<boolean>, add: (to: Gathered) => void): void {
    if (isFirst === true) this.#gather(add)
    else if (isFirst !== false) void this.#gatherOnce(isFirst, add)
  }

  async #gatherOnce(isFirst: Promise<boolean>, add: (to: Gathered) => void): Promise<void> {
    this.#asking.add(isFirst)
    if (await isFirst) this.#gather(add)
    this.#asking.delete(isFirst)
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

/**
 * Maximum number of recorded uses, about 100 bytes each. Beyond this number, the oldest is evicted, and for the rest of
 * the day nodes do not share new records.
 */
const seenMax = 250_000

/**
 * Determines whether a use is the first of a skill from an address on a day (UTC); later uses do not count. Records uses
 * as hashes in memory, with a secret salt, so that the hashes identify no address. With `shared`, all nodes on a
 * database count a use once in total, by a digest in the database that is deleted after the day.
 */
export class SeenUses {
  readonly #shared: SharedLimits | undefined
  readonly #seen = new Set<string>()
  readonly #salt = randomBytes(32)
  #today = 0
  #added = 0

  constructor(shared?: SharedLimits) {
    this.#shared = shared
  }

  /**
   * Records the use. Returns a promise if the database that the nodes share must be asked. Always true without an
   * address.
   */
  isFirst(
    use: 'download' | 'install',
    skillId: string,
    address: string | undefined,
    now: number,
  ): boolean | Promise<boolean> {
    // Calls without an address come from inside the process, and always count.
    if (address === undefined) return true
    const day = toDay(now)
    if (day !== this.#today) {
      this.#seen.clear()
      this.#today = day
      this.#added = 0
    }
    const key = `${use} ${day} ${skillId} ${address}`
    if (!this.#add(key)) return false
    if (!this.#shared || this.#added > seenMax) return true
    return isFirstOfAll(this.#shared, key, (day + 1) * dayMs - now)
  }

  /** Adds a use. Returns whether it was new. */
  #add(key: string): boolean {
    const hash = createHash('sha256').update(this.#salt).update(key).digest('base64url').slice(0, 16)
    if (this.#seen.has(hash)) return false
    if (this.#seen.size >= seenMax) this.#seen.delete(this.#seen.values().next().value!)
    this.#seen.add(hash)
    this.#added += 1
    return true
  }
}

/** Whether a use is the first on all nodes. If the database does not respond, each node counts separately. */
async function isFirstOfAll(shared: SharedLimits, key: string, windowMs: number): Promise<boolean> {
  const state = await shared.take(key, { points: 1, windowMs, share: 1, isOnce: true })
  return state === undefined || !state.exceeded
}
