import { once } from 'node:events'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { RegistryError } from '@skillstead/protocol'
import { isMissingFile, startThread } from '@skillstead/scanner/workers'
import { copyDatabase, type CopyOrder } from './copy-database.ts'

/**
 * Copies an SQLite file over an empty file, also while the registry is in use, and verifies the copy. The copy has the
 * state at the start of the call. Runs in another thread, so that a large file does not block the event loop, or in
 * parts in this thread if no thread can be started. Returns a sentence about a damaged copy, or null. Throws
 * `shutting_down` if `signal` aborts.
 */
export async function copySqliteFile(order: CopyOrder, signal?: AbortSignal): Promise<string | null> {
  try {
    signal?.throwIfAborted()
    const worker = startCopy(order)
    const answer = worker && (await awaitAnswer(worker, signal))
    return await (answer === undefined ? copyDatabase(order, signal) : answer)
  } catch (error) {
    throw signal?.aborted ? toCancelledError() : error
  }
}

function startCopy(workerData: CopyOrder): Worker | undefined {
  try {
    return startThread('backup-worker', startCopyWorker, { workerData })
  } catch {
    return undefined
  }
}

const startCopyWorker = (options: WorkerOptions) => new Worker(new URL('./backup-worker.ts', import.meta.url), options)

/**
 * The thread's answer; undefined if the file with the thread's code is missing. Rejects with the error that the thread
 * throws.
 */
async function awaitAnswer(worker: Worker, signal?: AbortSignal): Promise<string | null | undefined> {
  const ended = new AbortController()
  const stop = () => void worker.terminate()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const answered = once(worker, 'message', { signal: ended.signal })
    const exited = once(worker, 'exit', { signal: ended.signal }).then(() => undefined)
    const answer = await Promise.race([answered, exited])
    if (answer === undefined)
      throw new Error('The thread that copies the database ended before the copy was complete. Try again.')
    return answer[0]
  } catch (error) {
    if (isMissingFile(error)) return undefined
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
    ended.abort()
    await worker.terminate()
  }
}

function toCancelledError(): RegistryError {
  return new RegistryError(
    'shutting_down',
    'The backup was cancelled, or the registry is closing. The incomplete copy was deleted.',
  )
}
