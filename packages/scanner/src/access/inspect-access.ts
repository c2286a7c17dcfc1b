import { setImmediate } from 'node:timers/promises'
import type { Access } from '@skillstead/protocol'
import { createAccessReader, type AccessFile } from './read-access.ts'

/** How long reading may hold the event loop at a time; one file is the least that is read. */
const sliceMs = 10

/** As `readAccess`, so that a version of many files holds nobody else up. */
export async function inspectAccess(files: readonly AccessFile[]): Promise<Access> {
  const reader = createAccessReader()
  let startedMs = performance.now()
  for (const file of files) {
    reader.read(file)
    if (performance.now() - startedMs < sliceMs) continue
    await setImmediate()
    startedMs = performance.now()
  }
  return reader.finish()
}
