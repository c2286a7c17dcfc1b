import type { Registry } from '@skillstead/core'
import { partsOf, printError } from '@skillstead/core/internal'
import type { MirrorContext, MirrorParts, Run } from './run.ts'
import { setImmediate } from 'node:timers/promises'
import { RegistryError, withoutUndefined } from '@skillstead/protocol'
import { asksNetwork, engines } from './engines.ts'
import { toOperator } from './operator.ts'
import { requireExtension } from './extension.ts'
import { readSources } from './reading/sources.ts'
import { openReading } from './reading/open-reading.ts'
import { runSync, type SyncOrder } from './run-sync.ts'
import { createSchedule, toNextAt } from './schedule.ts'
import {
  guessKind,
  requireApiKey,
  requireUpstreamName,
  requireVerifierKey,
  toLocation,
  toSettings,
} from './settings.ts'
import { readStatus, toMetrics } from './store/status.ts'
import { listRefusals } from './store/refusals.ts'
import { changeUpstream, deleteUpstream, getUpstream, insertUpstream } from './store/upstreams.ts'
import type {
  AddOptions,
  ChangeOptions,
  Mirror,
  MirrorOptions,
  SyncOptions,
  SyncReport,
  Upstream,
  UpstreamStatus,
} from './types.ts'
import { createUpstreamFetch, type Replacements } from './upstream-fetch.ts'
import { createWriting } from './writing/writing.ts'

const refusalsDefault = 100

/**
 * Creates the mirror of an open registry: it syncs and verifies skills of upstream registries, and serves them when the
 * upstreams are unavailable. Close the mirror before the registry.
 *
 * @example
 * const mirror = createMirror(registry)
 * await mirror.add('main', 'https://skills.example.com')
 * const { applied } = await mirror.sync('main')
 */
export function createMirror(registry: Registry, options: MirrorOptions = {}): Mirror {
  const context = partsOf(registry)
  requireExtension(context)
  const parts = toParts(context, options)
  const { read, writer } = context.database
  const closing = new AbortController()
  const running = new Map<string, Promise<unknown>>()
  const writing = createWriting(parts, closing.signal)
  const schedule = createSchedule({
    clock: context.clock,
    onError: parts.onError,
    list: async () => await reading.list(),
    sync: syncOnSchedule,
  })
  const reading = openReading({
    parts,
    running: (name) => running.get(name),
    begin: (name, within, engine) => begin(name, {}, { within, engine }),
  })
  registry.addMetrics(async () => toMetrics(await status(), context.clock.now()))

  async function reloadUpstreams(): Promise<void> {
    reading.forget()
    await reading.list()
  }

  function requireIdle(name: string): void {
    if (running.has(name)) throw new RegistryError('conflict', `A sync of '${name}' is running. Wait until it ends.`)
  }

  async function status(name?: string): Promise<UpstreamStatus[]> {
    const upstreams = name === undefined ? await reading.list() : [await getUpstream(read, name)]
    return readStatus(context, upstreams, (one) => running.has(one))
  }

  async function sync(
    name: string,
    given: SyncOptions = {},
    isWanted?: (upstream: Upstream) => boolean,
  ): Promise<SyncReport> {
    // Refuse before the run starts: offline mode of this node is not a failure of the upstream, so no error is stored
    // for it.
    if (parts.mode === 'offline') requireNetwork(await getUpstream(read, name), parts)
    return reading.without(name, () => begin(name, given, { within: parts, engine: runEngine, isWanted }))
  }

  async function begin(
    name: string,
    given: SyncOptions,
    { within, ...order }: { within: MirrorParts } & Pick<SyncOrder, 'engine' | 'isWanted'>,
  ): Promise<SyncReport> {
    requireIdle(name)
    if (closing.signal.aborted) throw new RegistryError('shutting_down', 'The mirror is closing.')
    const work = runSync(within, {
      name,
      options: given,
      signal: closing.signal,
      engine: (run) => {
        requireNetwork(run.upstream, within)
        return order.engine(run)
      },
      onAlarm: (alarm) => options.onAlarm?.(name, alarm),
      isWanted: order.isWanted,
    })
    running.set(name, work)
    try {
      const report = await work
      writing.wake(name)
      options.onReport?.(report)
      return report
    } finally {
      running.delete(name)
      reading.forget()
    }
  }

  /** Does nothing if another node is syncing or has just synced the upstream, or if the upstream was removed. */
  async function syncOnSchedule(upstream: Upstream): Promise<void> {
    const { name } = upstream
    if (running.has(name) || isOutOfReach(upstream, parts)) return
    try {
      await sync(name, {}, (current) => (toNextAt(current, context.clock.now()) ?? Infinity) <= context.clock.now())
    } catch (error) {
      const isExpected = error instanceof RegistryError && ['conflict', 'offline', 'shutting_down'].includes(error.code)
      if (!isExpected) parts.onError(error)
    }
  }

  const mirror: Mirror = {
    mode: parts.mode,
    outbox: writing.outbox,
    accounts: writing.accounts,
    async add(name, location, given = {}) {
      const upstream = toNew(name, location, given)
      const credential = given.apiKey === undefined ? null : context.secrets.seal(given.apiKey)
      await writer.write((trx) => insertUpstream(trx, { ...upstream, credential, at: context.clock.now() }))
      await reloadUpstreams()
      const [added] = await status(name)
      return added!
    },
    list: () => status(),
    status,
    async refusals(name, limit = refusalsDefault) {
      const upstream = await getUpstream(read, name)
      return listRefusals(read, upstream.name, limit)
    },
    async change(name, given) {
      await reading.without(name, async () => {
        requireIdle(name)
        const { apiKey, ...changes } = toChanges(await getUpstream(read, name), given)
        const credential = apiKey === undefined ? undefined : context.secrets.seal(apiKey)
        await writer.write((trx) => changeUpstream(trx, name, { ...changes, credential }))
      })
      await reloadUpstreams()
      const [changed] = await status(name)
      return changed!
    },
    findSources: (fullNames) => readSources(read, fullNames),
    sync: (name, given) => sync(name, given),
    async remove(name) {
      const [{ writesWaiting, writesInConflict }] = (await status(name)) as [UpstreamStatus]
      const waiting = writesWaiting + writesInConflict
      if (waiting > 0) {
        const detail = `${waiting} writes for '${name}' are pending and would be lost. Deliver or drop them first (\`mirror outbox list\`).`
        throw new RegistryError('conflict', detail)
      }
      await reading.without(name, async () => {
        requireIdle(name)
        await writer.write((trx) => deleteUpstream(trx, name))
      })
      await reloadUpstreams()
    },
    start: schedule.start,
    async close() {
      schedule.stop()
      closing.abort(new RegistryError('shutting_down', 'The mirror is closing.'))
      await writing.close()
      while (running.size > 0) {
        await Promise.allSettled(running.values())
        await setImmediate()
      }
      await reading.close()
      context.upstreams.attachOperator(undefined)
    },
  }
  context.upstreams.attachOperator(toOperator(context, mirror, options))
  return mirror
}

const runEngine = (run: Run): Promise<void> => engines[run.upstream.kind].sync(run)

function toParts(context: MirrorContext, options: MirrorOptions & Replacements): MirrorParts {
  const { mode = 'prefer-local', privateNames = [], fetch, ca, sleep, onError = printError } = options
  return {
    context,
    mode,
    privateNames,
    onError,
    openFetch: (_, signal, waitMs) =>
      createUpstreamFetch({
        mode,
        clock: context.clock,
        ca,
        fetch,
        sleep,
        signal,
        ...(waitMs !== undefined && { timeoutMs: waitMs, retries: 0, pauseMsMax: 0 }),
      }),
    readCredential: ({ credential }) => (credential === null ? undefined : context.secrets.open(credential)),
  }
}

function toNew(name: string, location: string, given: AddOptions) {
  requireUpstreamName(name)
  if (given.key !== undefined) requireVerifierKey(given.key)
  if (given.apiKey !== undefined) requireApiKey(given.apiKey)
  const kind = given.kind ?? guessKind(location)
  const keys = given.key === undefined ? [...(given.keysSeen ?? [])] : [given.key]
  return { name, kind, location: toLocation(kind, location), settings: toSettings(given), keys }
}

function toChanges({ kind, location, settings }: Upstream, given: ChangeOptions) {
  if (given.key !== undefined) requireVerifierKey(given.key)
  if (given.apiKey !== undefined) requireApiKey(given.apiKey)
  const { pinned } = settings
  const wanted = { ...settings, ...withoutUndefined(given) }
  const set = toSettings({ ...wanted, selected: given.selected ?? (wanted.mode === 'selected' ? wanted.selected : []) })
  return {
    apiKey: given.apiKey,
    keys: given.key === undefined ? undefined : [given.key],
    location: given.location === undefined ? location : toLocation(kind, given.location),
    settings: { ...set, pinned: pinned || set.pinned },
  }
}

function isOutOfReach(upstream: Upstream, { mode }: Pick<MirrorParts, 'mode'>): boolean {
  return mode === 'offline' && asksNetwork(upstream)
}

function requireNetwork(upstream: Upstream, parts: Pick<MirrorParts, 'mode'>): void {
  if (!isOutOfReach(upstream, parts)) return
  throw new RegistryError(
    'offline',
    `This node is in offline mode and contacts no upstream. Sync '${upstream.name}' with another --network, or import a bundle of it.`,
  )
}
