import type { Run } from '../run.ts'
import { readMirroredNames } from '../store/mirrored-names.ts'
import type { SnapshotSource } from '../types.ts'
import { drainSource, readSnapshotPlace } from './drain.ts'
import { openSource } from './open-source.ts'
import { syncPrivate } from './sync-private.ts'

/**
 * Imports the new releases of an upstream without a log, in batches. Each batch is stored with the position to continue
 * from. Skills that the upstream no longer lists stay.
 */
export async function syncSnapshot(run: Run, source?: SnapshotSource): Promise<void> {
  const { name, settings } = run.upstream
  // Only skills that callers requested are updated.
  const only = settings.mode === 'pull-through' ? await readMirroredNames(run.parts.context, name) : undefined
  const place = readSnapshotPlace(run.upstream.cursor)
  await drainSource(run, source ?? openSource(run, only), { place, part: 'public' })
  if (run.upstream.kind === 'registry') await syncPrivate(run, place)
}
