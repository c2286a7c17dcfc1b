import type { ClaimedRow } from './claims.ts'

/** How long the last attempts of a lane took: not known yet, a short time, or so long that it hangs. */
type Pace = 'new' | 'fast' | 'slow'

interface Bounds {
  /** Rows that are worked on at a time. */
  readonly running: number
  /** Rows that are claimed, also those that wait their turn: claiming some ahead makes one commit of many. */
  readonly held: number
}

const most: Bounds = { running: 256, held: 1024 }
const hostMost: Bounds = { running: 64, held: 256 }
const laneMost: Readonly<Record<Pace, Bounds>> = {
  new: { running: 8, held: 64 },
  fast: { running: 32, held: 128 },
  slow: { running: 8, held: 16 },
}
/** All lanes of a pace together: what hangs leaves places to what is not known yet, and both to what is quick. */
const paceMost: Readonly<Record<Pace, Bounds>> = {
  slow: { running: 96, held: 256 },
  new: { running: 192, held: 640 },
  fast: most,
}
/** The paces that count towards the bounds of one: what is not known yet may turn out to hang. */
const countedWith: Readonly<Record<Pace, readonly Pace[]>> = { slow: ['slow'], new: ['slow', 'new'], fast: ['fast'] }
/** An attempt that takes longer makes its lane slow. */
const slowMs = 1000
/** One quick attempt of a slow lane may be chance. */
const nextPace: Readonly<Record<Pace, Pace>> = { slow: 'new', new: 'fast', fast: 'fast' }
/** Lanes without rows whose pace is remembered. */
const pacesMax = 4096

/** Rows of a lane lie near each other: some at a time cost fewer pages of the disk. */
const shareMin = 4

interface Lane {
  readonly name: string
  readonly waiting: ClaimedRow[]
  /** When each began, the oldest first. */
  readonly running: Map<ClaimedRow, number>
  pace: Pace
}

/** Rows that are held, and of them those that run. */
interface Count {
  held: number
  running: number
}

/**
 * Who has the next turn. Lanes go round; those whose work takes long share a part of the places, so that receivers that
 * hang keep nobody else from theirs.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  readonly #hosts = new Map<string, Count>()
  readonly #all = toCount()
  readonly #paces: Readonly<Record<Pace, Count>> = { new: toCount(), fast: toCount(), slow: toCount() }
  readonly #remembered = new Map<string, Pace>()
  readonly #now: () => number
  /** Lanes with rows that wait, in the order of their turns. */
  #turns: Lane[] = []

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** How many more rows may be claimed. */
  get room(): number {
    return most.held - this.#all.held
  }

  /** Rows that are claimed. */
  get held(): number {
    return this.#all.held
  }

  get running(): number {
    return this.#all.running
  }

  /** How many rows to ask of each lane for a claim of so many, so that every lane gets some of it. */
  shareOf(claimed: number): number {
    return Math.max(shareMin, Math.ceil(claimed / Math.max(1, this.#lanes.size)))
  }

  /** Lanes that have rows enough. */
  get full(): string[] {
    return [...this.#lanes.values()].filter((lane) => !this.#hasRoom(lane)).map(({ name }) => name)
  }

  /** Whether a lane has few enough rows left that claiming more is worth it. */
  isLow(name: string): boolean {
    const lane = this.#lanes.get(name)
    return lane === undefined || heldBy(lane) * 2 <= laneMost[lane.pace].held || lane.waiting.length === 0
  }

  /** As many of the rows as there is room for, in their order. */
  choose<T extends { lane: string; host: string }>(rows: readonly T[]): T[] {
    const chosen = new Map<string, number>()
    const add = (key: string) => chosen.set(key, (chosen.get(key) ?? 0) + 1)
    const isOver = (key: string, held: number, heldMax: number) => held + (chosen.get(key) ?? 0) >= heldMax
    return rows.slice(0, Math.max(0, this.room)).filter(({ lane: name, host }) => {
      const lane = this.#lanes.get(name)
      const pace = lane?.pace ?? this.#remembered.get(name) ?? 'new'
      if (isOver(`lane ${name}`, lane ? heldBy(lane) : 0, laneMost[pace].held)) return false
      if (isOver(`pace ${pace}`, this.#ofPace(pace, 'held'), paceMost[pace].held)) return false
      if (host !== '' && isOver(`host ${host}`, this.#hosts.get(host)?.held ?? 0, hostMost.held)) return false
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
      this.#count(row, lane, 'held', 1)
    }
  }

  /** The rows whose turn it is, so many at most; they count as running from here on. */
  begin(count = Infinity): ClaimedRow[] {
    const now = this.#now()
    const begun: ClaimedRow[] = []
    // Those that have no place keep their turn; whoever had one is the last.
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
    this.#count(row, lane, 'held', -1)
    this.#setPace(lane, durationMs > slowMs ? 'slow' : nextPace[lane.pace])
    if (heldBy(lane) === 0) this.#closeLane(lane)
  }

  /** Takes out what waits its turn. */
  clear(): ClaimedRow[] {
    const lanes = this.#turns.splice(0)
    return lanes.flatMap((lane) => {
      const rows = lane.waiting.splice(0)
      for (const row of rows) this.#count(row, lane, 'held', -1)
      if (heldBy(lane) === 0) this.#closeLane(lane)
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
    if (heldBy(lane) >= laneMost[lane.pace].held) return false
    return this.#ofPace(lane.pace, 'held') < paceMost[lane.pace].held && (host?.held ?? 0) < hostMost.held
  }

  #hasPlace(lane: Lane, now: number): boolean {
    const [oldest] = lane.running.values()
    // It hangs already, and need not end to be known for it.
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
    from.held -= heldBy(lane)
    from.running -= lane.running.size
    to.held += heldBy(lane)
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
    if (host.held === 0) this.#hosts.delete(name)
  }
}

function toCount(): Count {
  return { held: 0, running: 0 }
}

function heldBy({ waiting, running }: Lane): number {
  return waiting.length + running.size
}
