import { availableParallelism } from 'node:os'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { Security } from '@skillstead/protocol'
import { type AddedRules, type ScanFile, scanPackage } from '@skillstead/scanner'
import { startThread, WorkerPool } from '@skillstead/scanner/workers'
import type { Inspection } from '../versions/inspection.ts'
import type { PackageFile } from '../versions/skill-package.ts'

/** A message to a worker thread: packages to inspect in order. */
export interface InspectionOrder extends ScanSettings {
  readonly packages: readonly PackageOrder[]
}

/** The settings of all scans of an order. */
interface ScanSettings {
  /** Milliseconds since 1970. */
  readonly now: number
  /** The rules that apply in addition to the built-in rules. */
  readonly added: AddedRules | undefined
}

interface PackageOrder {
  /** The files of the package, SKILL.md first; none if only the texts are to be scanned. */
  readonly files: readonly PackageFile[]
  /** Texts that are scanned separately. */
  readonly texts: readonly ScanFile[]
}

/** The response of a worker thread for each package. */
export interface InspectionResult {
  /** Undefined for an order without files. */
  readonly inspection: Inspection | undefined
  /** The scan of the texts. */
  readonly ofTexts: Security
}

const startInspectWorker = (options: WorkerOptions) =>
  new Worker(new URL('./inspect-worker.ts', import.meta.url), options)
/** Maximum worker threads; no processor is spared for the main thread, since inspecting takes longer than storing. */
const inspectWorkersMax = Math.min(3, availableParallelism())

/**
 * The worker threads of all registries in this process. The main thread scans only if a worker thread fails: compiling
 * the rules would block the event loop for hundreds of milliseconds, and take as much memory as in a thread.
 */
const inspectionPool = new WorkerPool<InspectionResult[], InspectionOrder>({
  start: () => startThread('inspect-worker', startInspectWorker),
  workersMax: inspectWorkersMax,
})

/**
 * Inspects packages in a worker thread; `bytes` is their total size. Returns undefined if no thread can be started, or
 * if the thread crashed or took too long.
 */
export async function askInspectThread(toPackages: () => PackageOrder[], bytes: number, settings: ScanSettings) {
  const found = await inspectionPool.ask(() => ({ ...settings, packages: toPackages() }), bytes)
  return typeof found === 'object' ? found : undefined
}

/** Scans files in a worker thread, or with {@link scanPackage} if the thread fails. */
export async function scanInThread(files: readonly ScanFile[], settings: ScanSettings): Promise<Security> {
  const bytes = files.reduce((sum, file) => sum + countFileBytes(file), 0)
  const found = await askInspectThread(() => [{ files: [], texts: files }], bytes, settings)
  return found?.[0]?.ofTexts ?? scanPackage(files, settings.now, settings.added)
}

function countFileBytes(file: ScanFile): number {
  if ('bytes' in file) return file.bytes.length
  return 'text' in file ? file.text.length : 0
}
