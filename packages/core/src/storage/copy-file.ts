import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { RegistryError } from '@skillstead/protocol'
import { toThreadFile } from '@skillstead/scanner/workers'
import type { BackupOrder } from './backup-worker.ts'

/**
 * Copies an SQLite file over an empty file, also while the registry is in use, and verifies the copy. The copy has the
 * state at the start of the call. Runs in another thread, so that a large file does not block the event loop. Returns a
 * sentence about a damaged copy, or null. Throws `shutting_down` if `signal` aborts.
 */
export async function copySqliteFile(order: BackupOrder, signal?: AbortSignal): Promise<string | null> {
  const worker = new Worker(toThreadFile(import.meta.url, 'backup-worker'), { workerData: order })
  const ended = new AbortController()
  const stop = () => void worker.terminate()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    if (signal?.aborted) throw toClosing()
    // Rejects with the error that the thread throws.
    const answered = once(worker, 'message', { signal: ended.signal })
    const exited = once(worker, 'exit', { signal: ended.signal }).then(() => undefined)
    const answer = await Promise.race([answered, exited])
    if (answer === undefined)
      throw signal?.aborted ? toClosing() : new Error('The copy thread ended before the copy was complete.')
    return answer[0] as string | null
  } finally {
    signal?.removeEventListener('abort', stop)
    ended.abort()
    await worker.terminate()
  }
}

function toClosing(): RegistryError {
  return new RegistryError(
    'shutting_down',
    'The backup was cancelled, or the registry is closing. The incomplete copy was deleted.',
  )
}
