import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { RegistryError } from '@skillstead/protocol'
import { toThreadFile } from '@skillstead/scanner/workers'
import type { BackupOrder } from './backup-worker.ts'
import { placeFile } from './place-file.ts'

/** What the disk is to have left after the copy. */
const spareBytes = 64 * 1024 * 1024

/**
 * Copies the SQLite file of a registry, which may be in use: the copy is as the registry was when it began. It is read
 * through from end to end before it gets its name, and only its owner may read it. Throws `conflict` where there is a
 * file of that name, `overloaded` where the disk has no room, and a sentence where the copy is not sound.
 *
 * @returns how many bytes the copy has
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

/** As {@link writeBackup}, which tells what it throws. */
export async function copyRegistry(from: string, to: string, { signal, finish }: CopyOptions): Promise<void> {
  await placeFile(to, async (partial) => {
    await requireRoom(from, to)
    const problem = await runWorker({ from, to: partial }, signal)
    if (problem !== null) throw new Error(`The copy is not sound, and was thrown away: ${problem}`)
    await finish?.(partial)
    requireOneFile(partial)
  })
}

/** What could not be moved out of its journal when it was closed, as on a full disk, would be lost with the journal. */
function requireOneFile(partial: string): void {
  if (!existsSync(`${partial}-wal`)) return
  throw new RegistryError(
    'overloaded',
    'The copy was thrown away: a part of it could not be moved out of its journal. Make room on the disk, and do it again.',
  )
}

async function requireRoom(from: string, to: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(to))
  const { size } = await stat(from)
  const journal = await stat(`${from}-wal`).catch(() => ({ size: 0 }))
  if (bavail * bsize >= size + journal.size + spareBytes) return
  const needed = Math.ceil((size + journal.size + spareBytes) / 1024 / 1024)
  throw new RegistryError('overloaded', `The disk has no room for a copy: ${needed} MiB are needed. Make room first.`)
}

/** Another thread copies, so that a large file holds nobody up. Answers what it found wrong with the copy. */
async function runWorker(order: BackupOrder, signal?: AbortSignal): Promise<string | null> {
  const worker = new Worker(toThreadFile(import.meta.url, 'backup-worker'), { workerData: order })
  const ended = new AbortController()
  const stop = () => void worker.terminate()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    if (signal?.aborted) throw toClosing()
    // Rejects with what the thread throws.
    const answered = once(worker, 'message', { signal: ended.signal })
    const exited = once(worker, 'exit', { signal: ended.signal }).then(() => undefined)
    const answer = await Promise.race([answered, exited])
    if (answer === undefined) throw signal?.aborted ? toClosing() : new Error('The copying ended before it was done.')
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
    'The copying was stopped, or the registry is closing; nothing was kept of the backup.',
  )
}
