import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { RegistryError } from '@skillstead/protocol'
import { toThreadFile } from '@skillstead/scanner/workers'
import type { BackupOrder } from './backup-worker.ts'
import { placeFile } from './place-file.ts'

/** Free space that must remain on the disk after the copy. */
const spareBytes = 64 * 1024 * 1024

/**
 * Copies the SQLite file of a registry, also while it is in use: the copy has the state of the moment at which it
 * began. It is verified from end to end before it gets its name, and only its owner may read it. Throws `conflict` if a
 * file with that name exists, `overloaded` if the disk has no room, and an Error if the copy is damaged.
 *
 * @returns the size of the copy in bytes
 */
export async function writeBackup(from: string, to: string, signal?: AbortSignal): Promise<number> {
  await copyRegistry(from, to, { signal })
  return (await stat(to)).size
}

interface CopyOptions {
  readonly signal?: AbortSignal | undefined
  /** Changes the copy before it gets its name. */
  readonly finish?: (partial: string) => Promise<void>
}

/** As {@link writeBackup}, with a step that changes the copy. */
export async function copyRegistry(from: string, to: string, { signal, finish }: CopyOptions): Promise<void> {
  await placeFile(to, async (partial) => {
    await requireRoom(from, to)
    const problem = await runWorker({ from, to: partial }, signal)
    if (problem !== null) throw new Error(`The copy is damaged and was deleted: ${problem}`)
    await finish?.(partial)
    requireOneFile(partial)
  })
}

/**
 * Rejects a copy whose journal could not be merged on closing, as on a full disk: the rest would be lost with the
 * journal.
 */
function requireOneFile(partial: string): void {
  if (!existsSync(`${partial}-wal`)) return
  throw new RegistryError(
    'overloaded',
    'The copy is incomplete and was deleted: its journal could not be merged. Free disk space and try again.',
  )
}

async function requireRoom(from: string, to: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(to))
  const { size } = await stat(from)
  const journal = await stat(`${from}-wal`).catch(() => ({ size: 0 }))
  if (bavail * bsize >= size + journal.size + spareBytes) return
  const needed = Math.ceil((size + journal.size + spareBytes) / 1024 / 1024)
  throw new RegistryError(
    'overloaded',
    `The disk is too full for a copy, which needs ${needed} MiB. Free disk space first.`,
  )
}

/**
 * Copies in another thread, so that a large file does not block the event loop. Returns the problem of a damaged copy,
 * or null.
 */
async function runWorker(order: BackupOrder, signal?: AbortSignal): Promise<string | null> {
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
