import { splitHashes, toRoot } from '@skillstead/core/internal'
import type { Run } from '../run.ts'
import type { LogSource } from '../types.ts'
import { applyLog } from './apply-log.ts'
import { followLog, type Position } from './follow-log.ts'
import { applyLate, readDue } from './late.ts'

/**
 * Syncs an upstream that has a log: brings what is new of the log here, proves that it is what the upstream signed and only
 * adds to what it signed before, and then applies it. Throws what the source throws, and {@link SyncAlarm}.
 */
export async function syncLog(run: Run, source: LogSource): Promise<void> {
  const { logOrigin: origin, logEpoch: epoch, keys, verified, staged, frontier, applied } = run.upstream
  const position: Position = {
    known: { origin, epoch, keys, verified },
    staged,
    root: toRoot(splitHashes(frontier)).toString('base64'),
  }
  await followLog(run, source, position)
  run.tally.head = position.known.verified
  const due = await readDue(run)
  await applyLog(run, source, position.known, applied)
  await applyLate(run, source, { known: position.known, applied: position.known.verified, due })
}
