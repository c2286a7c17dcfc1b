import { RegistryError, type ErrorCode } from '@skillstead/protocol'
import type { Clock } from '@skillstead/core'

export interface BreakerOptions {
  /** What the upstream is called, for the refusal. */
  readonly name: string
  readonly clock: Clock
  /** Failures in a row after which it is left alone: 3 unless it is said. */
  readonly failuresMax?: number
  /** For how long: half a minute unless it is said. */
  readonly restMs?: number
}

/** Keeps those who wait from an upstream that does not answer. */
export interface Breaker {
  /**
   * Does the work, or throws `upstream_failed` at once while the upstream is left alone. After that time one caller at
   * a time may try; the first that succeeds opens the way for all.
   */
  run<T>(work: () => Promise<T>): Promise<T>
  /** To be called when the upstream was reached by another way: nobody is kept from it any more. */
  reset(): void
  /** Whether the next call would be refused. */
  readonly isOpen: boolean
}

const failuresMaxDefault = 3
const restMsDefault = 30_000
/** Errors that are answers: of a server that is there. */
const answers: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
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

/** After so many failures in a row an upstream is left alone for a while, then tried by one caller. */
export function createBreaker(options: BreakerOptions): Breaker {
  const { name, clock, failuresMax = failuresMaxDefault, restMs = restMsDefault } = options
  let failures = 0
  let failedAtMs = 0
  let isTrying = false

  /** A clock that was set back meanwhile makes the rest no longer than it is: it begins anew by that clock. */
  const restLeftMs = () => {
    failedAtMs = Math.min(failedAtMs, clock.now())
    return failedAtMs + restMs - clock.now()
  }
  const isResting = () => failures >= failuresMax && (isTrying || restLeftMs() > 0)

  return {
    reset: () => void (failures = 0),
    get isOpen() {
      return isResting()
    },
    async run(work) {
      if (isResting()) {
        const retryAfterSeconds = Math.max(1, Math.ceil(restLeftMs() / 1000))
        const detail = `${name} failed ${failures} times in a row and is left alone for ${retryAfterSeconds} s.`
        throw new RegistryError('upstream_failed', detail, { retryAfterSeconds })
      }
      const isTrial = failures >= failuresMax
      isTrying ||= isTrial
      try {
        const outcome = await work()
        failures = 0
        return outcome
      } catch (error) {
        if (isAnswer(error)) failures = 0
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

function isAnswer(error: unknown): boolean {
  return error instanceof RegistryError && answers.has(error.code)
}

/** Not what this side ended or never asked. */
function isFailure(error: unknown): boolean {
  if (error instanceof RegistryError) return error.code !== 'offline'
  return (error as { name?: unknown } | null)?.name !== 'AbortError'
}
