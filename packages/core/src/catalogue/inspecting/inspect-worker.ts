import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { readOutline, type AddedRules } from '@skillstead/scanner'
import { readAccess, scanFiles } from '@skillstead/scanner/rules'
import type { InspectionOrder, InspectionResult } from './inspection-threads.ts'
import type { Inspection } from '../versions/inspection.ts'
import { sketchSkillMd } from '../sketches/sketch.ts'
import type { PackageFile } from '../versions/skill-package.ts'

/** The nice value of the inspecting threads relative to the event loop: a higher value is a lower priority. */
const niceness = 10
const nicestOfAll = 19

lowerPriority()

/** The worker thread of `askInspectThread`: receives packages and returns an inspection of each. */
parentPort!.on('message', ({ packages, now, added }: InspectionOrder) => {
  const results: InspectionResult[] = packages.map(({ files, texts }) => {
    const inspection = files.length > 0 ? inspectFiles(files, now, added) : undefined
    return { inspection, ofTexts: scanFiles(texts, now, added) }
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(results)
})

function inspectFiles(files: readonly PackageFile[], now: number, added?: AddedRules): Inspection {
  const { bytes } = files[0]!
  const scan = scanFiles(files, now, added)
  return { scan, access: readAccess(files), outline: readOutline(files), ...sketchSkillMd(bytes) }
}

/** Lowers the priority of this thread. Only on Linux: on other systems, the call would affect the whole process. */
function lowerPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Math.min(getPriority() + niceness, nicestOfAll))
  } catch {
    // If the system refuses, all threads have the same priority.
  }
}
