import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { localApi, systemCaller } from '@skillstead/core'
import pg from 'pg'
import { startPostgres } from '../support/postgres.ts'
import { importCorpus, writeCorpus } from './catalogue.ts'
import { startNode, type Child } from './children.ts'
import type { Figure } from './figures.ts'
import { load, postJson, publish, requireWrk, rotate } from './load.ts'
import { readCpu, type Cpu } from './processes.ts'
import { makeScratch } from './scratch.ts'
import { openRegistry } from '../support/open-registry.ts'

const part = 'Nodes on one PostgreSQL'
const nodesMax = 3
/** Of all nodes together, as from a balancer that takes them in turn. */
const connections = 48
const warmSeconds = 5
const publishedBytes = 5700
const words = ['agent', 'reads', 'table', 'column', 'report', 'checks', 'folder', 'season', 'harbour', 'letter']

interface Act {
  readonly name: string
  readonly unit: string
  /** Nodes that keep no answers. */
  readonly cold?: true
  /** Targets: of one node, and of all, which are also never slower than one. */
  readonly leastOfOne?: number
  readonly leastOfAll?: number
  script(round: number): string
}

/** Reads and writes of one, two and three nodes on one PostgreSQL, and who uses the processor meanwhile. */
export async function benchCluster({ isShort }: { isShort: boolean }): Promise<Figure[]> {
  requireWrk()
  const skills = isShort ? 500 : 5000
  const folder = makeScratch('cluster')
  const postgres = await startPostgres()
  try {
    const databaseUrl = await postgres.createDatabase()
    const emptyMib = await measureEmpty(databaseUrl)
    const key = await makePublisher(databaseUrl)
    const emptyBytes = await readSize(databaseUrl)
    await writeCorpus(folder, skills)
    await importCorpus(join(folder, 'open.ndjson.gz'), ['--database-url', databaseUrl])
    const bytes = await readSize(databaseUrl)
    const options = { databaseUrl, seconds: isShort ? 2 : 5, acts: await toActs({ databaseUrl, folder, key }) }
    const { figures, memoryMib } = await measureAll(options)
    return [...figures, ...toSizes({ skills, memoryMib: memoryMib - emptyMib, bytes: bytes - emptyBytes })]
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function toActs({ databaseUrl, folder, key }: { databaseUrl: string; folder: string; key: string }) {
  const registry = await openRegistry({ databaseUrl, works: false })
  const { skills } = await localApi(registry).searchSkills({ limit: 100 })
  await registry.close()
  const details = skills.map(({ fullName }) => `/api/v1/skills/${encodeURIComponent(fullName)}`)
  const queries = (await readFile(join(folder, 'queries-open.ndjson'), 'utf8')).trimEnd().split('\n')
  const searches = queries.map((line) => {
    const { query } = JSON.parse(line) as { query: string }
    return `/api/v1/skills?q=${encodeURIComponent(query)}`
  })
  const acts: Act[] = [
    { name: 'GET /skills/<name>, cached', unit: 'requests/s', script: () => rotate(details) },
    { name: 'GET /skills/<name>, not cached', unit: 'requests/s', cold: true, script: () => rotate(details) },
    { name: 'GET /skills?q=', unit: 'requests/s', cold: true, script: () => rotate(searches) },
    {
      name: 'PUT /skills',
      unit: 'publishes/s',
      leastOfOne: 255,
      script: (round) => publish(key, { bytes: publishedBytes, words }, round),
    },
    {
      name: 'POST /track',
      unit: 'requests/s',
      leastOfAll: 15_000,
      script: () =>
        postJson(
          '/api/v1/track',
          skills.map(({ fullName }) => ({ skillName: fullName })),
        ),
    },
  ]
  return acts
}

async function measureAll({ databaseUrl, seconds, acts }: { databaseUrl: string; seconds: number; acts: Act[] }) {
  const figures: Figure[] = []
  let memoryMib = 0
  let round = 0
  for (const isCold of [false, true]) {
    const nodes: Child[] = []
    const rates = new Map<Act, number[]>(acts.filter(({ cold = false }) => cold === isCold).map((act) => [act, []]))
    for (let count = 1; count <= nodesMax; count++) {
      nodes.push(await startNode({ databaseUrl, ...(isCold && { answerBytesMax: 0 }) }))
      const { rssMib } = await nodes.at(-1)!.vitals('warm')
      if (count === 1 && !isCold) memoryMib = rssMib
      for (const [act, perSecond] of rates) {
        // A node's first publishes wait for its scan threads.
        await load(nodes.at(-1)!.url, act.script((round += nodesMax)), { seconds: warmSeconds })
        perSecond.push(await measure(nodes, { act, seconds, round: (round += nodesMax) }))
      }
    }
    for (const node of nodes) await node.stop()
    for (const [act, perSecond] of rates) figures.push(...toFigures(act, perSecond))
  }
  return { figures, memoryMib }
}

/** Of one node, and of several compared with it. */
function toFigures({ name, unit, leastOfOne, leastOfAll }: Act, [one, ...more]: readonly number[]): Figure[] {
  return [
    { part, name, value: one!, unit, ...(leastOfOne !== undefined && { least: leastOfOne }) },
    ...more.map((rate, i): Figure => {
      const nodes = i + 2
      const other = { with: 'one node', value: one!, ratio: rate / one! }
      return {
        part,
        name: `${name}, ${nodes} nodes`,
        value: rate,
        unit,
        compared: [leastOfAll === undefined ? other : { ...other, least: 1 }],
        ...(leastOfAll !== undefined && nodes === nodesMax && { least: leastOfAll }),
      }
    }),
  ]
}

/** What all nodes together answer in a second. */
async function measure(nodes: readonly Child[], { act, seconds, round }: { act: Act; seconds: number; round: number }) {
  const before = await readCpu()
  const startedMs = performance.now()
  const each = Math.floor(connections / nodes.length)
  const loads = await Promise.all(
    nodes.map(({ url }, i) => load(url, act.script(round + i), { seconds, connections: each })),
  )
  const spentSeconds = (performance.now() - startedMs) / 1000
  const after = await readCpu()
  const errors = loads.reduce((sum, one) => sum + one.errors, 0)
  if (errors > 0) throw new Error(`${errors} answers of ${act.name} were no success.`)
  const share = (who: keyof Cpu) => ((after[who] - before[who]) / spentSeconds).toFixed(2)
  const rate = loads.reduce((sum, { perSecond }) => sum + perSecond, 0)
  const cores = `nodes ${share('nodes')}, PostgreSQL ${share('postgres')}, load ${share('load')}`
  console.log(`${act.name}, nodes: ${nodes.length}: ${Math.round(rate)} ${act.unit}; cores: ${cores}`)
  return rate
}

async function measureEmpty(databaseUrl: string): Promise<number> {
  const node = await startNode({ databaseUrl })
  const { rssMib } = await node.vitals('warm')
  await node.stop()
  return rssMib
}

async function makePublisher(databaseUrl: string): Promise<string> {
  const registry = await openRegistry({ databaseUrl, works: false })
  const { key } = await localApi(registry, systemCaller).createUser({ username: 'bench', plan: 'enterprise' })
  await registry.close()
  return key
}

async function readSize(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query('select pg_database_size(current_database())::float8 as bytes')
  await client.end()
  return (rows[0] as { bytes: number }).bytes
}

function toSizes({ skills, memoryMib, bytes }: { skills: number; memoryMib: number; bytes: number }): Figure[] {
  const note = `with ${skills} skills of one version, beyond what an empty one needs`
  return [
    { part, name: 'memory of a node, 1,000 skills', value: (memoryMib / skills) * 1000, unit: 'MiB', note },
    { part, name: 'database, a skill', value: bytes / skills / 1024, unit: 'KiB', note },
  ]
}
