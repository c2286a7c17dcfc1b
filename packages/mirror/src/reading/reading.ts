import type { UpstreamPort, WantedSkill } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { asksNetwork } from '../engines.ts'
import type { MirrorParts } from '../run.ts'
import { wantsName } from '../snapshot/wanted-releases.ts'
import type { Upstream } from '../types.ts'
import { toReadError } from './errors.ts'
import { toFreshness, toOldest } from './freshness.ts'
import type { Followed } from './followed.ts'
import type { ReadRuns } from './read-runs.ts'
import { createMisses } from './misses.ts'
import { createSources } from './sources.ts'
import { readWantedState } from './wanted-state.ts'
import { limitTime } from './time-limit.ts'

/** How long a caller waits: `here` if the skill is stored, `missing` if only the upstream can have it. */
export const waitMsMax = { here: 2_000, missing: 10_000 } as const
/** Within this time after a response, the upstream is not asked again, however many callers there are. */
export const newMs = 1000

export interface ReadingParts {
  readonly parts: MirrorParts
  readonly followed: Followed
  readonly runs: ReadRuns
}

/** Uses the upstreams of a mirror to answer read requests: see {@link UpstreamPort}. */
export function createReading({ parts, followed, runs }: ReadingParts): UpstreamPort {
  const { context, mode } = parts
  const { clock } = context
  const misses = createMisses({ clock })
  const sources = createSources(context)
  const canAsk = (upstream: Upstream) => mode !== 'offline' || !asksNetwork(upstream)

  /** The upstreams of the requested skill, or of a list, that may be contacted. */
  async function findBehind(wanted: WantedSkill | undefined): Promise<Upstream[]> {
    const upstreams = (await followed.list()).filter((one) => one.kind !== 'bundle' && !one.alarm && canAsk(one))
    if (!wanted) return upstreams
    const source = await sources.find(wanted.name)
    return upstreams.filter(({ name }) => name === source?.upstream)
  }

  function isDue({ syncedAt, settings }: Upstream): boolean {
    // The absolute value, so that a clock that was set back causes no wait.
    const ageMs = syncedAt === null ? Infinity : Math.abs(clock.now() - syncedAt)
    if (mode === 'online') return ageMs >= newMs
    // The first sync takes long, so it is left to the operator's schedule.
    if (syncedAt === null && settings.mode !== 'pull-through') return false
    return settings.everySeconds > 0 && ageMs > settings.everySeconds * 1000
  }

  async function refreshDue(wanted: WantedSkill | undefined): Promise<void> {
    const due = (await findBehind(wanted)).filter(isDue)
    await Promise.all(due.map(({ name }) => refreshWithin(name)))
  }

  /** Refreshes an upstream while the caller waits. After a failure the caller gets the stored skill. */
  async function refreshWithin(upstream: string): Promise<void> {
    const late = () => new RegistryError('upstream_timeout', `'${upstream}' did not respond in time.`)
    try {
      await limitTime({ clock, ms: waitMsMax.here, late }, runs.refresh(upstream))
    } catch {
      runs.giveUp(upstream)
    }
  }

  /** Tries to import a skill from an upstream. Returns whether it is stored now. */
  async function lookIn(upstream: Upstream, wanted: WantedSkill): Promise<boolean> {
    const { name, alarm, syncedAt, settings } = upstream
    const [owner, short] = wanted.name.split('/') as [string, string]
    if (upstream.kind === 'bundle' || !wantsName({ parts, upstream }, owner, short)) return false
    const pulls = settings.mode === 'pull-through'
    // All skills of a synced upstream are stored, unless it is in the mode `pull-through`.
    if (!pulls && syncedAt !== null && mode !== 'online') return false
    const key = `${name}\n${wanted.name}@${wanted.version ?? ''}`
    if (misses.has(key)) return false
    if (!canAsk(upstream)) {
      if (!pulls && syncedAt !== null) return false
      const detail = `This node is in offline mode and sends no request to '${name}', which may have ${wanted.name}.`
      throw new RegistryError('offline', detail)
    }
    if (alarm) {
      if (!pulls && syncedAt !== null) return false
      throw fail(upstream, `is paused (${alarm.code}), so ${wanted.name} was not requested from it`)
    }
    if (!pulls && syncedAt === null)
      throw fail(upstream, `is not synced yet, and may have ${wanted.name}. Try again later`)
    if (!pulls) await refreshWithin(name)
    const failure = pulls ? await runs.pull(name, wanted.name).catch((error: unknown) => ({ error })) : undefined
    // The failure may concern another skill of the same run.
    if ((await readWantedState(parts, wanted)).kind === 'here') return true
    if (failure) throw failure.error
    if (pulls) misses.add(key)
    return false
  }

  async function pullFrom(upstreams: readonly Upstream[], wanted: WantedSkill): Promise<boolean> {
    for (const upstream of upstreams) {
      // An unreachable upstream ends the search. Otherwise an attacker who blocks it could have its names taken from
      // the next one.
      const isHere = await lookIn(upstream, wanted).catch((error: unknown) => {
        throw toReadError(error, upstream.name, mode)
      })
      if (isHere) return true
    }
    return false
  }

  return {
    async freshen(wanted) {
      if (mode === 'offline') return
      const work = refreshDue(wanted).catch(parts.onError)
      if (mode === 'online') await work
    },
    async pull(wanted) {
      const state = await readWantedState(parts, wanted)
      if (state.kind !== 'missing') return state.kind === 'here'
      const { from } = state
      const upstreams = (await followed.list()).filter(({ name }) => from === undefined || name === from)
      const late = () => {
        const detail = `No upstream reported in time whether it has ${wanted.name}. Try again in a few seconds.`
        return new RegistryError('upstream_timeout', detail)
      }
      return limitTime({ clock, ms: waitMsMax.missing, late }, pullFrom(upstreams, wanted))
    },
    async freshness(name) {
      const upstreams = await followed.list()
      const now = clock.now()
      if (name === undefined) {
        return toOldest(upstreams.map((one) => toFreshness(one, { now, hasFailed: runs.hasFailed(one.name) })))
      }
      const source = await sources.find(name)
      if (!source) return undefined
      const { upstream, syncedAt } = source
      const one = upstreams.find(({ name: followedAs }) => followedAs === upstream)
      return toFreshness(one, { now, syncedAt, hasFailed: runs.hasFailed(upstream) })
    },
  }
}

function fail({ name }: Upstream, what: string): RegistryError {
  return new RegistryError('upstream_failed', `'${name}' ${what}.`)
}
