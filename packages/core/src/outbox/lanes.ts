import type { ClaimedRow } from './claims.ts'

/**
 * Speed of the last attempts of a lane: `new` is unknown, `fast` is short, `slow` is so long that the receiver may
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
const laneMost: Readonly<Record<Pace, Bounds>> = {
  new: { running: 8, leased: 64 },
  fast: { running: 32, leased: 128 },
  slow: { running: 8, leased: 16 },
}
/**
 * Limits for all lanes of one pace together. Slow lanes leave capacity for new lanes, and both leave capacity for fast
 * lanes.
 */
const paceMost: Readonly<Record<Pace, Bounds>> = {
  slow: { running: 96, leased: 256 },
  new: { running: 192, leased: 640 },
  fast: most,
}
/** The paces whose rows count towards the limit of a pace. A new lane may turn out to be slow. */
const countedWith: Readonly<Record<Pace, readonly Pace[]>> = { slow: ['slow'], new: ['slow', 'new'], fast: ['fast'] }
/** An attempt that takes longer than this makes its lane slow. */
const slowMs = 1000
/** After a fast attempt a slow lane becomes new, not fast: one fast attempt may be chance. */
const nextPace: Readonly<Record<Pace, Pace>> = { slow: 'new', new: 'fast', fast: 'fast' }
/** Number of lanes without rows whose pace is remembered. */
const pacesMax = 4096

/**
 * Minimum rows per lane in a claim. Rows of a lane are stored near each other, so several at a time read fewer disk
 * pages.
 */
const shareMin = 4

interface Lane {
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
 * Schedules leased rows. Lanes take turns round-robin. Slow lanes share a limited number of slots, so that receivers
 * that hang do not delay the others.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  readonly #hosts = new Map<string, Count>()
  readonly #all = toCount()
  readonly #paces: Readonly<Record<Pace, Count>> = { new: toCount(), fast: toCount(), slow: toCount() }
  readonly #remembered = new Map<string, Pace>()
  readonly #now: () => number
  /** Lanes with queued rows, in the order of their turns. */
  #turns: Lane[] = []

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

  /** Number of rows to request from each lane in a claim of `claimed` rows, so that every lane gets a share. */
  shareOf(claimed: number): number {
    return Math.max(shareMin, Math.ceil(claimed / Math.max(1, this.#lanes.size)))
  }

  /** Names of lanes that reached their limit of leased rows. */
  get full(): string[] {
    return [...this.#lanes.values()].filter((lane) => !this.#hasRoom(lane)).map(({ name }) => name)
  }

  /** Whether a lane has so few rows left that another claim is worthwhile. */
  isLow(name: string): boolean {
    const lane = this.#lanes.get(name)
    return lane === undefined || leasedBy(lane) * 2 <= laneMost[lane.pace].leased || lane.waiting.length === 0
  }

  /** Selects the rows that fit into the limits, in their order. */
  choose<T extends { lane: string; host: string }>(rows: readonly T[]): T[] {
    const chosen = new Map<string, number>()
    const add = (key: string) => chosen.set(key, (chosen.get(key) ?? 0) + 1)
    const isOver = (key: string, leased: number, heldMax: number) => leased + (chosen.get(key) ?? 0) >= heldMax
    return rows.slice(0, Math.max(0, this.room)).filter(({ lane: name, host }) => {
      const lane = this.#lanes.get(name)
      const pace = lane?.pace ?? this.#remembered.get(name) ?? 'new'
      if (isOver(`lane ${name}`, lane ? leasedBy(lane) : 0, laneMost[pace].leased)) return false
      if (isOver(`pace ${pace}`, this.#ofPace(pace, 'leased'), paceMost[pace].leased)) return false
      if (host !== '' && isOver(`host ${host}`, this.#hosts.get(host)?.leased ?? 0, hostMost.leased)) return false
      add(`lane ${name}`)
      add(`pace ${pace}`)
      return add(`host ${host}`)
    })
  }

  add(rows: readonly ClaimedRow[]): void {
    for (const row of rows) {
      const lane = this.#lanes.get(row.lane) ?? this.#openLane(row.lane)
      if (lane.waiting.length === 0) this.#turns.push(lane)
      lane.waiting.push(row)
      this.#count(row, lane, 'leased', 1)
    }
  }

  /** Takes up to `count` rows whose turn it is, and counts them as running. */
  begin(count = Infinity): ClaimedRow[] {
    const now = this.#now()
    const begun: ClaimedRow[] = []
    // Blocked lanes keep their turn at the front; a lane that starts a row goes to the back.
    const blocked: Lane[] = []
    while (this.#all.running < most.running && begun.length < count) {
      const lane = this.#turns.shift()
      if (!lane) break
      if (!this.#hasPlace(lane, now)) {
        blocked.push(lane)
        continue
      }
      const row = lane.waiting.shift()!
      lane.running.set(row, now)
      this.#count(row, lane, 'running', 1)
      begun.push(row)
      if (lane.waiting.length > 0) this.#turns.push(lane)
    }
    this.#turns.unshift(...blocked)
    return begun
  }

  end(row: ClaimedRow): void {
    const lane = this.#lanes.get(row.lane)!
    const durationMs = this.#now() - lane.running.get(row)!
    lane.running.delete(row)
    this.#count(row, lane, 'running', -1)
    this.#count(row, lane, 'leased', -1)
    this.#setPace(lane, durationMs > slowMs ? 'slow' : nextPace[lane.pace])
    if (leasedBy(lane) === 0) this.#closeLane(lane)
  }

  /** Removes and returns all queued rows. */
  clear(): ClaimedRow[] {
    const lanes = this.#turns.splice(0)
    return lanes.flatMap((lane) => {
      const rows = lane.waiting.splice(0)
      for (const row of rows) this.#count(row, lane, 'leased', -1)
      if (leasedBy(lane) === 0) this.#closeLane(lane)
      return rows
    })
  }

  #openLane(name: string): Lane {
    const pace = this.#remembered.get(name) ?? 'new'
    this.#remembered.delete(name)
    const lane: Lane = { name, waiting: [], running: new Map(), pace }
    this.#lanes.set(name, lane)
    return lane
  }

  #closeLane({ name, pace }: Lane): void {
    this.#lanes.delete(name)
    this.#remembered.set(name, pace)
    if (this.#remembered.size > pacesMax) this.#remembered.delete(this.#remembered.keys().next().value!)
  }

  #hasRoom(lane: Lane): boolean {
    const host = this.#hosts.get(lane.waiting[0]?.host ?? '')
    if (leasedBy(lane) >= laneMost[lane.pace].leased) return false
    return this.#ofPace(lane.pace, 'leased') < paceMost[lane.pace].leased && (host?.leased ?? 0) < hostMost.leased
  }

  #hasPlace(lane: Lane, now: number): boolean {
    const [oldest] = lane.running.values()
    // A running attempt that already exceeds the limit makes the lane slow before it ends.
    if (oldest !== undefined && now - oldest > slowMs) this.#setPace(lane, 'slow')
    if ((this.#hosts.get(lane.waiting[0]!.host)?.running ?? 0) >= hostMost.running) return false
    if (this.#ofPace(lane.pace, 'running') >= paceMost[lane.pace].running) return false
    return lane.running.size < laneMost[lane.pace].running
  }

  #ofPace(pace: Pace, what: keyof Count): number {
    return countedWith[pace].reduce((sum, each) => sum + this.#paces[each][what], 0)
  }

  #setPace(lane: Lane, pace: Pace): void {
    if (lane.pace === pace) return
    const [from, to] = [this.#paces[lane.pace], this.#paces[pace]]
    from.leased -= leasedBy(lane)
    from.running -= lane.running.size
    to.leased += leasedBy(lane)
    to.running += lane.running.size
    lane.pace = pace
  }

  #count({ host: name }: ClaimedRow, { pace }: Lane, what: keyof Count, step: 1 | -1): void {
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

function leasedBy({ waiting, running }: Lane): number {
  return waiting.length + running.size
}
