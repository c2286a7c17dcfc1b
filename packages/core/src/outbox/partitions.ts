import pLimit, { type LimitFunction } from 'p-limit'
import type { ClaimedRow } from './claims.ts'

/**
 * Speed of the last attempts of a partition: `new` is unknown, `fast` is short, `slow` is so long that the receiver may
 * hang.
 */
type PartitionPace = 'new' | 'fast' | 'slow'

/** Maximum numbers of rows that run at the same time. */
const runningMost = {
  all: 256,
  host: 64,
  /** Rows of one partition, by the pace of the partition. */
  partition: { new: 8, fast: 32, slow: 8 } satisfies Record<PartitionPace, number>,
  /** Rows of all slow partitions together; the remainder of `all` is for other partitions. */
  slow: 96,
  /**
   * Rows of all slow and new partitions together; the remainder of `all` is for fast partitions. A new partition may
   * turn out to be slow.
   */
  unproven: 192,
}
/** Maximum number of leased rows for each row that may run at a time. Leasing rows in advance needs fewer commits. */
const leasedPerPlace = 4
/** An attempt that takes longer than this makes its partition slow. */
const slowMs = 1000
/** The pace after a fast attempt, by the pace before. One fast attempt may be chance: a slow partition becomes new. */
const nextPace: Readonly<Record<PartitionPace, PartitionPace>> = { slow: 'new', new: 'fast', fast: 'fast' }
/** Maximum number of remembered partitions, and of remembered hosts. A forgotten partition is new again. */
const rememberedMax = 4096
/**
 * Minimum rows per partition in a claim. Rows of a partition are stored near each other, so several at a time read
 * fewer disk pages.
 */
const shareMin = 4

/** Rows that share a limit. */
class RowGroup {
  /** Number of leased rows, including those that run. */
  leased = 0
  readonly limit: LimitFunction

  constructor(runningMax: number) {
    this.limit = pLimit(runningMax)
  }

  /** Number of further rows that may be leased. */
  get room(): number {
    return leasedPerPlace * this.limit.concurrency - this.leased
  }
}

class Partition extends RowGroup {
  pace: PartitionPace = 'new'
  /** The host of the row that was leased last. */
  host: RowGroup | undefined
  /** Start time of each running row, oldest first. */
  readonly running = new Map<ClaimedRow, number>()
}

/**
 * Runs leased rows, each when it is the turn of its partition and host. Slow partitions share a limited number of
 * places, so that receivers that hang do not delay other receivers.
 */
export class Partitions {
  readonly #all = new RowGroup(runningMost.all)
  readonly #unproven = new RowGroup(runningMost.unproven)
  readonly #slow = new RowGroup(runningMost.slow)
  readonly #hosts = new Map<string, RowGroup>()
  readonly #partitions = new Map<string, Partition>()
  /** Leased rows that have not begun. */
  readonly #waiting = new Set<ClaimedRow>()
  readonly #admit: () => Promise<void>
  readonly #now: () => number

  /** `admit` is awaited before each row begins. */
  constructor(admit: () => Promise<void>, now: () => number = () => performance.now()) {
    this.#admit = admit
    this.#now = now
  }

  /** Number of further rows that may be leased. */
  get room(): number {
    return this.#all.room
  }

  /** Number of leased rows. */
  get leased(): number {
    return this.#all.leased
  }

  get running(): number {
    return this.#all.limit.activeCount
  }

  /**
   * Number of rows to request from each partition in a claim of `claimed` rows, so that every partition gets a share.
   */
  shareOf(claimed: number): number {
    const active = this.#partitions.values().filter(({ leased }) => leased > 0)
    return Math.max(shareMin, Math.ceil(claimed / Math.max(1, [...active].length)))
  }

  /** Names of partitions that reached a limit of leased rows. */
  get full(): string[] {
    const active = [...this.#partitions].filter(([, { leased }]) => leased > 0)
    const full = active.filter(([, partition]) =>
      [partition, partition.host, ...this.#groupsOf(partition.pace)].some((group) => group && group.room <= 0),
    )
    return full.map(([name]) => name)
  }

  /** Whether so few leased rows of a partition remain that another claim is worthwhile. */
  isLow(name: string): boolean {
    const { leased, limit, room } = this.#partitionOf(name)
    return leased <= room || limit.pendingCount === 0
  }

  /** Selects the rows that fit into the limits, in their order. */
  choose<T extends Pick<ClaimedRow, 'partition' | 'host'>>(rows: readonly T[]): T[] {
    const chosen = new Map<RowGroup, number>()
    return rows.filter((row) => {
      const partition = this.#partitionOf(row.partition)
      this.#judge(partition)
      const groups = [partition, this.#hostOf(row.host), ...this.#groupsOf(partition.pace), this.#all]
      if (groups.some((group) => group.room <= (chosen.get(group) ?? 0))) return false
      for (const group of groups) chosen.set(group, (chosen.get(group) ?? 0) + 1)
      return true
    })
  }

  /**
   * Runs `attempt` at the turn of a leased row. Returns undefined without an attempt if {@link release} removed the
   * row.
   */
  async run<T>(row: ClaimedRow, attempt: () => Promise<T>): Promise<T | undefined> {
    const partition = this.#partitionOf(row.partition)
    const host = (partition.host = this.#hostOf(row.host))
    this.#waiting.add(row)
    this.#count(partition, host, 1)
    try {
      return await runInGroups([partition, host], () => {
        this.#judge(partition)
        return runInGroups([...this.#groupsOf(partition.pace), this.#all], () => this.#begin(row, partition, attempt))
      })
    } finally {
      this.#count(partition, host, -1)
    }
  }

  /** Removes all rows whose attempt has not begun, and returns these rows. */
  release(): ClaimedRow[] {
    const rows = [...this.#waiting]
    this.#waiting.clear()
    return rows
  }

  async #begin<T>(row: ClaimedRow, partition: Partition, attempt: () => Promise<T>): Promise<T | undefined> {
    if (this.#waiting.has(row)) await this.#admit()
    if (!this.#waiting.delete(row)) return undefined
    const startedAt = this.#now()
    partition.running.set(row, startedAt)
    try {
      return await attempt()
    } finally {
      partition.running.delete(row)
      this.#setPace(partition, this.#now() - startedAt > slowMs ? 'slow' : nextPace[partition.pace])
    }
  }

  /** Makes a partition slow while an attempt is still running, if that attempt takes longer than `slowMs`. */
  #judge(partition: Partition): void {
    const [oldest] = partition.running.values()
    if (oldest !== undefined && this.#now() - oldest > slowMs) this.#setPace(partition, 'slow')
  }

  #setPace(partition: Partition, pace: PartitionPace): void {
    if (partition.pace === pace) return
    for (const group of this.#groupsOf(partition.pace)) group.leased -= partition.leased
    for (const group of this.#groupsOf(pace)) group.leased += partition.leased
    partition.pace = pace
    partition.limit.concurrency = runningMost.partition[pace]
  }

  /** The groups that all partitions of a pace share. */
  #groupsOf(pace: PartitionPace): RowGroup[] {
    return { slow: [this.#slow, this.#unproven], new: [this.#unproven], fast: [] }[pace]
  }

  #count(partition: Partition, host: RowGroup, step: 1 | -1): void {
    for (const group of [partition, host, ...this.#groupsOf(partition.pace), this.#all]) group.leased += step
  }

  #partitionOf(name: string): Partition {
    return getGroup(this.#partitions, name, () => new Partition(runningMost.partition.new))
  }

  /** The group of a host. Jobs without a host have no limit per host. */
  #hostOf(name: string): RowGroup {
    return getGroup(this.#hosts, name, () => new RowGroup(name === '' ? Infinity : runningMost.host))
  }
}

function getGroup<T extends RowGroup>(groups: Map<string, T>, name: string, create: () => T): T {
  const known = groups.get(name)
  if (known) return known
  if (groups.size >= rememberedMax) for (const [key, { leased }] of groups) if (leased === 0) groups.delete(key)
  const group = create()
  groups.set(name, group)
  return group
}

/** Runs work as soon as every group has room for it; waits for the groups one after the other. */
function runInGroups<T>([group, ...others]: readonly RowGroup[], work: () => Promise<T>): Promise<T> {
  return group ? group.limit(() => runInGroups(others, work)) : work()
}
