import type { Registry } from '@skillstead/core'
import { partsOf, printError } from '@skillstead/core/internal'
import type { MirrorContext, MirrorParts, Run } from './run.ts'
import { setImmediate } from 'node:timers/promises'
import { RegistryError, withoutUndefined } from '@skillstead/protocol'
import { asksNetwork, engines } from './engines.ts'
import { toOperator } from './operator.ts'
import { requireExtension } from './extension.ts'
import { findSourceNames } from './reading/sources.ts'
import { openMirrorReading, type Reading } from './reading/open-reading.ts'
import { runSync, type SyncOrder } from './run-sync.ts'
import { createSchedule, toNextAt, type Schedule } from './schedule.ts'
import {
  guessKind,
  requireApiKey,
  requireUpstreamName,
  requireVerifierKey,
  toUpstreamLocation,
  toUpstreamSettings,
} from './settings.ts'
import { readStatus, toUpstreamMetrics } from './store/status.ts'
import { listRefusals } from './store/refusals.ts'
import { changeUpstream, deleteUpstream, getUpstream, insertUpstream } from './store/upstreams.ts'
import type {
  AddOptions,
  ChangeOptions,
  Mirror,
  MirrorOptions,
  NetworkMode,
  StoredRefusal,
  SyncOptions,
  SyncReport,
  Upstream,
  UpstreamStatus,
} from './types.ts'
import { UpstreamFetch, type Replacements } from './upstream-fetch.ts'
import type { MirrorAccounts, MirrorOutbox } from './write-types.ts'
import { createWriting, type Writing } from './writing/writing.ts'

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
  const mirror = new NodeMirror(registry, options)
  const { context } = mirror.parts
  registry.addMetrics(async () => toUpstreamMetrics(await mirror.list(), context.clock.now()))
  context.upstreams.attachOperator(toOperator(context, mirror, options))
  return mirror
}

class NodeMirror implements Mirror {
  readonly mode: NetworkMode
  readonly outbox: MirrorOutbox
  readonly accounts: MirrorAccounts
  readonly parts: MirrorParts
  readonly #options: MirrorOptions
  readonly #closing = new AbortController()
  /** The syncs of this process by the names of their upstreams. */
  readonly #running = new Map<string, Promise<unknown>>()
  readonly #writing: Writing
  readonly #schedule: Schedule
  readonly #reading: Reading

  constructor(registry: Registry, options: MirrorOptions) {
    const context = partsOf(registry)
    requireExtension(context)
    this.#options = options
    this.parts = toMirrorParts(context, options)
    this.mode = this.parts.mode
    this.#writing = createWriting(this.parts, this.#closing.signal)
    this.outbox = this.#writing.outbox
    this.accounts = this.#writing.accounts
    this.#reading = openMirrorReading({
      parts: this.parts,
      running: (name) => this.#running.get(name),
      begin: (name, within, engine) => this.#begin(name, {}, { within, engine }),
    })
    this.#schedule = createSchedule({
      clock: context.clock,
      onError: this.parts.onError,
      list: async () => await this.#reading.list(),
      sync: (upstream) => this.#syncOnSchedule(upstream),
    })
  }

  async add(name: string, location: string, given: AddOptions = {}): Promise<UpstreamStatus> {
    const { database, secrets, clock } = this.parts.context
    const upstream = toNew(name, location, given)
    const credential = given.apiKey === undefined ? null : secrets.seal(given.apiKey)
    await database.writer.write((trx) => insertUpstream(trx, { ...upstream, credential, at: clock.now() }))
    await this.#reloadUpstreams()
    return (await this.status(name))[0]!
  }

  list(): Promise<UpstreamStatus[]> {
    return this.status()
  }

  async status(name?: string): Promise<UpstreamStatus[]> {
    const { context } = this.parts
    const upstreams = name === undefined ? await this.#reading.list() : [await getUpstream(context.database.read, name)]
    return readStatus(context, upstreams, (one) => this.#running.has(one))
  }

  async refusals(name: string, limit: number = refusalsDefault): Promise<StoredRefusal[]> {
    const { read } = this.parts.context.database
    const upstream = await getUpstream(read, name)
    return listRefusals(read, upstream.name, limit)
  }

  async change(name: string, given: ChangeOptions): Promise<UpstreamStatus> {
    const { database, secrets } = this.parts.context
    await this.#reading.without(name, async () => {
      this.#requireIdle(name)
      const { apiKey, ...changes } = toUpstreamChanges(await getUpstream(database.read, name), given)
      const credential = apiKey === undefined ? undefined : secrets.seal(apiKey)
      await database.writer.write((trx) => changeUpstream(trx, name, { ...changes, credential }))
    })
    await this.#reloadUpstreams()
    return (await this.status(name))[0]!
  }

  findSources(fullNames: readonly string[]): Promise<Map<string, string>> {
    return findSourceNames(this.parts.context.database.read, fullNames)
  }

  sync(name: string, given: SyncOptions = {}): Promise<SyncReport> {
    return this.#sync(name, given)
  }

  async remove(name: string): Promise<void> {
    const { writesWaiting, writesInConflict } = (await this.status(name))[0]!
    const waiting = writesWaiting + writesInConflict
    if (waiting > 0) {
      const detail = `${waiting} writes for '${name}' are pending and would be lost. Deliver or drop them first (\`mirror outbox list\`).`
      throw new RegistryError('conflict', detail)
    }
    await this.#reading.without(name, async () => {
      this.#requireIdle(name)
      await this.parts.context.database.writer.write((trx) => deleteUpstream(trx, name))
    })
    await this.#reloadUpstreams()
  }

  start(): void {
    this.#schedule.start()
  }

  async close(): Promise<void> {
    this.#schedule.stop()
    this.#closing.abort(new RegistryError('shutting_down', 'The mirror is closing.'))
    await this.#writing.close()
    while (this.#running.size > 0) {
      await Promise.allSettled(this.#running.values())
      await setImmediate()
    }
    await this.#reading.close()
    this.parts.context.upstreams.attachOperator(undefined)
  }

  async #sync(name: string, given: SyncOptions, isWanted?: (upstream: Upstream) => boolean): Promise<SyncReport> {
    const { parts } = this
    // Refused before the run starts, so that no error is stored for the upstream: offline mode of this node is not a
    // failure of the upstream.
    if (parts.mode === 'offline') requireNetwork(await getUpstream(parts.context.database.read, name), parts)
    return this.#reading.without(name, () => this.#begin(name, given, { within: parts, engine: runEngine, isWanted }))
  }

  async #begin(
    name: string,
    given: SyncOptions,
    { within, engine, isWanted }: { within: MirrorParts } & Pick<SyncOrder, 'engine' | 'isWanted'>,
  ): Promise<SyncReport> {
    this.#requireIdle(name)
    const { signal } = this.#closing
    if (signal.aborted) throw new RegistryError('shutting_down', 'The mirror is closing.')
    const work = runSync(within, {
      name,
      options: given,
      signal,
      engine: (run) => {
        requireNetwork(run.upstream, within)
        return engine(run)
      },
      onAlarm: (alarm) => this.#options.onAlarm?.(name, alarm),
      isWanted,
    })
    this.#running.set(name, work)
    try {
      const report = await work
      this.#writing.wake(name)
      this.#options.onReport?.(report)
      return report
    } finally {
      this.#running.delete(name)
      this.#reading.forget()
    }
  }

  /** Syncs a due upstream, unless another node is syncing it or has just synced it, or it was removed. */
  async #syncOnSchedule(upstream: Upstream): Promise<void> {
    const { name } = upstream
    const { parts } = this
    const { clock } = parts.context
    if (this.#running.has(name) || isOutOfReach(upstream, parts)) return
    try {
      await this.#sync(name, {}, (current) => (toNextAt(current, clock.now()) ?? Infinity) <= clock.now())
    } catch (error) {
      const isExpected = error instanceof RegistryError && ['conflict', 'offline', 'shutting_down'].includes(error.code)
      if (!isExpected) parts.onError(error)
    }
  }

  async #reloadUpstreams(): Promise<void> {
    this.#reading.forget()
    await this.#reading.list()
  }

  #requireIdle(name: string): void {
    if (!this.#running.has(name)) return
    throw new RegistryError('conflict', `A sync of '${name}' is running. Wait until it ends.`)
  }
}

const runEngine = (run: Run): Promise<void> => engines[run.upstream.kind].sync(run)

function toMirrorParts(context: MirrorContext, options: MirrorOptions & Replacements): MirrorParts {
  const { mode = 'prefer-local', privateNames = [], fetch, ca, proxy, sleep, onError = printError } = options
  return {
    context,
    mode,
    privateNames,
    onError,
    openFetch: (_, signal, waitMs) =>
      new UpstreamFetch({
        mode,
        clock: context.clock,
        ca,
        proxy,
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
  return { name, kind, location: toUpstreamLocation(kind, location), settings: toUpstreamSettings(given), keys }
}

function toUpstreamChanges({ kind, location, settings }: Upstream, given: ChangeOptions) {
  if (given.key !== undefined) requireVerifierKey(given.key)
  if (given.apiKey !== undefined) requireApiKey(given.apiKey)
  const { pinned } = settings
  const wanted = { ...settings, ...withoutUndefined(given) }
  const set = toUpstreamSettings({
    ...wanted,
    selected: given.selected ?? (wanted.mode === 'selected' ? wanted.selected : []),
  })
  return {
    apiKey: given.apiKey,
    keys: given.key === undefined ? undefined : [given.key],
    location: given.location === undefined ? location : toUpstreamLocation(kind, given.location),
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
