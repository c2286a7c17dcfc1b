/**
 * Runs `work` until it ends, the caller's signal aborts it, or `timeoutMs` have passed; `onTimeout` creates the timeout
 * error.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  onTimeout: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted()
  const ending = new AbortController()
  const end = () => ending.abort(signal?.reason)
  const timer = setTimeout(() => ending.abort(onTimeout()), timeoutMs)
  signal?.addEventListener('abort', end, { once: true })
  try {
    // A custom `fetch` may ignore abort signals.
    return await orAborted(work(ending.signal), ending.signal)
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/**
 * Returns the result of `work`, or rejects with the reason of the signal if the signal is aborted first. Does not stop
 * `work`.
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const end = () => aborted.reject(signal.reason)
  // Remove the listener: one signal may be used for thousands of calls.
  signal.addEventListener('abort', end)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Waits `ms` milliseconds. Throws the reason of the signal if the signal is aborted first. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}
