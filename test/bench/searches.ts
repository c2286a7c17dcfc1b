import { Agent, request } from 'node:http'
import type { RegistryOptions } from '@skillstead/core'
import { startNode, startProcess, type Child } from './children.ts'
import type { Figure } from './figures.ts'
import { measureSearches, type PacedLoadOptions, type QueryKind } from './paced-load.ts'

const answeredMs = 120_000
/** With 50,000 skills. */
const memoryMibMost = 450

export interface SearchesOptions {
  readonly location: RegistryOptions
  readonly key: string
  readonly kinds: readonly QueryKind[]
  readonly skills: number
  readonly isShort: boolean
}

/** What the process of an embedded registry is given. */
export interface EmbeddedSearches extends PacedLoadOptions {
  readonly location: RegistryOptions
}

/** Measures searches over HTTP, and then in a process that embeds the registry. */
export async function benchSearches({ location, key, kinds, skills, isShort }: SearchesOptions): Promise<Figure[]> {
  const count = skills.toLocaleString('en')
  const figures = await searchOverHttp(location, key, {
    part: `Search with ${count} skills`,
    kinds,
    isShort,
    seed: 2,
  })
  const embedded: EmbeddedSearches = {
    location,
    part: `In-process search with ${count} skills`,
    kinds,
    isShort,
    seed: 3,
  }
  const child = await startProcess<Figure[]>('./searches-child.ts', JSON.stringify(embedded))
  figures.push(...child.ready)
  await child.stop()
  return figures
}

async function searchOverHttp(location: RegistryOptions, key: string, load: PacedLoadOptions): Promise<Figure[]> {
  const { part } = load
  const node = await startNode(location)
  const { delayMaxMs: warmingMs } = await node.vitals('warm')
  const agent = new Agent({ keepAlive: true })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const figures = await measureSearches(
    {
      search: (query) => send(node, agent, { path: `/api/v1/skills?q=${encodeURIComponent(query)}` }),
      publish: (skillMd) =>
        send(node, agent, { method: 'PUT', path: '/api/v1/skills', headers, body: JSON.stringify({ skillMd }) }),
      delayMaxMs: async () => (await node.vitals()).delayMaxMs,
    },
    load,
  )
  const { rssMib } = await node.vitals()
  agent.destroy()
  await node.stop()
  return [
    ...figures,
    { part, name: 'event loop blocked while warming, at most', value: warmingMs, unit: 'ms', most: 50 },
    { part, name: 'resident memory', value: rssMib, unit: 'MiB', most: memoryMibMost },
  ]
}

interface Sent {
  readonly path: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** Resolves to whether the node did the work; false if it refused because too many waited. */
function send({ url }: Child, agent: Agent, { path, method = 'GET', headers = {}, body }: Sent): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { agent, method, headers, timeout: answeredMs }, (response) => {
      const { statusCode = 0 } = response
      const isRefused = statusCode === 503 && response.headers['retry-after'] !== undefined
      if (statusCode >= 300 && !isRefused) reject(new Error(`${method} ${path} was answered with ${statusCode}.`))
      response
        .resume()
        .once('end', () => resolve(!isRefused))
        .once('error', reject)
    })
    sent.once('timeout', () =>
      sent.destroy(new Error(`${method} ${path} was not answered within ${answeredMs / 1000} s.`)),
    )
    sent.once('error', reject)
    sent.end(body)
  })
}
