import { RegistryError, type ErrorCode } from '@skillstead/protocol/wire'
import pRetry, { AbortError } from 'p-retry'
import { delay } from './deadline.ts'

/** Errors after which a retry may succeed. Not `offline`: an operator chose the offline mode. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'rate_limited',
  'upstream_failed',
  'upstream_timeout',
  'overloaded',
  'shutting_down',
])
const backoffMs = 250
/** The longest `Retry-After` for which the client waits, in seconds; for a longer time it throws the error at once. */
const retryAfterSecondsMax = 30

/** Retries `attempt` after temporary errors, with growing delays and not before `Retry-After`. */
export function withRetries<T>(attempt: () => Promise<T>, retries: number, signal?: AbortSignal): Promise<T> {
  return pRetry(attempt, {
    retries,
    minTimeout: backoffMs,
    randomize: true,
    signal,
    async onFailedAttempt({ error, retriesLeft, retryDelay }) {
      if (!mayPass(error)) throw error
      if (retriesLeft > 0) await delay(Math.max(0, 1000 * (error.retryAfterSeconds ?? 0) - retryDelay), signal)
    },
  })
}

/** Marks an error as final: {@link withRetries} does not retry after it, whatever its code. */
export function forGood(error: RegistryError): AbortError {
  return new AbortError(error)
}

function mayPass(error: Error): error is RegistryError {
  if (!(error instanceof RegistryError) || !passing.has(error.code)) return false
  return (error.retryAfterSeconds ?? 0) <= retryAfterSecondsMax
}
