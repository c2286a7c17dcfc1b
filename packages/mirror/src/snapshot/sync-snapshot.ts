import type { Run } from '../run.ts'
import { readMirroredNames } from '../store/mirrored-names.ts'
import type { SnapshotSource } from '../types.ts'
import { drain, readPlace } from './drain.ts'
import { openSource } from './open-source.ts'
import { syncPrivate } from './sync-private.ts'

/**
 * Brings what a registry without a log has now: what is new of it comes in, in pieces that are each stored with the place
 * to go on from. What it no longer has stays: an absence deletes nothing.
 */
export async function syncSnapshot(run: Run, source?: SnapshotSource): Promise<void> {
  const { name, settings } = run.upstream
  // What nobody asked for stays there.
  const only = settings.mode === 'pull-through' ? await readMirroredNames(run.parts.context, name) : undefined
  const place = readPlace(run.upstream.cursor)
  await drain(run, source ?? openSource(run, only), { place, part: 'public' })
  if (run.upstream.kind === 'registry') await syncPrivate(run, place)
}
