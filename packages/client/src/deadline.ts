/** Runs some work until it is done, the caller's signal ends it, or its time is over; `onTimeout` makes the error then. */
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
    // A fetch that stands in for the global one may not know of signals.
    return await orAborted(work(ending.signal), ending.signal)
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** What the work comes to, or the reason of the signal, whichever is first. The work itself goes on. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const end = () => aborted.reject(signal.reason)
  // Taken off again: one signal may stand for the thousand calls of a program.
  signal.addEventListener('abort', end)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Waits so long, or until the signal ends it, whose reason it throws then. */
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
