import { RegistryError } from '@skillstead/protocol'

/** Does some work, and tells in a sentence where it ended because it was told to. */
export async function unlessStopped<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!signal?.aborted) throw error
    throw new RegistryError('shutting_down', 'It was stopped before it was done; nothing of it was kept.', {
      cause: error,
    })
  }
}
