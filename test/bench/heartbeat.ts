import { randomUUID } from 'node:crypto'
import { localApi, type Registry, type RegistryOptions } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { fromRows, type Figure } from './figures.ts'
import { median, quantile } from './statistics.ts'
import { openRegistry } from '../support/open-registry.ts'

const agentsMade = 500
const sizes = [200, 1000]
const rounds = 200

/**
 * Prints milliseconds of a heartbeat inside the process, as a guest and with an agent's token, in a registry that an
 * import has filled. It adds agents with overlapping sets.
 */
export async function benchHeartbeat(title: string, location: RegistryOptions): Promise<Figure[]> {
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  const skills = await partsOf(registry)
    .database.read.selectFrom('skills')
    .select(['id', 'full_name', 'latest_version'])
    .orderBy('num')
    .execute()
  await makeAgents(registry, skills)
  const rows: Record<string, object> = {}
  for (const size of sizes) {
    const installedSkills = pick(skills, size, size).map((skill, i) => ({
      skillName: skill.full_name,
      version: i % 4 === 0 ? '0.9.0' : skill.latest_version,
    }))
    rows[`${size} skills, a guest`] = await time(localApi(registry), { installedSkills })
    const { api, agentKey } = await makeAgent(registry)
    rows[`${size} skills, an agent`] = await time(api, { installedSkills, agentKey })
  }
  console.log(`\nHeartbeat in-process on ${title}: ${skills.length} skills, ${agentsMade} agents (ms)`)
  console.table(rows)
  await registry.close()
  return fromRows(`Heartbeat in-process, ${title}`, rows, { column: 'median', unit: 'ms' })
}

type Api = ReturnType<typeof localApi>
type Brief = { id: string; full_name: string; latest_version: string }

async function time(api: Api, input: Parameters<Api['heartbeat']>[0]) {
  const firstMs = performance.now()
  const answer = await api.heartbeat(input)
  const first = performance.now() - firstMs
  const times: number[] = []
  for (let i = 0; i < rounds; i++) {
    const startMs = performance.now()
    await api.heartbeat(input)
    times.push(performance.now() - startMs)
  }
  const { updates, recommendations } = answer
  const found = { updates: updates.length, recommendations: recommendations.length }
  return { first: round(first), median: round(median(times)), p99: round(quantile(times, 0.99)), ...found }
}

/** Agents that have what others have: each a stretch of the catalogue, of one of a hundred sets, and some of their own. */
async function makeAgents(registry: Registry, skills: readonly Brief[]): Promise<void> {
  for (let i = 0; i < agentsMade; i++) {
    const set = [...pick(skills, 40, i % 100), ...pick(skills, 20, 1000 + i), ...skills.slice(0, 20)]
    const { api, agentKey } = await makeAgent(registry)
    const installedSkills = set.map((skill) => ({ skillName: skill.full_name, version: skill.latest_version }))
    await api.heartbeat({ installedSkills, agentKey })
  }
}

async function makeAgent(registry: Registry) {
  const agentKey = `bench:${randomUUID()}`
  const agent = { agentKey, displayName: 'Bench', platformId: 'bench' }
  const { agentToken } = await localApi(registry).registerAgent(agent)
  return { agentKey, api: localApi(registry, undefined, { agentToken: agentToken! }) }
}

/** So many skills, spread over the catalogue, the same for a seed in every run. */
function pick(skills: readonly Brief[], count: number, seed: number): Brief[] {
  const step = Math.floor(skills.length / count)
  return Array.from({ length: count }, (_, i) => skills[(i * step + seed * 7919) % skills.length]!)
}

function round(ms: number): number {
  return Math.round(100 * ms) / 100
}

if (import.meta.main) await benchHeartbeat('SQLite', { path: process.argv[2]! })
