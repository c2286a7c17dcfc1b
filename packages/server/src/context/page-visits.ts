import { LRUCache } from 'lru-cache'

/** How long the calls of a page belong to it, as long as an allowance lasts. */
const visitMs = 60_000
/** More than any page of the dashboard makes; each further one counts as a request. */
const callsMax = 50
const entriesMax = 20_000
const idPattern = /^[\w-]{1,64}$/

interface Visit {
  readonly atMs: number
  calls: number
}

/**
 * Remembers the pages of the dashboard that callers opened within the last minute on this node, so that a page counts
 * as one request, however many calls it makes. The pages name themselves: the calls of a page cost files instead of
 * requests, so that a program which pretends to be a page has a limit, too.
 */
export class PageVisits {
  readonly #now: () => number
  /** The calls of each page, by caller and page. */
  readonly #visits = new LRUCache<string, Visit>({ max: entriesMax })
  /** The addresses whose last request loaded the document of a page. */
  readonly #loaded = new LRUCache<string, number>({ max: entriesMax })

  constructor(now: () => number) {
    this.#now = now
  }

  /** Counts the document of a page, whose first call then belongs to it. */
  load(address: string): void {
    this.#loaded.set(address, this.#now())
  }

  /** Whether a call belongs to a page that has spent its request. `id` is the name that the page gave itself. */
  continues(caller: string, address: string, id: string): boolean {
    if (!idPattern.test(id)) return false
    const key = `${caller} ${id}`
    const visit = this.#visits.get(key)
    if (visit !== undefined && this.#isRecent(visit.atMs)) {
      visit.calls += 1
      return visit.calls <= callsMax
    }
    this.#visits.set(key, { atMs: this.#now(), calls: 1 })
    const loadedMs = this.#loaded.get(address)
    this.#loaded.delete(address)
    return loadedMs !== undefined && this.#isRecent(loadedMs)
  }

  /** The absolute value, so that an age is not negative after the clock was set back. */
  #isRecent(atMs: number): boolean {
    return Math.abs(this.#now() - atMs) < visitMs
  }
}
