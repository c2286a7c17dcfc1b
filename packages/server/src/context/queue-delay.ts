import { RegistryError } from '@skillstead/protocol'

/** How long requests wait for the event loop. */
export interface QueueDelay {
  /** The current delay in milliseconds. */
  readonly ms: () => number
  stop(): void
}

const tickMs = 20
/**
 * Above this delay, costly operations are refused. A request waits up to twice this delay, because the requests in
 * front of it take as long again: less than a second in all.
 */
const delayMsMax = 400

/**
 * Measures how late a timer fires. A round of the event loop handles all requests that have arrived, and the timer runs
 * between rounds: while a round lasts, the delay grows with each request that it handles.
 */
export function measureQueueDelay(now: () => number = () => performance.now()): QueueDelay {
  let dueAtMs = now() + tickMs
  const timer = setInterval(() => {
    dueAtMs = now() + tickMs
  }, tickMs).unref()
  return { ms: () => Math.max(0, now() - dueAtMs), stop: () => clearInterval(timer) }
}

/**
 * Throws `overloaded` while requests wait too long. Called before costly operations, so that cached responses, lists,
 * details, writes and health checks need not wait for such operations. `refused` counts the refusal.
 */
export function requireShortQueue({ ms }: Pick<QueueDelay, 'ms'>, refused: () => void): void {
  if (ms() <= delayMsMax) return
  refused()
  throw new RegistryError('overloaded', 'Too many requests are waiting. Try again in a moment.', {
    retryAfterSeconds: 1,
  })
}
