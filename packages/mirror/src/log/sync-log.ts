import { splitHashes, toRoot } from '@skillstead/core/internal'
import type { Run } from '../run.ts'
import type { LogSource } from '../types.ts'
import { applyLog } from './apply-log.ts'
import { followLog, type Position } from './follow-log.ts'
import { applyLateContent, readDue } from './late-content.ts'

/**
 * Syncs an upstream that has a log: stores the new entries, verifies that the upstream signed them and that the log
 * only grew, and then applies them. Throws the errors of the source, and {@link SyncAlarm}.
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
  await applyLateContent(run, source, { known: position.known, applied: position.known.verified, due })
}
