import { setImmediate } from 'node:timers/promises'
import type { Access } from '@skillstead/protocol'
import { createAccessReader, type AccessFile } from './read-access.ts'

/** How long reading may block the event loop, in milliseconds; at least one file is read per batch. */
const batchMs = 10

/** As `readAccess`, yielding to the event loop between batches of files. */
export async function inspectAccess(files: readonly AccessFile[]): Promise<Access> {
  const reader = createAccessReader()
  let startedMs = performance.now()
  for (const file of files) {
    reader.read(file)
    if (performance.now() - startedMs < batchMs) continue
    await setImmediate()
    startedMs = performance.now()
  }
  return reader.finish()
}
