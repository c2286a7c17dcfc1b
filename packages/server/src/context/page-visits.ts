import { LRUCache } from 'lru-cache'

/** How long the calls of a page belong to its visit, in milliseconds: the length of the window of a rate limit. */
const visitMs = 60_000
/**
 * Maximum number of calls of a visit, which is charged as one request: about as many as the largest page makes. The
 * next call is charged as a request again, and begins a new visit.
 */
const callsMax = 20
/** The number of files that each call of a visit is charged as, so that a program gains little by posing as a page. */
export const pageCallFiles = 4
const entriesMax = 20_000
const idPattern = /^[\w-]{1,64}$/

interface Visit {
  readonly atMs: number
  /** The charge of the request that began the visit; rejects if that request was refused. */
  readonly paid: Promise<void>
  calls: number
}

/**
 * Remembers the pages of the dashboard that callers opened within the last minute on this node, so that a page costs
 * one request for each 20 calls. The calls themselves contain the page's name, so a program could pretend to be a page.
 * To limit such a program too, the other calls of a page are charged as files.
 */
export class PageVisits {
  readonly #now: () => number
  /** The visits, by caller and page. */
  readonly #visits = new LRUCache<string, Visit>({ max: entriesMax })
  /** The time of the last request for the document of a page, by the client's address. */
  readonly #loaded = new LRUCache<string, number>({ max: entriesMax })

  constructor(now: () => number) {
    this.#now = now
  }

  /** Records that an address loaded the document of a page. Its next visit belongs to this request. */
  load(address: string): void {
    this.#loaded.set(address, this.#now())
  }

  /**
   * Counts a call of a page as part of a visit, and returns the charge of the request that began the visit. Undefined
   * for a call that must be charged as a request itself. `id` is the page's name in the call.
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

  /** Starts a visit with a call that is charged as a request (`paid`). Ends the visit if that request is refused. */
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
