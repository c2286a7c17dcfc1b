import { performance } from 'node:perf_hooks'

/** What shows how busy the process is with other things; see {@link Context.traffic}. */
export interface Traffic {
  /** Calls of the interface that began since the registry was opened. */
  calls: number
}

/** What a throttle measures, in milliseconds. */
interface Meter {
  now(): number
  /** For how long the event loop has been busy in all. */
  activeMs(): number
}

const processMeter: Meter = {
  now: () => performance.now(),
  activeMs: () => performance.eventLoopUtilization().active,
}

/** How long a judgement of what else goes on stands. */
const judgedMs = 50
/** Without a call for so long nobody waits; a shorter silence may be that of a loop which had no turn for them. */
const quietMs = 250
/** Attempts a second that begin whatever else goes on, and at most while anything does. */
const perSecond = { least: 600, most: 20_000 }
/** Where the event loop is idle for less of the time than this, whoever calls meanwhile has to wait. */
const idleLeast = 0.2
const change = { slower: 0.5, faster: 1.25 }
/** What may begin at once, as a stretch of time. */
const burstMs = 10

/**
 * How many attempts may begin. The event loop shares itself out by what is ready in each of its turns, so that hundreds of
 * attempts would leave little of it to those who call the registry meanwhile. While somebody calls and the loop is
 * busy, attempts go through a token bucket that adapts; while nobody does, nothing is held back.
 */
export class Throttle {
  readonly #traffic: Traffic
  readonly #meter: Meter
  #perSecond = Infinity
  #tokens = 0
  #filledAt = 0
  #judgedAt: number
  #activeMs: number
  #calls: number
  #calledAt = -Infinity
  #begun = 0

  constructor(traffic: Traffic, meter: Meter = processMeter) {
    this.#traffic = traffic
    this.#meter = meter
    this.#judgedAt = meter.now()
    this.#activeMs = meter.activeMs()
    this.#calls = traffic.calls
  }

  /** Whether anything is held back. */
  get isHolding(): boolean {
    this.#refresh()
    return this.#perSecond < Infinity
  }

  /** How many may begin now: a whole number, or infinitely many. */
  get room(): number {
    const now = this.#refresh()
    if (this.#perSecond === Infinity) return Infinity
    const most = Math.max(1, (this.#perSecond * burstMs) / 1000)
    this.#tokens = Math.min(most, this.#tokens + ((now - this.#filledAt) * this.#perSecond) / 1000)
    this.#filledAt = now
    return Math.max(0, Math.floor(this.#tokens))
  }

  begin(count: number): void {
    this.#begun += count
    // What began while nothing was held back is no debt.
    if (this.#perSecond < Infinity) this.#tokens -= count
  }

  #refresh(): number {
    const now = this.#meter.now()
    if (now - this.#judgedAt >= judgedMs) this.#judge(now)
    return now
  }

  #judge(now: number): void {
    const activeMs = this.#meter.activeMs()
    const passedMs = now - this.#judgedAt
    const idle = 1 - (activeMs - this.#activeMs) / passedMs
    const rate = (this.#begun * 1000) / passedMs
    if (this.#traffic.calls !== this.#calls) this.#calledAt = now
    if (now - this.#calledAt >= quietMs) this.#perSecond = Infinity
    else if (idle < idleLeast) {
      const slower = Math.min(this.#perSecond, rate) * change.slower
      this.#perSecond = Math.min(perSecond.most, Math.max(perSecond.least, slower))
    } else if (this.#perSecond < Infinity) {
      this.#perSecond = Math.min(perSecond.most, this.#perSecond * change.faster)
    }
    this.#activeMs = activeMs
    this.#calls = this.#traffic.calls
    this.#begun = 0
    this.#judgedAt = now
  }
}
