import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { RegistryOptions } from '@skillstead/core'
import { startNode, type Child } from './children.ts'
import { printFigures, type Figure } from './figures.ts'
import { pick, seededRandom } from '../support/random.ts'
import { quantile } from './statistics.ts'
import { makeSkills } from './synthetic.ts'

const searchesPerSecond = 100
const publishesPerSecond = 20
const secondsLong = 60
const secondsShort = 15
/** In which code is compiled that has run often enough. */
const settleSeconds = 5
const answeredMs = 120_000
/** None of the skills that the catalogue has. */
const publishedSeed = 2

/** Queries of one kind, and the limits of their times in milliseconds. */
export interface QueryKind {
  readonly name: string
  readonly queries: readonly string[]
  readonly medianMost: number
  readonly p99Most: number
}

export interface SearchesOptions {
  readonly location: RegistryOptions
  readonly key: string
  readonly kinds: readonly QueryKind[]
  readonly skills: number
  readonly isShort: boolean
}

/**
 * How long searches take while others publish. Both come at their times whether or not those before are answered, and a
 * search counts from the moment at which it was to be sent: who waits behind a slow one waits too.
 */
export async function benchSearches({ location, key, kinds, skills, isShort }: SearchesOptions): Promise<Figure[]> {
  const node = await startNode(location)
  const { delayMaxMs: warmingMs } = await node.vitals('warm')
  const seconds = isShort ? secondsShort : secondsLong
  const random = seededRandom(5)
  const agent = new Agent({ keepAlive: true })
  const publishing = makeSkills(kinds.length * (settleSeconds + seconds) * publishesPerSecond + 1, publishedSeed)
  const publish = () => {
    const { skillMd } = publishing.next().value!
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
    return send(node, agent, { method: 'PUT', path: '/api/v1/skills', headers, body: JSON.stringify({ skillMd }) })
  }
  const part = `Search with ${skills.toLocaleString('en')} skills`
  const note = `${searchesPerSecond} a second alongside ${publishesPerSecond} publishes a second, counted from when it was due`
  const figures: Figure[] = []
  for (const { name, queries, medianMost, p99Most } of kinds) {
    const search = () => send(node, agent, { path: `/api/v1/skills?q=${encodeURIComponent(pick(random, queries))}` })
    await together(search, publish, settleSeconds)
    await node.vitals()
    const { searches, publishes, refused } = await together(search, publish, seconds)
    const { delayMaxMs } = await node.vitals()
    figures.push(
      { part, name: `${name}, median`, value: quantile(searches, 0.5), unit: 'ms', most: medianMost, note },
      { part, name: `${name}, 99th percentile`, value: quantile(searches, 0.99), unit: 'ms', most: p99Most, note },
      { part, name: `${name}, the slowest`, value: Math.max(...searches), unit: 'ms' },
      { part, name: `${name}, refused because too many waited`, value: refused, unit: '', most: 0 },
      { part, name: `a publish beside ${name}, 99th percentile`, value: quantile(publishes, 0.99), unit: 'ms' },
      { part, name: `event loop blocked beside ${name}, at most`, value: delayMaxMs, unit: 'ms', most: 50 },
    )
  }
  const { rssMib } = await node.vitals()
  agent.destroy()
  await node.stop()
  figures.push(
    { part, name: 'event loop blocked while warming, at most', value: warmingMs, unit: 'ms', most: 50 },
    { part, name: 'resident memory', value: rssMib, unit: 'MiB' },
  )
  printFigures(figures)
  return figures
}

async function together(search: () => Promise<boolean>, publish: () => Promise<boolean>, seconds: number) {
  const [searches, publishes] = await Promise.all([
    atRate(search, searchesPerSecond, seconds),
    atRate(publish, publishesPerSecond, seconds),
  ])
  const isAnswered = (ms: number) => ms < Infinity
  const answered = searches.filter(isAnswered)
  return { searches: answered, publishes, refused: searches.length - answered.length }
}

/** Milliseconds from when each was due to its answer; Infinity if the node refused it because too many waited. */
async function atRate(work: () => Promise<boolean>, perSecond: number, seconds: number): Promise<number[]> {
  const everyMs = 1000 / perSecond
  const startMs = performance.now()
  const waiting: Promise<number>[] = []
  for (let i = 0; i < perSecond * seconds; i++) {
    const dueMs = startMs + i * everyMs
    const earlyMs = dueMs - performance.now()
    if (earlyMs > 0) await setTimeout(earlyMs)
    const answered = work().then((isAnswered) => (isAnswered ? performance.now() - dueMs : Infinity))
    // Looked at in the end; until then one that failed is not to end the process.
    answered.catch(() => {})
    waiting.push(answered)
  }
  return Promise.all(waiting)
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
