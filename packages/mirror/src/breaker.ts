import { RegistryError, type ErrorCode } from '@skillstead/protocol'
import type { Clock } from '@skillstead/core'

export interface BreakerOptions {
  /** The upstream's name, for the error message. */
  readonly name: string
  readonly clock: Clock
}

/** A circuit breaker, so that callers do not wait for an upstream that does not respond. */
export interface Breaker {
  /**
   * Does the work. Throws `upstream_failed` at once during the pause in which the upstream is not called. After the
   * pause, one caller at a time may try; the first success admits all callers again.
   */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Admits all callers again. Called when a request outside of this breaker reached the upstream. */
  reset(): void
  /** Whether the breaker would refuse the next call. */
  readonly isOpen: boolean
}

/** Consecutive failures after which the upstream is not called for a while. */
const failuresInRowMax = 3
const restMs = 30_000
/** Codes of errors that the upstream itself returned, which shows that it is reachable. */
const responseCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'conflict',
  'forbidden',
  'idempotency_key_reused',
  'invalid_request',
  'invalid_skill',
  'invalid_transition',
  'name_taken',
  'not_found',
  'payload_too_large',
  'plan_required',
  'rate_limited',
  'taken_down',
  'unauthorized',
  'unsupported_media_type',
  'version_exists',
])

/**
 * Creates a breaker: after a number of consecutive failures, an upstream is not called for a while; then one caller at
 * a time may try it.
 */
export function createBreaker({ name, clock }: BreakerOptions): Breaker {
  let failures = 0
  let failedAtMs = 0
  let isTrying = false

  /** The rest of the pause. If the clock was set back, the pause starts again, so that it does not last longer. */
  const restLeftMs = () => {
    failedAtMs = Math.min(failedAtMs, clock.now())
    return failedAtMs + restMs - clock.now()
  }
  const isResting = () => failures >= failuresInRowMax && (isTrying || restLeftMs() > 0)

  return {
    reset: () => void (failures = 0),
    get isOpen() {
      return isResting()
    },
    async run(work) {
      if (isResting()) {
        const retryAfterSeconds = Math.max(1, Math.ceil(restLeftMs() / 1000))
        const detail = `${name} failed ${failures} times in a row. It is not contacted for ${retryAfterSeconds} s.`
        throw new RegistryError('upstream_failed', detail, { retryAfterSeconds })
      }
      const isTrial = failures >= failuresInRowMax
      isTrying ||= isTrial
      try {
        const outcome = await work()
        failures = 0
        return outcome
      } catch (error) {
        if (error instanceof RegistryError && responseCodes.has(error.code)) failures = 0
        else if (isFailure(error)) {
          failures += 1
          failedAtMs = clock.now()
        }
        throw error
      } finally {
        if (isTrial) isTrying = false
      }
    },
  }
}

/** Whether an error is a failure of the upstream: not if the request was aborted, or prevented by offline mode. */
function isFailure(error: unknown): boolean {
  if (error instanceof RegistryError) return error.code !== 'offline'
  return !(error instanceof Error) || error.name !== 'AbortError'
}
