import { RegistryError } from '@skillstead/protocol'

/** Runs work; if the signal aborts it, throws `shutting_down` instead of the original error. */
export async function unlessStopped<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!signal?.aborted) throw error
    throw new RegistryError('shutting_down', 'The operation was aborted. Its incomplete result was discarded.', {
      cause: error,
    })
  }
}
