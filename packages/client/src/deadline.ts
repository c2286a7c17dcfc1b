/**
 * Returns the result of `work`. Rejects when the caller's signal is aborted or `timeoutMs` have passed, and then aborts
 * the signal of `work`; `onTimeout` creates the error of a timeout.
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
    // Do not wait for `work` after an abort: a custom `fetch` may ignore signals.
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
  // The listener is removed at the end, because one signal may be used for thousands of calls.
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
