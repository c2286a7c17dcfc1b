import { isRegistryError } from '@skillstead/protocol'
import type { MirrorParts, Run } from '../run.ts'
import { getUpstream, listUpstreams } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'
import { importWanted } from './import-wanted.ts'
import { createFollowed } from './followed.ts'
import { createReadRuns, type Lacking } from './read-runs.ts'
import { toReadError } from './errors.ts'
import { newMs, UpstreamReading, waitMsMax } from './reading.ts'

/** What the mirror needs of the sync runs that read requests start. */
export interface Reading {
  /** Lists the stored upstreams, and lets read requests use them. */
  list(): Promise<Upstream[]>
  /** Clears the cache of upstreams. Called when this process changes an upstream. */
  forget(): void
  /**
   * Does work on an upstream while no run for a read request is in progress: waits for the run in progress, and new
   * runs wait for the work.
   */
  without<T>(upstream: string, work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface ReadingOptions {
  readonly parts: MirrorParts
  /** The sync of an upstream that is running in this process. */
  running(upstream: string): Promise<unknown> | undefined
  /** Runs an engine as a sync. Throws what the sync throws. */
  begin(upstream: string, parts: MirrorParts, engine: (run: Run) => Promise<void>): Promise<unknown>
}

/** Maximum number of retries while another process syncs the upstream. Each retry takes a moment. */
const conflictsMax = 40

/** Lets the reads of the registry use its upstreams, as soon as there is an upstream. */
export function openMirrorReading({ parts, running, begin }: ReadingOptions): Reading {
  const { context } = parts
  const { read } = context.database
  const followed = createFollowed(context)
  const { clock } = context
  const runs = createReadRuns({ clock, run: (upstream, names) => run(upstream, names).catch(tell(upstream)) })
  const port = new UpstreamReading({ parts, followed, runs })
  const listings = { begun: 0, noticed: 0 }
  const beginning = list().catch(parts.onError)

  /** When a run for a read request last imported changes of an upstream, in milliseconds since 1970, by upstream. */
  const askedAt = new Map<string, number>()

  /** Throws each failure of a run as the error for callers, so that it counts for the circuit breaker. */
  function tell(upstream: string) {
    return (error: unknown): never => {
      throw toReadError(error, upstream, parts.mode)
    }
  }

  /** Imports the named skills, or without names all changes. A caller waits: no retries, and a short timeout. */
  async function run(upstream: string, names: ReadonlySet<string>): Promise<Lacking> {
    const waitMs = names.size > 0 ? waitMsMax.missing : waitMsMax.here
    const brief: MirrorParts = { ...parts, openFetch: (one, signal) => parts.openFetch(one, signal, waitMs) }
    for (let conflicts = 0; ; conflicts += 1) {
      for (let sync = running(upstream); sync; sync = running(upstream)) await sync.catch(() => undefined)
      const ageMs = clock.now() - (askedAt.get(upstream) ?? -Infinity)
      const isNew = ageMs >= 0 && ageMs < newMs
      try {
        let lacking: Lacking = new Map()
        await begin(upstream, brief, async (one) => void (lacking = await importWanted(one, names, isNew)))
        if (!isNew) askedAt.set(upstream, clock.now())
        return lacking
      } catch (error) {
        const isTaken = isRegistryError(error, 'conflict')
        if (!isTaken || conflicts === conflictsMax || (await getUpstream(read, upstream)).alarm) throw error
        // Done: the process that syncs the upstream imports the same changes.
        if (names.size === 0) return new Map()
      }
    }
  }

  async function list(): Promise<Upstream[]> {
    const begun = (listings.begun += 1)
    const upstreams = await listUpstreams(read)
    // A later listing may end before an earlier one. The result of the earlier listing is then ignored.
    if (begun > listings.noticed) {
      listings.noticed = begun
      context.upstreams.attach(upstreams.length > 0 ? port : undefined)
    }
    return upstreams
  }

  return {
    list,
    forget: followed.forget,
    async without(upstream, work) {
      const release = await runs.hold(upstream)
      try {
        const outcome = await work()
        runs.recover(upstream)
        return outcome
      } finally {
        release()
      }
    },
    async close() {
      await beginning
      await port.close()
    },
  }
}
