import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { link, open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { RegistryError } from '@skillstead/protocol'
import type { BackupOrder } from './backup-worker.ts'

/** The source runs as it is; what is published has been compiled. */
const workerUrl = new URL(`./backup-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
/** What the disk is to have left after the copy. */
const spareBytes = 64 * 1024 * 1024

/** The end of the name that a copy has until it is whole. */
export const partialSuffix = '.partial'

/**
 * Copies the SQLite file of a registry, which may be in use: the copy is as the registry was when it began. It is read
 * through from end to end before it gets its name, and only its owner may read it. Throws `conflict` where there is a
 * file of that name, `overloaded` where the disk has no room, and a sentence where the copy is not sound.
 *
 * @returns how many bytes the copy has
 */
export async function writeBackup(from: string, to: string, signal?: AbortSignal): Promise<number> {
  if (existsSync(to)) throw toTaken()
  await requireRoom(from, to)
  const partial = join(dirname(to), `.${randomUUID()}${partialSuffix}`)
  try {
    await (await open(partial, 'wx', 0o600)).close()
    const problem = await runWorker({ from, to: partial }, signal)
    if (problem !== null) throw new Error(`The copy is not sound, and was thrown away: ${problem}`)
    await sync(partial)
    await giveName(partial, to)
    await sync(dirname(to))
    return (await stat(to)).size
  } finally {
    for (const end of ['', '-journal', '-wal', '-shm']) await rm(partial + end, { force: true })
  }
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
  const worker = new Worker(workerUrl, { workerData: order })
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

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Unlike a change of name, a link never takes the place of a file that came meanwhile; not every file system has them. */
async function giveName(partial: string, to: string): Promise<void> {
  try {
    await link(partial, to)
  } catch (error) {
    if (existsSync(to)) throw toTaken()
    if (!['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error
    await rename(partial, to)
  }
}

function toTaken(): RegistryError {
  return new RegistryError('conflict', 'There is a file of this name already. Choose another one.')
}

function toClosing(): RegistryError {
  return new RegistryError(
    'shutting_down',
    'The copying was stopped, or the registry is closing; nothing was kept of the backup.',
  )
}
