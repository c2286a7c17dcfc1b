import type { UpstreamPort } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import type { MirrorParts, Run } from '../run.ts'
import { getUpstream, listUpstreams } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'
import { bring } from './bring.ts'
import { createFollowed } from './followed.ts'
import { createLanes, type Lacking } from './lanes.ts'
import { toReadError } from './errors.ts'
import { createReading, newMs, waitMsMax } from './reading.ts'

/** How the rest of a mirror and what readers cause go along. */
export interface Reading {
  /** To be called with the upstreams as they are stored: reads look to them while there are any. */
  notice<Upstreams extends readonly Upstream[]>(upstreams: Upstreams): Upstreams
  /** To be called when an upstream changed here. */
  forget(): void
  /** Does work on an upstream while no reader has it asked: theirs, which is short, comes before or after. */
  without<T>(upstream: string, work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface ReadingOptions {
  readonly parts: MirrorParts
  /** The sync of an upstream that goes on in this process. */
  running(upstream: string): Promise<unknown> | undefined
  /** Has an engine run as a sync. Throws what that throws. */
  begin(upstream: string, parts: MirrorParts, engine: (run: Run) => Promise<void>): Promise<unknown>
}

/** While another process has the upstream; each look takes a moment by itself. */
const conflictsMax = 40

/** Attaches the upstreams to the reads of the registry, from the first that is followed on. */
export function openReading({ parts, running, begin }: ReadingOptions): Reading {
  const { context } = parts
  const { read } = context.database
  const followed = createFollowed(context)
  const { clock } = context
  const lanes = createLanes({ clock, run: (upstream, names) => run(upstream, names).catch(tell(upstream)) })
  const port = createReading({ parts, followed, lanes })
  const beginning = listUpstreams(read).then(notice).catch(parts.onError)

  /** When a run brought all that was new, by the clock. */
  const askedAt = new Map<string, number>()

  /** Every failure counts, also one that is told politely: an upstream that is asked in vain is left alone. */
  function tell(upstream: string) {
    return (error: unknown): never => {
      throw toReadError(error, upstream, parts.mode)
    }
  }

  /** Somebody waits: nothing is tried again, and no pause is made. */
  async function run(upstream: string, names: ReadonlySet<string>): Promise<Lacking> {
    const waitMs = names.size > 0 ? waitMsMax.missing : waitMsMax.here
    const brief: MirrorParts = { ...parts, openFetch: (one, signal) => parts.openFetch(one, signal, waitMs) }
    for (let conflicts = 0; ; conflicts += 1) {
      for (let sync = running(upstream); sync; sync = running(upstream)) await sync.catch(() => undefined)
      const ageMs = clock.now() - (askedAt.get(upstream) ?? -Infinity)
      const isNew = ageMs >= 0 && ageMs < newMs
      try {
        let lacking: Lacking = new Map()
        await begin(upstream, brief, async (one) => void (lacking = await bring(one, names, isNew)))
        if (!isNew) askedAt.set(upstream, clock.now())
        return lacking
      } catch (error) {
        const isTaken = error instanceof RegistryError && error.code === 'conflict'
        if (!isTaken || conflicts === conflictsMax || (await getUpstream(read, upstream)).alarm) throw error
        // What has it does the same.
        if (names.size === 0) return new Map()
      }
    }
  }

  function notice<Upstreams extends readonly Upstream[]>(upstreams: Upstreams): Upstreams {
    const attached: UpstreamPort | undefined = upstreams.length > 0 ? port : undefined
    context.upstreams.attach(attached)
    return upstreams
  }

  return {
    notice,
    forget: followed.forget,
    async without(upstream, work) {
      const release = await lanes.hold(upstream)
      try {
        const outcome = await work()
        lanes.recover(upstream)
        return outcome
      } finally {
        release()
      }
    },
    close: async () => void (await beginning),
  }
}
