import { engines, withNodeSource } from '../engines.ts'
import type { Run } from '../run.ts'
import type { Lacking } from './lanes.ts'

/**
 * What a run does that somebody's reading caused: an ordinary sync, and with it skills that were asked for by name. With
 * `isNew` what is known of the upstream's log is new enough to tell whether it has them.
 */
export async function bring(run: Run, names: ReadonlySet<string>, isNew: boolean): Promise<Lacking> {
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
