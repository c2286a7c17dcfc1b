import { randomUUID } from 'node:crypto'
import { localApi, systemCaller, type Registry, type RegistryOptions } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { startNode, type Child } from './children.ts'
import { fromRows, type Figure } from './figures.ts'
import { load, postJson, requireWrk, type Load } from './load.ts'
import { median, quantile } from './statistics.ts'
import { openRegistry } from '../support/open-registry.ts'

const runs = 5
const connections = 64
const draws = 20_000
const reads = 1000
const hourMs = 60 * 60 * 1000

/** Prints how many installs a node takes over HTTP, answered after their commit. */
export async function benchTrack(title: string, location: RegistryOptions): Promise<Figure[]> {
  requireWrk()
  const node = await startNode(location)
  await node.vitals('warm')
  const names = await readNames(node)
  const rows = {
    'one skill': await track(node, names.slice(0, 1)),
    'skills by their popularity (Zipf)': await track(node, drawByZipf(names)),
    'every skill in turn': await track(node, names),
  }
  await node.stop()
  console.log(`\nInstalls on ${title}: POST /track at ${connections} connections, the median of ${runs} runs`)
  console.table(rows)
  return fromRows(`POST /track, ${title}`, rows, { column: 'perSecond', unit: 'requests/s' })
}

async function track(node: Child, names: readonly string[]) {
  const bodies = names.map((skillName) => ({ skillName }))
  const script = postJson('/api/v1/track', bodies)
  await load(node.url, script, { seconds: 2, connections })
  const results: Load[] = []
  for (let i = 0; i < runs; i++) results.push(await load(node.url, script, { connections }))
  const errors = results.reduce((sum, result) => sum + result.errors, 0)
  if (errors > 0) throw new Error(`${errors} installs of the benchmark failed.`)
  const { rssMib } = await node.vitals()
  return {
    perSecond: Math.round(median(results.map(({ perSecond }) => perSecond))),
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)).toFixed(2),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)).toFixed(2),
    rssMib: rssMib.toFixed(0),
  }
}

/** Names drawn as downloads fall in registries: the second half as often as the first, the third a third. */
function drawByZipf(names: readonly string[]): string[] {
  let sum = 0
  const sums = names.map((_, i) => (sum += 1 / (i + 1)))
  return Array.from({ length: draws }, () => {
    const place = Math.random() * sum
    return names[sums.findIndex((upTo) => upTo >= place)]!
  })
}

async function readNames(node: Child): Promise<string[]> {
  const names: string[] = []
  for (let page = 1; ; page++) {
    const response = await fetch(`${node.url}/api/v1/skills?limit=100&page=${page}`)
    const { skills, totalPages } = (await response.json()) as { skills: { fullName: string }[]; totalPages: number }
    names.push(...skills.map(({ fullName }) => fullName))
    if (page >= totalPages) return names
  }
}

/** Prints how long what trends and the leaderboards take, in-process, with so many hourly records of installs. */
export async function benchRankings(
  title: string,
  location: RegistryOptions,
  installRecords = 1_000_000,
): Promise<Figure[]> {
  const registry = await openRegistry({ ...location, works: false })
  await partsOf(registry).search.warmed
  await fillInstalls(registry, installRecords)
  const api = localApi(registry, systemCaller)
  const { categories } = await api.listCategories()
  const rarest = categories.at(-1)?.name ?? ''
  console.log(`\nRankings on ${title}, in-process, with ${installRecords.toLocaleString('en')} hourly install records`)
  const rows = {
    'GET /trending': await time(() => api.getTrending({ limit: 100 })),
    'GET /trending?period=month': await time(() => api.getTrending({ period: 'month', limit: 100 })),
    [`GET /trending?category=${rarest}`]: await time(() => api.getTrending({ category: rarest, limit: 100 })),
    'GET /reputation/leaderboard': await time(() => api.getLeaderboard({ limit: 100 })),
    'GET /agents': await time(() => api.listAgents({ limit: 100 })),
  }
  console.table(rows)
  await registry.close()
  return fromRows(`Rankings in-process, ${title}`, rows, { column: 'medianMs', unit: 'ms' })
}

/** Random hours of the last sixty days for every skill, through the journal, as if nodes had recorded them. */
async function fillInstalls(registry: Registry, installRecords: number): Promise<void> {
  const { database, telemetry, clock } = partsOf(registry)
  const ids = await database.read.selectFrom('skills').select('id').execute()
  const now = Math.floor(clock.now() / hourMs)
  const hours = Array.from({ length: 60 * 24 }, (_, age) => now - age)
  const share = installRecords / (hours.length * ids.length)
  for (const hour of hours) {
    const counts: Record<string, number> = {}
    for (const { id } of ids) if (Math.random() < share) counts[id] = 1 + Math.floor(Math.random() * 9)
    const row = { id: randomUUID(), counts: JSON.stringify({ [hour]: counts }) }
    await database.writer.write((trx) => trx.insertInto('install_journal').values(row).execute())
  }
  await telemetry.flush()
}

async function time(read: () => Promise<unknown>) {
  const durations: number[] = []
  for (let i = 0; i < reads; i++) {
    const startedMs = performance.now()
    await read()
    durations.push(performance.now() - startedMs)
  }
  return { medianMs: median(durations).toFixed(2), p99Ms: quantile(durations, 0.99).toFixed(2) }
}
