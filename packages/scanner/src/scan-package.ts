import { setImmediate } from 'node:timers/promises'
import type { Security } from '@skillstead/protocol'
import { toThreadFile } from './thread-file.ts'
import { WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'
import type { ScanFile } from './scan.ts'

/** Packages up to this size are scanned on the main thread, in about 7 ms at most on an idle machine. */
const inlineBytesMax = 64 * 1024

/** An order to a thread. */
export interface ScanOrder {
  readonly files: readonly ScanFile[]
  readonly now: number
}

/** Creates a pool of threads that scan. */
export const createScanPool = (options: Partial<WorkerPoolOptions> = {}) =>
  new WorkerPool<Security, ScanOrder>({ url: toThreadFile(import.meta.url, 'scan-worker'), ...options })

const pool = createScanPool()
/** Loaded for the first package that is scanned on this thread: most are scanned in worker threads. */
const loadScan = () => import('./scan.ts')

/**
 * Scans a package without blocking the process: a small one at once, a larger one in a thread, or, if no thread is
 * available, in batches between which other work runs. Never throws.
 */
export async function scanPackage(files: readonly ScanFile[], now: number, threads = pool): Promise<Security> {
  const bytes = files.reduce((sum, file) => sum + ('text' in file ? file.text.length : file.bytes.length), 0)
  return bytes <= inlineBytesMax ? (await loadScan()).scanFiles(files, now) : scanInThread(files, now, threads)
}

/** As {@link scanPackage}, always in a thread: for bulk scans and scans that no client waits for. */
export async function scanInThread(files: readonly ScanFile[], now: number, threads = pool): Promise<Security> {
  const found = await threads.ask({ files, now })
  if (found === 'broken') return scanAtEase(files, now)
  if (found !== 'late') return found
  return (await loadScan()).toUnscanned(files, 'The scan took too long and was aborted.', now)
}

async function scanAtEase(files: readonly ScanFile[], now: number): Promise<Security> {
  const slices = (await loadScan()).scanInSlices(files, now)
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
    await setImmediate()
  }
}
