import { RegistryError } from '@skillstead/protocol/wire'
import { createAnswerCache, type CachedAnswer } from './answer-cache.ts'
import { createFlights } from './flights.ts'

/** What a registry said. */
export interface Answered {
  readonly output: unknown
  readonly etag?: string
  /** The answer that was held is still the one. */
  readonly isUnchanged?: boolean
}

/** Something to ask a registry. */
export interface Question {
  readonly key: string
  /** A refusal drops every answer about it. */
  readonly subject: string
  readonly ttlMs: number
  /** What may be given, if need be, where nothing is held under the key. */
  readonly spare?: CachedAnswer
  /** Asks, once where `held` is there to fall back on. Throws for what is no proper answer. */
  ask(held: CachedAnswer | undefined, signal: AbortSignal): Promise<Answered>
}

export interface KeepOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Hears of every answer that is given although the registry could not be asked. */
  readonly onStale: (subject: string, error: RegistryError) => void
}

/** Answers that are kept for a while, and longer while the registry is away. */
export interface KeptAnswers {
  /** The answer that is held, fresh or not. */
  find(key: string): CachedAnswer | undefined
  /** Whether an answer may be given without asking again. */
  isFresh(answer: CachedAnswer): boolean
  /** The answer that is held where it is fresh, what the registry says else, and the held one where it cannot say. */
  get(question: Question, signal?: AbortSignal): Promise<unknown>
  clear(): void
}

/** What a registry says of a skill that it does not, or no longer, give: what was held of it must not be used. */
const refusals: ReadonlySet<number> = new Set([401, 403, 404, 451])
/** While a registry is away it is not asked at every call, each of which would wait for its deadline. */
const pauseMs = { atLeast: 30_000, atMost: 3_600_000 }

/** Keeps answers in memory: of one registry and one caller, for it holds private ones too. */
export function keepAnswers({ now, onStale }: KeepOptions): KeptAnswers {
  const cache = createAnswerCache()
  const flights = createFlights<unknown>()
  let generation = 0

  function isFresh({ sinceMs, forMs }: CachedAnswer): boolean {
    const ageMs = now() - sinceMs
    // A clock that was set back says nothing of an age.
    return ageMs >= 0 && ageMs < forMs
  }

  async function refresh({ key, subject, ttlMs, spare, ask }: Question, signal: AbortSignal): Promise<unknown> {
    const held = cache.get(key) ?? spare
    const started = generation
    const put = (output: unknown, etag: string | undefined, forMs: number) => {
      // Whoever clears meanwhile does not want it back.
      if (generation === started) cache.put(key, { output, etag, subject, sinceMs: now(), forMs })
      return output
    }
    try {
      const { output, etag, isUnchanged } = await ask(held, signal)
      return isUnchanged && held ? put(held.output, held.etag, ttlMs) : put(output, etag, ttlMs)
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error
      if (error.status === 401) clear()
      if (refusals.has(error.status)) cache.forget(subject)
      if (!held || !isOutage(error)) throw error
      onStale(subject, error)
      return put(held.output, held.etag, toPauseMs(error))
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
      const held = cache.get(question.key)
      if (held && isFresh(held)) return held.output
      return flights.join(question.key, signal, (shared) => refresh(question, shared))
    },
    clear,
  }
}

function toPauseMs({ retryAfterSeconds = 0 }: RegistryError): number {
  return Math.min(Math.max(pauseMs.atLeast, 1000 * retryAfterSeconds), pauseMs.atMost)
}

function isOutage({ status }: RegistryError): boolean {
  return status >= 500 || status === 429
}
