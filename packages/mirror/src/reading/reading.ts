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

/** How long a caller waits at most: `here` for a skill that is stored, `missing` for a skill that is not. */
export const waitMsMax = { here: 2_000, missing: 10_000 } as const
/** After a response, the upstream is not asked again for this time, however many callers there are. */
export const newMs = 1000

export interface ReadingParts {
  readonly parts: MirrorParts
  readonly followed: Followed
  readonly runs: ReadRuns
}

/** Uses the upstreams of a mirror to answer read requests: see {@link UpstreamPort}. */
export class UpstreamReading implements UpstreamPort {
  readonly #parts: MirrorParts
  readonly #followed: Followed
  readonly #runs: ReadRuns
  readonly #misses: ReturnType<typeof createMisses>
  readonly #sources: ReturnType<typeof createSources>
  /** The refreshes in progress that no caller waits for. */
  readonly #refreshing = new Set<Promise<void>>()
  #isClosed = false

  constructor({ parts, followed, runs }: ReadingParts) {
    this.#parts = parts
    this.#followed = followed
    this.#runs = runs
    this.#misses = createMisses(parts.context)
    this.#sources = createSources(parts.context)
  }

  async freshen(wanted?: WantedSkill): Promise<void> {
    const { mode, onError } = this.#parts
    if (mode === 'offline' || this.#isClosed) return
    const work = this.#refreshDue(wanted).catch(onError)
    this.#refreshing.add(work)
    void work.finally(() => this.#refreshing.delete(work))
    if (mode === 'online') await work
  }

  /** Begins no more refreshes, and waits for those in progress: they read the database, which is closed next. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#refreshing)
  }

  async pull(wanted: WantedSkill): Promise<boolean> {
    const state = await readWantedState(this.#parts, wanted)
    if (state.kind !== 'missing') return state.kind === 'here'
    const { from } = state
    const upstreams = (await this.#followed.list()).filter(({ name }) => from === undefined || name === from)
    const late = () => {
      const detail = `No upstream reported in time whether it has ${wanted.name}. Try again in a few seconds.`
      return new RegistryError('upstream_timeout', detail)
    }
    const { clock } = this.#parts.context
    return limitTime({ clock, ms: waitMsMax.missing, late }, this.#pullFrom(upstreams, wanted))
  }

  async freshness(name?: string): ReturnType<UpstreamPort['freshness']> {
    const upstreams = await this.#followed.list()
    const now = this.#parts.context.clock.now()
    const hasFailed = (upstream: string) => this.#runs.hasFailed(upstream)
    if (name === undefined) {
      return toOldest(upstreams.map((one) => toFreshness(one, { now, hasFailed: hasFailed(one.name) })))
    }
    const source = await this.#sources.find(name)
    if (!source) return undefined
    const { upstream, syncedAt } = source
    const one = upstreams.find(({ name: followedAs }) => followedAs === upstream)
    return toFreshness(one, { now, syncedAt, hasFailed: hasFailed(upstream) })
  }

  #canAsk(upstream: Upstream): boolean {
    return this.#parts.mode !== 'offline' || !asksNetwork(upstream)
  }

  async #refreshDue(wanted: WantedSkill | undefined): Promise<void> {
    const due = (await this.#findBehind(wanted)).filter((upstream) => this.#isDue(upstream))
    await Promise.all(due.map(({ name }) => this.#refreshWithin(name)))
  }

  /** The upstreams that may be contacted: the upstream of the requested skill or, for a list, all. */
  async #findBehind(wanted: WantedSkill | undefined): Promise<Upstream[]> {
    const upstreams = (await this.#followed.list()).filter(
      (one) => one.kind !== 'bundle' && !one.alarm && this.#canAsk(one),
    )
    if (!wanted) return upstreams
    const source = await this.#sources.find(wanted.name)
    return upstreams.filter(({ name }) => name === source?.upstream)
  }

  #isDue({ syncedAt, settings }: Upstream): boolean {
    const { mode, context } = this.#parts
    // The age is an absolute value, so that no refresh is delayed if the clock was set back.
    const ageMs = syncedAt === null ? Infinity : Math.abs(context.clock.now() - syncedAt)
    if (mode === 'online') return ageMs >= newMs
    // The first sync takes long, so a read does not start it, except for an upstream in the mode `pull-through`.
    if (syncedAt === null && settings.mode !== 'pull-through') return false
    return settings.everySeconds > 0 && ageMs > settings.everySeconds * 1000
  }

  /** Refreshes an upstream while the caller waits. A failure is only recorded: the caller gets the stored skill. */
  async #refreshWithin(upstream: string): Promise<void> {
    const late = () => new RegistryError('upstream_timeout', `'${upstream}' did not respond in time.`)
    try {
      const { clock } = this.#parts.context
      await limitTime({ clock, ms: waitMsMax.here, late }, this.#runs.refresh(upstream))
    } catch {
      this.#runs.giveUp(upstream)
    }
  }

  async #pullFrom(upstreams: readonly Upstream[], wanted: WantedSkill): Promise<boolean> {
    for (const upstream of upstreams) {
      // An unreachable upstream ends the search. Otherwise, an attacker who blocks this upstream could make the next
      // upstream the source of its names.
      const isHere = await this.#lookIn(upstream, wanted).catch((error: unknown) => {
        throw toReadError(error, upstream.name, this.#parts.mode)
      })
      if (isHere) return true
    }
    return false
  }

  /** Tries to import a skill from an upstream. Returns whether the skill is stored afterwards. */
  async #lookIn(upstream: Upstream, wanted: WantedSkill): Promise<boolean> {
    const { name, alarm, syncedAt, settings } = upstream
    const parts = this.#parts
    const [owner = '', short = ''] = wanted.name.split('/')
    if (upstream.kind === 'bundle' || !wantsName({ parts, upstream }, owner, short)) return false
    const pulls = settings.mode === 'pull-through'
    const isSynced = !pulls && syncedAt !== null
    // All skills of a synced upstream are stored, unless the upstream has the mode `pull-through`.
    if (isSynced && parts.mode !== 'online') return false
    const key = `${name}\n${wanted.name}@${wanted.version ?? ''}`
    if (this.#misses.has(key)) return false
    if (isSynced && (alarm || !this.#canAsk(upstream))) return false
    if (!this.#canAsk(upstream)) {
      const detail = `This node is in offline mode and sends no request to '${name}', which may have ${wanted.name}.`
      throw new RegistryError('offline', detail)
    }
    if (alarm) {
      const detail =
        `is paused (${alarm.code}), so ${wanted.name} was not requested from it. The operator can check the reason ` +
        `with \`skillstead mirror status\`, and then run \`skillstead mirror resume ${name}\``
      throw readingFailure(upstream, detail)
    }
    if (!pulls && !isSynced)
      throw readingFailure(upstream, `is not synced yet, and may have ${wanted.name}. Try again later`)
    if (!pulls) await this.#refreshWithin(name)
    const failure = pulls ? await this.#runs.pull(name, wanted.name).catch((error: unknown) => ({ error })) : undefined
    // The failure is ignored if the skill is stored: it may concern another skill of the same run.
    if ((await readWantedState(parts, wanted)).kind === 'here') return true
    if (failure) throw failure.error
    if (pulls) this.#misses.add(key)
    return false
  }
}

function readingFailure({ name }: Upstream, what: string): RegistryError {
  return new RegistryError('upstream_failed', `The upstream '${name}' ${what}.`)
}
