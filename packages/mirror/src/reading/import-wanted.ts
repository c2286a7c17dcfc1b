import { engines, withNodeSource } from '../engines.ts'
import type { Run } from '../run.ts'
import type { Lacking } from './read-runs.ts'

/**
 * Imports the skills that a read request needs: the named skills or, without names, all changes like a usual sync.
 * `isNew`: whether the stored log is recent enough to decide whether the upstream has the skills.
 */
export async function importWanted(run: Run, names: ReadonlySet<string>, isNew: boolean): Promise<Lacking> {
  const { kind } = run.upstream
  if (names.size === 0) {
    await engines[kind].sync(run)
    return new Map()
  }
  run.tally.extent = kind === 'registry' ? 'some' : 'public'
  if (kind !== 'node') {
    const { pullFromSnapshot } = await import('./pull-snapshot.ts')
    return pullFromSnapshot(run, names)
  }
  const { pullFromLog } = await import('./pull-log.ts')
  return withNodeSource(run, (source) => pullFromLog(run, source, { names, isNew }))
}
