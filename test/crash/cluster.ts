import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { localApi, systemCaller } from '@skillstead/core'
import { skillMd } from '../support/answers.ts'
import { openOutside } from '../support/outside.ts'
import { startPostgres } from '../support/postgres.ts'
import type { NodeOptions } from './cluster-child.ts'
import { compare, type Faults } from './cluster-compare.ts'
import { startLoad } from './cluster-load.ts'
import { startBalancer, startNodes, type Nodes } from './cluster-nodes.ts'
import { startServices } from './cluster-services.ts'
import { seededRandom } from '../support/random.ts'
import { openRegistry } from '../support/open-registry.ts'

export interface ClusterOptions {
  readonly kills: number
  /** The same seed kills the same processes after the same waits. */
  readonly seed: number
  readonly onKill?: (count: number) => void
}

export interface ClusterReport {
  readonly killedNodes: number
  readonly killedDatabases: number
  /** The numbers of acknowledged and of stored publishes. */
  readonly answered: number
  readonly stored: number
  /** The number of log entries. */
  readonly entries: number
  /** Response counts during the load by method and status; `none` for requests without a response. */
  readonly statuses: Record<string, number>
  readonly faults: Faults & {
    /** Responses that no node may return, even while other processes are down. */
    readonly answers: string[]
    /** Nodes that exited without being killed. */
    readonly nodes: string[]
  }
}

const nodeCount = 3
const fanCount = 5
/** One of this many kills hits the database. */
const databaseEvery = 2
const quietMsMax = 700
const cacheTries = 50
const awayMsMax = 1500
const receiver = 'receiver.hooks.test/events'
/** Longer than a lease plus all retry delays. */
const clockStepMs = 4 * 60 * 60 * 1000

/**
 * Runs three nodes on one PostgreSQL behind a load balancer, under load, and kills nodes and the database, while a replica
 * and a bucket fail.
 */
export async function runCluster(options: ClusterOptions): Promise<ClusterReport> {
  const ending: (() => Promise<void>)[] = []
  try {
    return await run(options, (end) => void ending.push(end))
  } finally {
    for (const end of ending.toReversed()) await end()
  }
}

async function run(
  { kills, seed, onKill }: ClusterOptions,
  atEnd: (end: () => Promise<void>) => void,
): Promise<ClusterReport> {
  const random = seededRandom(seed)
  const postgres = await startPostgres()
  atEnd(postgres.stop)
  const outside = await openOutside(['hooks.test'])
  atEnd(outside.close)
  const delivered = new Set<string>()
  outside.pages.set(receiver, async (request, response) => {
    const body = await text(request).catch(() => '')
    if (body === '') return
    const { data } = JSON.parse(body) as { data: { skill: { name: string } } }
    delivered.add(data.skill.name)
    response.end()
  })
  const databaseUrl = await postgres.createDatabase()
  const [{ port } = { port: 0 }] = await outside.resolver.lookup('receiver.hooks.test')
  const services = await startServices(postgres, databaseUrl)
  const options: NodeOptions = { databaseUrl, ...services.options, ca: outside.ca, port: port!, clockStepMs: 0 }
  const people = await makePeople(options)
  const nodes = await startNodes(nodeCount, options)
  atEnd(nodes.stop)
  const balancer = await startBalancer(nodes)
  atEnd(balancer.close)
  const load = startLoad({ url: balancer.url, lost: services.lost, ...people })
  atEnd(async () => void (await load.stop()))
  let killedDatabases = 0
  const withoutKept: string[] = []
  for (let kill = 1; kill <= kills; kill++) {
    await setTimeout(random() * quietMsMax)
    await services.fail(kill, kills)
    if (kill % databaseEvery === 0) {
      killedDatabases += 1
      const readers = await fillCaches(nodes)
      await postgres.kill(random() < 0.5 ? 'SIGKILL' : 'SIGQUIT')
      const statuses = await Promise.all(readers.map(read))
      if (readers.length > 0 && !statuses.includes(200))
        withoutKept.push(`Kept reads were answered ${statuses.join()}.`)
      await setTimeout(random() * awayMsMax)
      await postgres.restart()
    } else await killNode(nodes, random)
    onKill?.(kill)
  }
  await untilAnswered(balancer.url)
  // Let the load continue after the last kill.
  await setTimeout(quietMsMax)
  const told = await load.stop()
  services.heal()
  await nodes.restart({ ...options, clockStepMs })
  const nodeUrls = nodes.urls.filter((url) => url !== undefined)
  const { stored, entries, faults } = await compare({ databaseUrl, nodeUrls, told, delivered, ...services, ...people })
  return {
    killedNodes: kills - killedDatabases,
    killedDatabases,
    answered: told.published.size,
    stored,
    entries,
    statuses: Object.fromEntries([...told.statuses].toSorted()),
    faults: { ...faults, answers: [...told.faults, ...withoutKept], nodes: nodes.faults },
  }
}

/** Runs the cluster test and prints the report: `pnpm crash cluster --kills N`. */
export async function killCluster(options: ClusterOptions): Promise<void> {
  const { faults, statuses, ...counts } = await runCluster(options)
  console.table(counts)
  console.table(statuses)
  const lists = Object.entries(faults)
  for (const [fault, list] of lists) for (const each of list) console.error(`${fault}: ${each}`)
  if (lists.some(([, list]) => list.length > 0)) process.exitCode = 1
}

/** Sometimes kills another node before the first one is ready again. */
async function killNode(nodes: Nodes, random: () => number): Promise<void> {
  const first = Math.floor(random() * nodeCount)
  const victims = random() < 0.25 ? [first, (first + 1) % nodeCount] : [first]
  await Promise.all(victims.map((index) => nodes.kill(index)))
}

/**
 * Makes each running node cache a response. A concurrent change prevents caching, which is common under load, so the
 * request is repeated until some node has cached it.
 */
async function fillCaches({ urls }: Nodes): Promise<string[]> {
  const running = urls.filter((url) => url !== undefined)
  const statuses = await Promise.all(running.map(readOften))
  return running.filter((_, i) => statuses[i] === 200)
}

async function readOften(url: string): Promise<number> {
  let status = 0
  for (let i = 0; i < cacheTries; i++) status = await read(url)
  return status
}

async function read(url: string): Promise<number> {
  return (await fetch(`${url}/api/v1/skills/publisher%2Fquiet`)).status
}

async function untilAnswered(url: string): Promise<void> {
  while ((await fetch(`${url}/readyz`)).status !== 200) await setTimeout(100)
}

async function makePeople({ databaseUrl, ca, port }: NodeOptions) {
  const outgoing = {
    allowNetworks: ['127.0.0.0/8'],
    ca: [ca],
    resolver: { lookup: async () => [{ address: '127.0.0.1', port }], txt: async () => [] },
  }
  const registry = await openRegistry({ databaseUrl, works: false, outgoing })
  const system = localApi(registry, systemCaller)
  const { key } = await system.createUser({ username: 'publisher', plan: 'enterprise' })
  const fans: string[] = []
  for (let i = 0; i < fanCount; i++) fans.push((await system.createUser({ username: `fan-${i}` })).key)
  const api = localApi(registry, await registry.getCaller('publisher'))
  await api.createWebhook({ url: `https://${receiver}`, events: ['skill.published'] })
  await api.publishSkill({ skillMd: skillMd('quiet') })
  const verifierKeys = (await registry.verifierKeys()).map(({ vkey }) => vkey)
  await registry.close()
  return { publisher: key, fans, verifierKeys }
}
