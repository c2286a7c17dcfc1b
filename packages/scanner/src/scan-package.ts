import { setImmediate } from 'node:timers/promises'
import type { Security } from '@skillstead/protocol'
import { toThreadFile } from './thread-file.ts'
import { WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'
import type { ScanFile } from './scan.ts'

/** A package of so much text is scanned at once, in some 7 ms at most where nothing else runs. */
const inlineBytesMax = 64 * 1024

/** What is asked of a thread. */
export interface ScanOrder {
  readonly files: readonly ScanFile[]
  readonly now: number
}

/** Threads that scan. */
export const createScanPool = (options: Partial<WorkerPoolOptions> = {}) =>
  new WorkerPool<Security, ScanOrder>({ url: toThreadFile(import.meta.url, 'scan-worker'), ...options })

const pool = createScanPool()
/** Loaded for the first package that is scanned here: most are scanned in threads. */
const loadScan = () => import('./scan.ts')

/**
 * Scans a package without holding up the process: a small one at once, a larger one in a thread, and where no thread
 * can be had in slices between which other work goes on. Never throws, whatever the files.
 */
export async function scanPackage(files: readonly ScanFile[], now: number, threads = pool): Promise<Security> {
  const bytes = files.reduce((sum, file) => sum + ('text' in file ? file.text.length : file.bytes.length), 0)
  return bytes <= inlineBytesMax ? (await loadScan()).scanFiles(files, now) : scanInThread(files, now, threads)
}

/** As {@link scanPackage} whatever the size: for what comes in bulk, or is waited for by nobody. */
export async function scanInThread(files: readonly ScanFile[], now: number, threads = pool): Promise<Security> {
  const found = await threads.ask({ files, now })
  if (found === 'broken') return scanAtEase(files, now)
  if (found !== 'late') return found
  return reportUnscanned(files, 'The scan took too long and was given up.', now)
}

/** The report on files that were not scanned, for a reason that is a sentence: its verdict is `caution`. */
export async function reportUnscanned(files: readonly ScanFile[], reason: string, now: number): Promise<Security> {
  return (await loadScan()).toUnscanned(files, reason, now)
}

async function scanAtEase(files: readonly ScanFile[], now: number): Promise<Security> {
  const slices = (await loadScan()).scanInSlices(files, now)
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
    await setImmediate()
  }
}
