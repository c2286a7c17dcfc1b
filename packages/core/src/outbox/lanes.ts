import type { ClaimedRow } from './claims.ts'

/** Rows that are worked on at a time: in all, by all slow lanes together, to one host, in one lane, in a slow lane. */
const runningMax = { all: 256, slow: 128, host: 64, lane: 32, slowLane: 8 }
/** Rows that are claimed and wait their turn count too: claiming some ahead makes one commit of many. */
export const heldMax = { all: 512, lane: 64, slowLane: 16 }
/** A lane is slow after an attempt that took longer, until one that did not. */
const slowMs = 1000

interface Lane {
  readonly name: string
  readonly waiting: ClaimedRow[]
  running: number
  isSlow: boolean
}

/**
 * Who has the next turn. Lanes go round; those whose work takes long share a part of the places, so that receivers that
 * hang keep nobody else from theirs.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  readonly #hosts = new Map<string, number>()
  /** Lanes with rows that wait, in the order of their turns. */
  #turns: Lane[] = []
  #held = 0
  #running = { all: 0, slow: 0 }

  /** How many more rows may be claimed. */
  get room(): number {
    return heldMax.all - this.#held
  }

  /** Lanes that have rows enough. */
  get full(): string[] {
    return [...this.#lanes.values()].filter((lane) => roomOf(lane) <= 0).map(({ name }) => name)
  }

  /** Whether a lane has few enough rows left that claiming more is worth it. */
  isLow(name: string): boolean {
    const lane = this.#lanes.get(name)
    return lane === undefined || lane.waiting.length * 2 <= (lane.isSlow ? runningMax.slowLane : runningMax.lane)
  }

  /** As many of the rows as their lanes have room for, in their order. */
  choose<T extends { lane: string }>(rows: readonly T[]): T[] {
    const chosen = new Map<string, number>()
    return rows.slice(0, this.room).filter(({ lane }) => {
      const count = chosen.get(lane) ?? 0
      const known = this.#lanes.get(lane)
      if (count >= (known ? roomOf(known) : heldMax.lane)) return false
      return chosen.set(lane, count + 1)
    })
  }

  add(rows: readonly ClaimedRow[]): void {
    for (const row of rows) {
      let lane = this.#lanes.get(row.lane)
      if (!lane) this.#lanes.set(row.lane, (lane = { name: row.lane, waiting: [], running: 0, isSlow: false }))
      if (lane.waiting.length === 0) this.#turns.push(lane)
      lane.waiting.push(row)
    }
    this.#held += rows.length
  }

  /** The rows whose turn it is; they count as running from here on. */
  begin(): ClaimedRow[] {
    const begun: ClaimedRow[] = []
    let turns = this.#turns
    for (let isMoving = true; isMoving;) {
      isMoving = false
      const rest: Lane[] = []
      for (const lane of turns) {
        if (this.#hasPlace(lane)) {
          begun.push(this.#beginNext(lane))
          isMoving = true
        }
        if (lane.waiting.length > 0) rest.push(lane)
      }
      turns = rest
    }
    // Whoever had a turn just now comes after those who had none.
    const names = new Set(begun.map(({ lane }) => lane))
    this.#turns = [...turns.filter(({ name }) => !names.has(name)), ...turns.filter(({ name }) => names.has(name))]
    return begun
  }

  end(row: ClaimedRow, durationMs: number): void {
    const lane = this.#lanes.get(row.lane)!
    this.#count(row, lane, -1)
    this.#held -= 1
    this.#running.slow -= lane.isSlow ? lane.running : 0
    lane.isSlow = durationMs > slowMs
    this.#running.slow += lane.isSlow ? lane.running : 0
    if (lane.running === 0 && lane.waiting.length === 0 && !lane.isSlow) this.#lanes.delete(lane.name)
  }

  /** Takes out what waits its turn. */
  clear(): ClaimedRow[] {
    const rows = this.#turns.flatMap((lane) => lane.waiting.splice(0))
    this.#turns = []
    this.#held -= rows.length
    return rows
  }

  #hasPlace(lane: Lane): boolean {
    const row = lane.waiting[0]!
    if (this.#running.all >= runningMax.all) return false
    if (row.host !== '' && (this.#hosts.get(row.host) ?? 0) >= runningMax.host) return false
    if (lane.isSlow) return this.#running.slow < runningMax.slow && lane.running < runningMax.slowLane
    return lane.running < runningMax.lane
  }

  #beginNext(lane: Lane): ClaimedRow {
    const row = lane.waiting.shift()!
    this.#count(row, lane, 1)
    return row
  }

  #count(row: ClaimedRow, lane: Lane, step: 1 | -1): void {
    lane.running += step
    this.#running.all += step
    if (lane.isSlow) this.#running.slow += step
    if (row.host === '') return
    const running = (this.#hosts.get(row.host) ?? 0) + step
    if (running === 0) this.#hosts.delete(row.host)
    else this.#hosts.set(row.host, running)
  }
}

function roomOf(lane: Lane): number {
  return (lane.isSlow ? heldMax.slowLane : heldMax.lane) - lane.waiting.length - lane.running
}
