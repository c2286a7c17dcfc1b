import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { readAccess, scanFiles } from '@skillstead/scanner/rules'
import { toSketch } from './sketch.ts'
import type { InspectionOrder } from './inspect-packages.ts'
import type { Inspection } from './inspection.ts'
import type { PackageFile } from './skill-package.ts'

/** How much less than the event loop the threads are worth where both want a processor. */
const niceness = 10
const nicestOfAll = 19

standBack()

/** A thread of `inspectPackage` and `inspectMany`: an order in, an inspection of each of its packages out. */
parentPort!.on('message', ({ packages, now }: InspectionOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(packages.map((files) => inspect(files, now)))
})

function inspect(files: readonly PackageFile[], now: number): Inspection {
  return { scan: scanFiles(files, now), access: readAccess(files), sketch: toSketch(files[0]!.bytes) }
}

/** Linux has a priority for each thread; elsewhere it would be that of the whole process. */
function standBack(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Math.min(getPriority() + niceness, nicestOfAll))
  } catch {
    // Where the system does not let it, all are worth the same.
  }
}
