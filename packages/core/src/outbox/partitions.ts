import type { ClaimedRow } from './claims.ts'

/**
 * Speed of the last attempts of a partition: `new` is unknown, `fast` is short, `slow` is so long that the receiver may
 * hang.
 */
type Pace = 'new' | 'fast' | 'slow'

interface Bounds {
  /** Maximum number of rows that are processed at the same time. */
  readonly running: number
  /** Maximum number of leased rows, including queued rows. Leasing rows in advance needs fewer commits. */
  readonly leased: number
}

const most: Bounds = { running: 256, leased: 1024 }
const hostMost: Bounds = { running: 64, leased: 256 }
const partitionMost: Readonly<Record<Pace, Bounds>> = {
  new: { running: 8, leased: 64 },
  fast: { running: 32, leased: 128 },
  slow: { running: 8, leased: 16 },
}
/**
 * Limits for all partitions of one pace together. Slow partitions leave capacity for new partitions, and both leave capacity for fast
 * partitions.
 */
const paceMost: Readonly<Record<Pace, Bounds>> = {
  slow: { running: 96, leased: 256 },
  new: { running: 192, leased: 640 },
  fast: most,
}
/** The paces whose rows count towards the limit of a pace. A new partition may turn out to be slow. */
const countedWith: Readonly<Record<Pace, readonly Pace[]>> = { slow: ['slow'], new: ['slow', 'new'], fast: ['fast'] }
/** An attempt that takes longer than this makes its partition slow. */
const slowMs = 1000
/** After a fast attempt a slow partition becomes new, not fast: one fast attempt may be chance. */
const nextPace: Readonly<Record<Pace, Pace>> = { slow: 'new', new: 'fast', fast: 'fast' }
/** Number of partitions without rows whose pace is remembered. */
const pacesMax = 4096

/**
 * Minimum rows per partition in a claim. Rows of a partition are stored near each other, so several at a time read fewer disk
 * pages.
 */
const shareMin = 4

interface Partition {
  readonly name: string
  readonly waiting: ClaimedRow[]
  /** Start time of each running row, oldest first. */
  readonly running: Map<ClaimedRow, number>
  pace: Pace
}

/** Numbers of leased rows and of running rows among them. */
interface Count {
  leased: number
  running: number
}

/**
 * Schedules leased rows. Partitions take turns round-robin. Slow partitions share a limited number of slots, so that receivers
 * that hang do not delay the others.
 */
export class Partitions {
  readonly #partitions = new Map<string, Partition>()
  readonly #hosts = new Map<string, Count>()
  readonly #all = toCount()
  readonly #paces: Readonly<Record<Pace, Count>> = { new: toCount(), fast: toCount(), slow: toCount() }
  readonly #remembered = new Map<string, Pace>()
  readonly #now: () => number
  /** Partitions with queued rows, in the order of their turns. */
  #turns: Partition[] = []

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Number of further rows that may be leased. */
  get room(): number {
    return most.leased - this.#all.leased
  }

  /** Number of leased rows. */
  get leased(): number {
    return this.#all.leased
  }

  get running(): number {
    return this.#all.running
  }

  /** Number of rows to request from each partition in a claim of `claimed` rows, so that every partition gets a share. */
  shareOf(claimed: number): number {
    return Math.max(shareMin, Math.ceil(claimed / Math.max(1, this.#partitions.size)))
  }

  /** Names of partitions that reached their limit of leased rows. */
  get full(): string[] {
    return [...this.#partitions.values()].filter((partition) => !this.#hasRoom(partition)).map(({ name }) => name)
  }

  /** Whether a partition has so few rows left that another claim is worthwhile. */
  isLow(name: string): boolean {
    const partition = this.#partitions.get(name)
    return (
      partition === undefined ||
      leasedBy(partition) * 2 <= partitionMost[partition.pace].leased ||
      partition.waiting.length === 0
    )
  }

  /** Selects the rows that fit into the limits, in their order. */
  choose<T extends { partition: string; host: string }>(rows: readonly T[]): T[] {
    const chosen = new Map<string, number>()
    const add = (key: string) => chosen.set(key, (chosen.get(key) ?? 0) + 1)
    const isOver = (key: string, leased: number, heldMax: number) => leased + (chosen.get(key) ?? 0) >= heldMax
    return rows.slice(0, Math.max(0, this.room)).filter(({ partition: name, host }) => {
      const partition = this.#partitions.get(name)
      const pace = partition?.pace ?? this.#remembered.get(name) ?? 'new'
      if (isOver(`partition ${name}`, partition ? leasedBy(partition) : 0, partitionMost[pace].leased)) return false
      if (isOver(`pace ${pace}`, this.#ofPace(pace, 'leased'), paceMost[pace].leased)) return false
      if (host !== '' && isOver(`host ${host}`, this.#hosts.get(host)?.leased ?? 0, hostMost.leased)) return false
      add(`partition ${name}`)
      add(`pace ${pace}`)
      return add(`host ${host}`)
    })
  }

  add(rows: readonly ClaimedRow[]): void {
    for (const row of rows) {
      const partition = this.#partitions.get(row.partition) ?? this.#openPartition(row.partition)
      if (partition.waiting.length === 0) this.#turns.push(partition)
      partition.waiting.push(row)
      this.#count(row, partition, 'leased', 1)
    }
  }

  /** Takes up to `count` rows whose turn it is, and counts them as running. */
  begin(count = Infinity): ClaimedRow[] {
    const now = this.#now()
    const begun: ClaimedRow[] = []
    // Blocked partitions keep their turn at the front; a partition that starts a row goes to the back.
    const blocked: Partition[] = []
    while (this.#all.running < most.running && begun.length < count) {
      const partition = this.#turns.shift()
      if (!partition) break
      if (!this.#hasPlace(partition, now)) {
        blocked.push(partition)
        continue
      }
      const row = partition.waiting.shift()!
      partition.running.set(row, now)
      this.#count(row, partition, 'running', 1)
      begun.push(row)
      if (partition.waiting.length > 0) this.#turns.push(partition)
    }
    this.#turns.unshift(...blocked)
    return begun
  }

  end(row: ClaimedRow): void {
    const partition = this.#partitions.get(row.partition)!
    const durationMs = this.#now() - partition.running.get(row)!
    partition.running.delete(row)
    this.#count(row, partition, 'running', -1)
    this.#count(row, partition, 'leased', -1)
    this.#setPace(partition, durationMs > slowMs ? 'slow' : nextPace[partition.pace])
    if (leasedBy(partition) === 0) this.#closePartition(partition)
  }

  /** Removes and returns all queued rows. */
  clear(): ClaimedRow[] {
    const partitions = this.#turns.splice(0)
    return partitions.flatMap((partition) => {
      const rows = partition.waiting.splice(0)
      for (const row of rows) this.#count(row, partition, 'leased', -1)
      if (leasedBy(partition) === 0) this.#closePartition(partition)
      return rows
    })
  }

  #openPartition(name: string): Partition {
    const pace = this.#remembered.get(name) ?? 'new'
    this.#remembered.delete(name)
    const partition: Partition = { name, waiting: [], running: new Map(), pace }
    this.#partitions.set(name, partition)
    return partition
  }

  #closePartition({ name, pace }: Partition): void {
    this.#partitions.delete(name)
    this.#remembered.set(name, pace)
    if (this.#remembered.size > pacesMax) this.#remembered.delete(this.#remembered.keys().next().value!)
  }

  #hasRoom(partition: Partition): boolean {
    const host = this.#hosts.get(partition.waiting[0]?.host ?? '')
    if (leasedBy(partition) >= partitionMost[partition.pace].leased) return false
    return (
      this.#ofPace(partition.pace, 'leased') < paceMost[partition.pace].leased && (host?.leased ?? 0) < hostMost.leased
    )
  }

  #hasPlace(partition: Partition, now: number): boolean {
    const [oldest] = partition.running.values()
    // A running attempt that already exceeds the limit makes the partition slow before it ends.
    if (oldest !== undefined && now - oldest > slowMs) this.#setPace(partition, 'slow')
    if ((this.#hosts.get(partition.waiting[0]!.host)?.running ?? 0) >= hostMost.running) return false
    if (this.#ofPace(partition.pace, 'running') >= paceMost[partition.pace].running) return false
    return partition.running.size < partitionMost[partition.pace].running
  }

  #ofPace(pace: Pace, what: keyof Count): number {
    return countedWith[pace].reduce((sum, each) => sum + this.#paces[each][what], 0)
  }

  #setPace(partition: Partition, pace: Pace): void {
    if (partition.pace === pace) return
    const [from, to] = [this.#paces[partition.pace], this.#paces[pace]]
    from.leased -= leasedBy(partition)
    from.running -= partition.running.size
    to.leased += leasedBy(partition)
    to.running += partition.running.size
    partition.pace = pace
  }

  #count({ host: name }: ClaimedRow, { pace }: Partition, what: keyof Count, step: 1 | -1): void {
    this.#all[what] += step
    this.#paces[pace][what] += step
    if (name === '') return
    let host = this.#hosts.get(name)
    if (!host) this.#hosts.set(name, (host = toCount()))
    host[what] += step
    if (host.leased === 0) this.#hosts.delete(name)
  }
}

function toCount(): Count {
  return { leased: 0, running: 0 }
}

function leasedBy({ waiting, running }: Partition): number {
  return waiting.length + running.size
}
