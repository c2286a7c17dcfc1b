import { RegistryError, type ErrorCode } from '@skillstead/protocol/wire'
import pRetry, { AbortError } from 'p-retry'
import { delay } from './deadline.ts'

/** What may go well a moment later. `offline` is not among them: a mirror knows that it will not. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'rate_limited',
  'upstream_failed',
  'upstream_timeout',
  'overloaded',
  'shutting_down',
])
const backoffMs = 250
/** A longer `Retry-After` is the caller's to wait for. */
const retryAfterSecondsMax = 30

/** Calls `attempt` again after errors that pass, a little later each time and not before `Retry-After` says. */
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

/** Says that an error is not to be tried again, whatever its code. */
export function forGood(error: RegistryError): AbortError {
  return new AbortError(error)
}

function mayPass(error: Error): error is RegistryError {
  if (!(error instanceof RegistryError) || !passing.has(error.code)) return false
  return (error.retryAfterSeconds ?? 0) <= retryAfterSecondsMax
}
