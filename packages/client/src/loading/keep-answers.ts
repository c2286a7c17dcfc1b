import { RegistryError } from '@skillstead/protocol/wire'
import { createAnswerCache, type CachedAnswer } from './answer-cache.ts'
import { createFlights } from './flights.ts'

/** The response of a registry. */
interface Answered {
  readonly output: unknown
  readonly etag?: string
  /** Whether the registry reports that the cached response is current (304). */
  readonly isUnchanged?: boolean
}

/** A cacheable request to a registry. */
export interface Question {
  readonly key: string
  /** The skill or search of the request. A refusal by the registry drops all cached responses with this subject. */
  readonly subject: string
  readonly ttlMs: number
  /** The response to use if no response is cached under `key`, such as a higher level of the same skill. */
  readonly spare?: CachedAnswer
  /** Sends the request, without retries if a cached response is available. Throws for an invalid response. */
  ask(cached: CachedAnswer | undefined, signal: AbortSignal): Promise<Answered>
}

export interface KeepOptions {
  /** Current time in milliseconds since the epoch. */
  readonly now: () => number
  /** Called when a cached response is returned because the registry is unavailable. */
  readonly onStale: (subject: string, error: RegistryError) => void
}

/** A cache whose responses are used longer while the registry is unavailable. */
export interface KeptAnswers {
  /** The cached response under a key, fresh or stale. */
  find(key: string): CachedAnswer | undefined
  /** Whether a cached response may be used without a request. */
  isFresh(answer: CachedAnswer): boolean
  /**
   * Returns the output of the cached response if the response is fresh. Otherwise sends the request, and returns the
   * cached output only if the registry is unavailable.
   */
  get(question: Question, signal?: AbortSignal): Promise<unknown>
  clear(): void
}

/** Statuses by which a registry refuses a skill: cached responses about it must not be used any more. */
const refusals: ReadonlySet<number> = new Set([401, 403, 404, 410, 451])
/** Limits of the pause between requests to an unavailable registry: without it each call would wait for its timeout. */
const pauseMs = { atLeast: 30_000, atMost: 3_600_000 }

/** Caches responses in memory. Use one cache per registry and caller, because responses may be private. */
export function keepAnswers({ now, onStale }: KeepOptions): KeptAnswers {
  const cache = createAnswerCache()
  const flights = createFlights<unknown>()
  let generation = 0

  function isFresh({ sinceMs, forMs }: CachedAnswer): boolean {
    const ageMs = now() - sinceMs
    // If the clock was set back, the age of the response is unknown.
    return ageMs >= 0 && ageMs < forMs
  }

  async function refresh({ key, subject, ttlMs, spare, ask }: Question, signal: AbortSignal): Promise<unknown> {
    const cached = cache.get(key) ?? spare
    const started = generation
    const put = (output: unknown, etag: string | undefined, forMs: number) => {
      // Do not cache the response if the cache was cleared meanwhile.
      if (generation === started) cache.put(key, { output, etag, subject, sinceMs: now(), forMs })
      return output
    }
    try {
      const { output, etag, isUnchanged } = await ask(cached, signal)
      return isUnchanged && cached ? put(cached.output, cached.etag, ttlMs) : put(output, etag, ttlMs)
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error
      if (error.status === 401) clear()
      if (refusals.has(error.status)) cache.forget(subject)
      if (!cached || !(error.status >= 500 || error.status === 429)) throw error
      onStale(subject, error)
      return put(cached.output, cached.etag, toOutagePauseMs(error))
    }
  }

  function clear(): void {
    generation += 1
    cache.clear()
    flights.clear()
  }

  return {
    find: cache.get,
    isFresh,
    async get(question, signal) {
      const cached = cache.get(question.key)
      if (cached && isFresh(cached)) return cached.output
      return flights.join(question.key, signal, (shared) => refresh(question, shared))
    },
    clear,
  }
}

function toOutagePauseMs({ retryAfterSeconds = 0 }: RegistryError): number {
  return Math.min(Math.max(pauseMs.atLeast, 1000 * retryAfterSeconds), pauseMs.atMost)
}
