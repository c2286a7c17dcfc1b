import { LRUCache } from 'lru-cache'

/** How long the calls of a page belong to its visit, in milliseconds: as long as the window of a rate limit. */
const visitMs = 60_000
/** Maximum calls of a visit: about as many as the largest page makes. Further calls each pay a request themselves. */
const callsMax = 20
/** The number of files that each call of a page costs, so that a program which pretends to be a page gains little. */
export const pageCallFiles = 4
const entriesMax = 20_000
const idPattern = /^[\w-]{1,64}$/

interface Visit {
  readonly atMs: number
  /** Rejects if the request of the page was refused. */
  readonly paid: Promise<void>
  calls: number
}

/**
 * Remembers the pages of the dashboard that callers opened within the last minute on this node, so that a page costs
 * one request for each 20 calls. A page names itself in its calls, so a program could pretend to be a page. So the
 * calls of a page cost files instead of requests, which limits such a program, too.
 */
export class PageVisits {
  readonly #now: () => number
  /** The calls of each page, by caller and page. */
  readonly #visits = new LRUCache<string, Visit>({ max: entriesMax })
  /** The time of the last request for the document of a page, by the client's address. */
  readonly #loaded = new LRUCache<string, number>({ max: entriesMax })

  constructor(now: () => number) {
    this.#now = now
  }

  /** Records that an address loaded the document of a page. The first calls of a page then belong to this request. */
  load(address: string): void {
    this.#loaded.set(address, this.#now())
  }

  /**
   * Counts a call of a page, and returns the payment of the request to which the call belongs. Undefined for a call
   * that has to pay a request itself. `id` is the name that the page gave itself.
   */
  join(caller: string, address: string, id: string): Promise<void> | undefined {
    const visit = this.#visits.get(toKey(caller, id))
    if (visit !== undefined && this.#isRecent(visit.atMs)) {
      visit.calls += 1
      return visit.calls <= callsMax ? visit.paid : undefined
    }
    const loadedMs = this.#loaded.get(address)
    if (!idPattern.test(id) || loadedMs === undefined) return undefined
    this.#loaded.delete(address)
    if (!this.#isRecent(loadedMs)) return undefined
    const paid = Promise.resolve()
    this.open(caller, id, paid)
    return paid
  }

  /** Starts a visit with a call that pays a request, for the page's next calls. Ends it if the request is refused. */
  open(caller: string, id: string, paid: Promise<void>): void {
    if (!idPattern.test(id)) return
    const key = toKey(caller, id)
    const visit = { atMs: this.#now(), paid, calls: 1 }
    this.#visits.set(key, visit)
    paid.catch(() => this.#visits.get(key) === visit && this.#visits.delete(key))
  }

  /** Whether a time is recent. The age is an absolute value, because the clock may have been set back. */
  #isRecent(atMs: number): boolean {
    return Math.abs(this.#now() - atMs) < visitMs
  }
}

function toKey(caller: string, id: string): string {
  return `${caller} ${id}`
}
