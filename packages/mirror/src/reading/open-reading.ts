import { isRegistryError } from '@skillstead/protocol'
import type { MirrorParts, Run } from '../run.ts'
import { getUpstream, listUpstreams } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'
import { importWanted } from './import-wanted.ts'
import { createFollowed } from './followed.ts'
import { createReadRuns, type Lacking } from './read-runs.ts'
import { toReadError } from './errors.ts'
import { newMs, UpstreamReading, waitMsMax } from './reading.ts'

/** Connects the runs that read requests cause with the rest of the mirror. */
export interface Reading {
  /** Lists the stored upstreams, which reads use. */
  list(): Promise<Upstream[]>
  /** Called when this process changes an upstream. */
  forget(): void
  /**
   * Runs work on an upstream while no run for a reader is in progress. The short runs for readers wait, or finish
   * first.
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

/** Lets the registry's reads use the upstreams, as soon as there is one. */
export function openMirrorReading({ parts, running, begin }: ReadingOptions): Reading {
  const { context } = parts
  const { read } = context.database
  const followed = createFollowed(context)
  const { clock } = context
  const runs = createReadRuns({ clock, run: (upstream, names) => run(upstream, names).catch(tell(upstream)) })
  const port = new UpstreamReading({ parts, followed, runs })
  const listings = { begun: 0, noticed: 0 }
  const beginning = list().catch(parts.onError)

  /** When a run last imported all changes of an upstream. */
  const askedAt = new Map<string, number>()

  /** Throws every failure in the form for callers; each one counts for the circuit breaker. */
  function tell(upstream: string) {
    return (error: unknown): never => {
      throw toReadError(error, upstream, parts.mode)
    }
  }

  /** Imports what a caller waits for: without retries of requests or pauses. */
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
        // The process that syncs the upstream imports the same changes.
        if (names.size === 0) return new Map()
      }
    }
  }

  async function list(): Promise<Upstream[]> {
    const begun = (listings.begun += 1)
    const upstreams = await listUpstreams(read)
    // A later listing may end before an earlier one, which then must not undo the result of the later one.
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
