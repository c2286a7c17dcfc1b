import { withWrite } from './writer.ts'
import type { StorageContext } from './storage-context.ts'

/**
 * Runs `work` until it ends, or rejects with the reason of the signal once the signal is aborted. Work that was
 * abandoned continues in the background, but its queued writes are removed and its later writes rejected: `work` gets a
 * context whose writer does so.
 */
export async function untilAborted<Context extends StorageContext, T>(
  context: Context,
  signal: AbortSignal,
  work: (context: Context) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  // `work` does not get the signal of the caller, because that signal may be aborted after the work has ended.
  const ending = new AbortController()
  const end = () => {
    ending.abort(signal.reason)
    aborted.reject(signal.reason)
  }
  signal.addEventListener('abort', end)
  try {
    return await Promise.race([work(withSignal(context, ending.signal)), aborted.promise])
  } finally {
    // Remove the listener: a caller may use one signal for thousands of calls.
    signal.removeEventListener('abort', end)
  }
}

function withSignal<Context extends StorageContext>(context: Context, signal: AbortSignal): Context {
  const { database } = context
  const { writer } = database
  const write: typeof writer.write = (work, options) => writer.write(work, { ...options, signal })
  return { ...context, database: { ...database, writer: withWrite(writer, write) } }
}
