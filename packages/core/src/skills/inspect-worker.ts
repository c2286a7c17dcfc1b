import { parentPort } from 'node:worker_threads'
import { readAccess } from '../access/read-access.ts'
import { toSketch } from '../copies/sketch.ts'
import { scanFiles } from '../scan/scan.ts'
import type { InspectionOrder } from './inspect-packages.ts'
import type { Inspection } from './inspect.ts'
import type { PackageFile } from './skill-package.ts'

/** A thread of `inspectPackage` and `inspectMany`: an order in, an inspection of each of its packages out. */
parentPort!.on('message', ({ packages, now }: InspectionOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(packages.map((files) => inspect(files, now)))
})

function inspect(files: readonly PackageFile[], now: number): Inspection {
  return { scan: scanFiles(files, now), access: readAccess(files), sketch: toSketch(files[0]!.bytes) }
}
