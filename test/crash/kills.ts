import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { localApi, systemCaller, type RegistryOptions } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { openOutside, type Outside } from '../support/outside.ts'
import { seededRandom } from '../support/random.ts'
import type { PublisherOptions, PublisherSays } from './publisher-child.ts'
import { openRegistry } from '../support/open-registry.ts'
import { poisonRows } from '../support/poison.ts'

export interface KillOptions {
  readonly location: Pick<RegistryOptions, 'path' | 'databaseUrl'>
  readonly kills: number
  /** The same seed gives the same kill times, measured from readiness or the first response, and receiver moods. */
  readonly seed: number
  readonly onKill?: (count: number) => void
}

/** The result of a run. The lists contain violations and are empty if the run passed. */
export interface KillReport {
  readonly answered: number
  readonly stored: number
  readonly deliveries: number
  /** Repeated deliveries that the receiver had already accepted. */
  readonly repeated: number
  /** Requests that the receiver rejected, cut off or left without a response. */
  readonly turnedAway: number
  readonly killedWhileOpening: number
  readonly killedThreads: number
  /** Publishes that the database refused. */
  readonly poisoned: number
  /** Acknowledged publishes that are not stored. */
  readonly lost: string[]
  /** Stored versions that were never delivered, by receiver. */
  readonly untold: string[]
  /** Delivered versions that are not stored. */
  readonly madeUp: string[]
  /** Versions delivered with more than one event id. */
  readonly ambiguous: string[]
  /** Outbox rows that are not done at the end. */
  readonly stuck: string[]
  /** Unexpected errors of the processes. */
  readonly errors: string[]
}

type Tally = ReturnType<typeof createTally>

const hosts = ['steady.hooks.test', 'moody.hooks.test']
const path = '/events'
const poisonedName = 'poisoned'
/** Longer than a lease, so that rows leased by a killed process are free when the next process starts. */
const startStepMs = 61_000
/** The clock offset of the last process, by which all retries are due. */
const lastStepMs = 4 * 60 * 60 * 1000
const lifeMsMax = 800
/** One of this many processes is killed before its registry is open. */
const stillborn = 8
const openingMs = 400
/** The share of the other processes that may be killed before their first response. */
const killedEarly = 0.25
/** The limit with which a delivery always succeeds within five attempts. */
const moodsMax = 3

/**
 * Publishes from a process that is killed and restarted at random times, and then compares the deliveries with the
 * stored versions.
 */
export async function runKills({ location, kills, seed, onKill }: KillOptions): Promise<KillReport> {
  const random = seededRandom(seed)
  const outside = await openOutside(['hooks.test'])
  const tally = createTally(outside, random)
  const outgoing = { allowNetworks: ['127.0.0.0/8'], ca: [outside.ca] }
  await makeWebhooks({ ...location, outgoing: { ...outgoing, resolver: outside.resolver } })
  const [{ port } = { port: 0 }] = await outside.resolver.lookup(hosts[0]!)
  const options = { location, ca: outside.ca, port: port!, poisonedName }

  for (let kill = 0; kill < kills; kill++) {
    const isStillborn = random() < 1 / stillborn
    const publisher = start({ ...options, run: kill, clockStepMs: kill * startStepMs, publishes: true }, tally)
    // Kill most processes during a publish or delivery, also on a slow machine.
    if (isStillborn) tally.killedWhileOpening += 1
    else await (random() < killedEarly ? publisher.isReady : publisher.hasAnswered)
    await setTimeout(random() * (isStillborn ? openingMs : lifeMsMax))
    await publisher.end('SIGKILL')
    onKill?.(kill + 1)
  }
  tally.isKind = true
  const clockStepMs = kills * startStepMs + lastStepMs
  const last = start({ ...options, run: kills, clockStepMs, publishes: false }, tally)
  await last.isDrained
  await last.end('SIGTERM')
  await outside.close()
  return compare(location, tally)
}

async function makeWebhooks(options: RegistryOptions): Promise<void> {
  const registry = await openRegistry({ ...options, works: false })
  const system = localApi(registry, systemCaller)
  await system.createUser({ username: 'publisher' })
  for (const host of hosts) {
    const username = host.split('.')[0]!
    await system.createUser({ username, plan: 'pro' })
    const api = localApi(registry, await registry.getCaller(username))
    await api.createWebhook({ url: `https://${host}${path}`, events: ['skill.published'] })
  }
  // The last row of a publish, so that all rows before it have to be undone.
  const when = `new.subject like 'publisher/${poisonedName}@%'`
  await poisonRows(partsOf(registry).database, { table: 'audit', when })
  await registry.close()
}

/** The observations from outside: acknowledged publishes and received deliveries. */
function createTally(outside: Outside, random: () => number) {
  const tally = {
    answered: new Set<string>(),
    /** Delivery counts of each receiver by version. */
    taken: new Map(hosts.map((host) => [host, new Map<string, number>()])),
    eventIds: new Map<string, Set<string>>(),
    errors: [] as string[],
    turnedAway: 0,
    killedWhileOpening: 0,
    killedThreads: 0,
    poisoned: 0,
    /** Whether the receivers accept every request. */
    isKind: false,
  }
  const moods = new Map<string, number>()

  function isMoody(host: string, key: string): boolean {
    const times = moods.get(key) ?? 0
    if (tally.isKind || host !== hosts[1] || times >= moodsMax || random() > 0.1) return false
    moods.set(key, times + 1)
    return true
  }
  async function receive(host: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { id, data } = JSON.parse(await text(request)) as { id: string; data: { skill: Published } }
    const key = `${data.skill.fullName}@${data.skill.version}`
    if (isMoody(host, key)) {
      tally.turnedAway += 1
      return turnAway(request, response, random())
    }
    const taken = tally.taken.get(host)!
    taken.set(key, (taken.get(key) ?? 0) + 1)
    tally.eventIds.set(key, (tally.eventIds.get(key) ?? new Set()).add(id))
    response.end()
  }
  for (const host of hosts) {
    // The request of a killed sender is incomplete, so that reading it fails.
    outside.pages.set(host + path, (request, response) => void receive(host, request, response).catch(() => {}))
  }
  return tally
}

interface Published {
  readonly fullName: string
  readonly version: string
}

function turnAway(request: IncomingMessage, response: ServerResponse, mood: number): void {
  if (mood < 0.7) response.writeHead(500).end('Not now.')
  else if (mood < 0.85) request.socket.destroy()
  // Otherwise the receiver never responds.
}

function start(options: PublisherOptions, tally: Tally) {
  const execArgv = ['--conditions=source']
  const child = fork(fileURLToPath(new URL('./publisher-child.ts', import.meta.url)), [JSON.stringify(options)], {
    execArgv,
  })
  const closed = once(child, 'close')
  const early = closed.then(() => Promise.reject(new Error('A publisher ended by itself.')))
  early.catch(() => {})
  const hears = (kind: PublisherSays['kind']) => {
    const heard = new Promise<void>((resolve) =>
      child.on('message', (says: PublisherSays) => says.kind === kind && resolve()),
    )
    return Promise.race([heard, early])
  }
  const [isReady, hasAnswered, isDrained] = [hears('ready'), hears('answered'), hears('drained')]
  for (const each of [isReady, hasAnswered, isDrained]) each.catch(() => {})
  child.on('message', (says: PublisherSays) => {
    if (says.kind === 'answered') tally.answered.add(says.version)
    if (says.kind === 'thread-killed') tally.killedThreads += 1
    if (says.kind === 'poisoned') tally.poisoned += 1
    if (says.kind === 'error') tally.errors.push(says.message)
  })
  return {
    isReady,
    hasAnswered,
    isDrained,
    async end(signal: NodeJS.Signals) {
      child.kill(signal)
      await closed
    },
  }
}

async function compare(location: RegistryOptions, tally: Tally): Promise<KillReport> {
  const { stored, stuck } = await readStored(location)
  const { answered, taken, eventIds, turnedAway, killedWhileOpening, killedThreads, poisoned, errors } = tally
  const told = [...taken].flatMap(([host, versions]) =>
    [...versions].map(([version, times]) => ({ host, version, times })),
  )
  const deliveries = told.reduce((sum, { times }) => sum + times, 0)
  return {
    answered: answered.size,
    stored: stored.size,
    deliveries,
    repeated: deliveries - told.length,
    turnedAway,
    killedWhileOpening,
    killedThreads,
    poisoned,
    lost: [...answered].filter((version) => !stored.has(version)),
    untold: [...taken].flatMap(([host, versions]) =>
      [...stored].filter((version) => !versions.has(version)).map((version) => `${host} ${version}`),
    ),
    madeUp: told.filter(({ version }) => !stored.has(version)).map(({ host, version }) => `${host} ${version}`),
    ambiguous: [...eventIds].filter(([, ids]) => ids.size > 1).map(([version]) => version),
    stuck,
    errors,
  }
}

async function readStored(location: RegistryOptions): Promise<{ stored: Set<string>; stuck: string[] }> {
  const registry = await openRegistry({ ...location, works: false })
  const versions = await partsOf(registry)
    .database.read.selectFrom('versions as v')
    .innerJoin('skills as s', 's.id', 'v.skill_id')
    .select(['s.full_name', 'v.version'])
    .execute()
  const rows = await partsOf(registry)
    .database.read.selectFrom('outbox')
    .select(['id', 'state', 'attempt_log'])
    .where('topic', '=', 'webhook.delivery')
    .where('state', '<>', 'done')
    .execute()
  await registry.close()
  return {
    stored: new Set(versions.map(({ full_name, version }) => `${full_name}@${version}`)),
    stuck: rows.map(({ id, state, attempt_log }) => `${id} is ${state}: ${attempt_log}`),
  }
}
