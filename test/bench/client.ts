import { createClient, createSkillClient } from '@skillstead/client'
import { localApi, systemCaller } from '@skillstead/core'
import { listenNode } from '@skillstead/server'
import { fromRows, type Figure } from './figures.ts'
import { median, quantile } from './statistics.ts'
import { openRegistry } from '../support/open-registry.ts'

const fromMemory = { rounds: 2000, warmups: 500 }
const overLoopback = { rounds: 500, warmups: 100 }

/** Prints milliseconds of a load: from memory, and from a node over loopback, of a usual skill and of a very large one. */
export async function benchClient(): Promise<Figure[]> {
  const registry = await openRegistry({ path: ':memory:', works: false })
  const { key } = await localApi(registry, systemCaller).createUser({ username: 'bench', plan: 'enterprise' })
  const api = localApi(registry, await registry.getCaller('bench'))
  await api.publishSkill({ skillMd: toDocument('usual', 6000) })
  await api.publishSkill({ skillMd: toDocument('large', 200_000) })
  const node = await listenNode(registry, { port: 0, rates: 'off' })
  const options = { baseUrl: node.url, apiKey: key }
  const client = createSkillClient(options)
  const asking = createSkillClient({ ...options, cacheTtl: 0 })
  const plain = createClient(options)

  const rows: Record<string, object> = {}
  for (const [name, size] of [
    ['bench/usual', '6 kB'],
    ['bench/large', '200 kB'],
  ] as const) {
    const summary = { name, level: 'summary' } as const
    rows[`${size} from memory`] = await time(() => client.load(name), fromMemory)
    rows[`${size} from memory, summary`] = await time(() => client.load(name, { level: 'summary' }), fromMemory)
    rows[`${size} over loopback, renewed by ETag`] = await time(() => asking.load(name), overLoopback)
    rows[`${size} over loopback`] = await time(() => plain.loadSkill({ name }), overLoopback)
    rows[`${size} over loopback, summary`] = await time(() => plain.loadSkill(summary), overLoopback)
  }
  await node.close()
  await registry.close()
  return fromRows('Loading with the client', rows, { column: 'median', unit: 'ms' })
}

async function time(load: () => Promise<unknown>, { rounds, warmups }: typeof fromMemory) {
  for (let i = 0; i < warmups; i++) await load()
  const times: number[] = []
  for (let i = 0; i < rounds; i++) {
    const startMs = performance.now()
    await load()
    times.push(performance.now() - startMs)
  }
  return { median: round(median(times)), p99: round(quantile(times, 0.99)) }
}

function toDocument(name: string, bytes: number): string {
  const step = 'Open the file, look at its columns, and say what each of them holds before you change anything.\n'
  const parts = Array.from({ length: Math.ceil(bytes / 600) }, (_, i) => `## Part ${i}\n\n${step.repeat(6)}\n`)
  const frontmatter = `---\nname: ${name}\ndescription: Tidies tables of the ${name} kind\nlicense: MIT\n---\n`
  return `${frontmatter}# ${name}\n\nTidies tables.\n\n${parts.join('')}`.slice(0, bytes)
}

function round(ms: number): number {
  return Math.round(ms * 10_000) / 10_000
}
