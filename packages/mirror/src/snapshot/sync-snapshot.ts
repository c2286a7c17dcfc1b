import type { Run } from '../run.ts'
import { readMirroredNames } from '../store/mirrored-names.ts'
import type { SnapshotSource } from '../types.ts'
import { drainSource, readSnapshotPlace } from './drain.ts'
import { openSource } from './open-source.ts'
import { syncPrivate } from './sync-private.ts'

/**
 * Imports the new releases of an upstream without a log, in batches. Each batch is stored together with the position
 * from which the next run continues. Skills that the upstream no longer lists stay.
 */
export async function syncSnapshot(run: Run, source?: SnapshotSource): Promise<void> {
  const { name, settings } = run.upstream
  // In the mode `pull-through`, only skills that are already imported are updated.
  const only = settings.mode === 'pull-through' ? await readMirroredNames(run.parts.context, name) : undefined
  const place = readSnapshotPlace(run.upstream.cursor)
  await drainSource(run, source ?? openSource(run, only), { place, part: 'public' })
  if (run.upstream.kind === 'registry') await syncPrivate(run, place)
}
