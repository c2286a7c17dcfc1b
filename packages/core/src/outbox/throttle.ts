import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'

/** Counts the API calls of the process. */
export interface Traffic {
  /** Number of API calls that began since the registry was opened. */
  calls: number
}

/** Clocks of a throttle, in milliseconds. */
interface Meter {
  now(): number
  /** Total time for which the event loop was busy. */
  activeMs(): number
}

const processMeter: Meter = {
  now: () => performance.now(),
  activeMs: () => performance.eventLoopUtilization().active,
}

/** Interval in milliseconds at which the rate is recomputed. */
const judgedMs = 50
/**
 * If no call began for this time, no client is waiting. In a shorter pause the event loop may have had no time for
 * calls.
 */
const quietMs = 250
/** Attempts per second while there are API calls: `least` attempts may always begin, and never more than `most`. */
const perSecond = { least: 600, most: 20_000 }
/** If the event loop is idle for less than this share of the time, the rate is lowered: API calls have to wait. */
const idleLeast = 0.2
const change = { slower: 0.5, faster: 1.25 }
/** Size of the token bucket, as the time in which it fills. */
const burstMs = 10
/** Interval in milliseconds at which a waiting attempt looks for a token. */
const waitMs = 3

/**
 * Limits how many attempts begin, because hundreds of attempts would take most of the event loop's time from API calls.
 * While there are calls and the loop is busy, attempts go through a token bucket whose rate adapts. Without calls there
 * is no limit.
 */
export class Throttle {
  readonly #traffic: Traffic
  readonly #meter: Meter
  readonly #inTurn = pLimit(1)
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

  /** Waits until an attempt may begin, and counts it as begun. */
  async admit(): Promise<void> {
    if (this.isLimiting) {
      await this.#inTurn(async () => {
        while (this.room < 1) await sleep(waitMs)
        this.begin(1)
      })
    } else this.begin(1)
  }

  /** Whether a limit applies at present. */
  get isLimiting(): boolean {
    this.#refresh()
    return this.#perSecond < Infinity
  }

  /** How many attempts may begin now: an integer, or Infinity. */
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
    // Attempts that began while no limit applied do not count against the bucket.
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
