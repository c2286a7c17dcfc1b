import { setImmediate } from 'node:timers/promises'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { Security } from '@skillstead/protocol'
import type { AddedRules } from '../rules/added-rules.ts'
import { startThread } from './threads.ts'
import { WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'
import type { ScanFile } from '../files/scan-file.ts'

/** Packages up to this size are scanned inline: most take a few milliseconds, a text that is made to be slow about 200. */
const inlineBytesMax = 64 * 1024

/** The message to a worker thread. */
export interface ScanOrder {
  readonly files: readonly ScanFile[]
  readonly now: number
  readonly added?: AddedRules | undefined
}

/** Creates a pool of worker threads that scan. */
export const createScanPool = (options: Partial<WorkerPoolOptions> = {}) =>
  new WorkerPool<Security, ScanOrder>({ start: () => startThread('scan-worker', startWorker), ...options })

const startWorker = (options: WorkerOptions) => new Worker(new URL('./scan-worker.ts', import.meta.url), options)

const pool = createScanPool()
/** Loaded on first use, since most packages are scanned in threads. */
const loadScan = () => import('../scan.ts')

/**
 * Scans a package and hardly blocks the event loop: a small one inline, a larger one in a worker thread, or in batches
 * if no thread is available. Never throws. `added`: rules that apply besides the built-in ones.
 */
export async function scanPackage(
  files: readonly ScanFile[],
  now: number,
  added?: AddedRules,
  threads = pool,
): Promise<Security> {
  const bytes = files.reduce((sum, file) => sum + countFileBytes(file), 0)
  return bytes <= inlineBytesMax
    ? (await loadScan()).scanFiles(files, now, added)
    : scanInThread(files, now, added, threads)
}

/** As {@link scanPackage}, but in a thread for every size: for bulk and background scans. */
export async function scanInThread(
  files: readonly ScanFile[],
  now: number,
  added?: AddedRules,
  threads = pool,
): Promise<Security> {
  const found = await threads.ask({ files, now, added })
  if (found === 'broken') return scanAtEase(files, now, added)
  if (found !== 'late') return found
  return reportUnscanned(files, 'The scan took too long and was given up.', now, added)
}

/** The report on files that were not scanned. `reason` is a sentence; the verdict is `caution`. */
export async function reportUnscanned(
  files: readonly ScanFile[],
  reason: string,
  now: number,
  added?: AddedRules,
): Promise<Security> {
  return (await loadScan()).toUnscanned(files, reason, now, added)
}

async function scanAtEase(files: readonly ScanFile[], now: number, added?: AddedRules): Promise<Security> {
  const slices = (await loadScan()).scanInSlices(files, now, added)
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
    await setImmediate()
  }
}

function countFileBytes(file: ScanFile): number {
  if ('bytes' in file) return file.bytes.length
  return 'text' in file ? file.text.length : 0
}
