import { setTimeout } from 'node:timers/promises'
import { pick, seededRandom } from '../support/random.ts'
import type { Figure } from './figures.ts'
import { quantile } from './statistics.ts'
import { makeSkills } from './synthetic.ts'

const searchesPerSecond = 100
const publishesPerSecond = 20
const secondsLong = 60
const secondsShort = 15
/** In which code is compiled that has run often enough. */
const settleSeconds = 5

/** Queries of one kind, and the limits of their times in milliseconds. */
export interface QueryKind {
  readonly name: string
  readonly queries: readonly string[]
  readonly medianMost: number
  readonly p99Most: number
}

/** How a registry is used. `search` and `publish` resolve to whether it did the work; false if too many waited. */
export interface Use {
  readonly search: (query: string) => Promise<boolean>
  readonly publish: (skillMd: string) => Promise<boolean>
  /** The longest that the event loop was blocked since the last call. */
  readonly delayMaxMs: () => Promise<number>
}

export interface PacedLoadOptions {
  /** The part of the figures. */
  readonly part: string
  readonly kinds: readonly QueryKind[]
  readonly isShort: boolean
  /** Of the skills that are published: none that the catalogue has. */
  readonly seed: number
}

/**
 * How long searches take while others publish. Both come at their times whether or not those before are answered, and a
 * search counts from the moment at which it was due: one that waits behind a slow one counts the wait.
 */
export async function measureSearches(use: Use, { part, kinds, isShort, seed }: PacedLoadOptions): Promise<Figure[]> {
  const seconds = isShort ? secondsShort : secondsLong
  const random = seededRandom(5)
  const publishing = makeSkills(kinds.length * (settleSeconds + seconds) * publishesPerSecond + 1, seed)
  const publish = () => use.publish(publishing.next().value!.skillMd)
  const note = `${searchesPerSecond} a second alongside ${publishesPerSecond} publishes a second, counted from when it was due`
  const figures: Figure[] = []
  for (const { name, queries, medianMost, p99Most } of kinds) {
    const search = () => use.search(pick(random, queries))
    await together(search, publish, settleSeconds)
    await use.delayMaxMs()
    const { searches, publishes, refused } = await together(search, publish, seconds)
    const delayMaxMs = await use.delayMaxMs()
    figures.push(
      { part, name: `${name}, median`, value: quantile(searches, 0.5), unit: 'ms', most: medianMost, note },
      { part, name: `${name}, 99th percentile`, value: quantile(searches, 0.99), unit: 'ms', most: p99Most, note },
      { part, name: `${name}, the slowest`, value: Math.max(...searches), unit: 'ms' },
      { part, name: `${name}, refused because too many waited`, value: refused, unit: '', most: 0 },
      { part, name: `a publish beside ${name}, 99th percentile`, value: quantile(publishes, 0.99), unit: 'ms' },
      { part, name: `event loop blocked beside ${name}, at most`, value: delayMaxMs, unit: 'ms', most: 50 },
    )
  }
  return figures
}

async function together(search: () => Promise<boolean>, publish: () => Promise<boolean>, seconds: number) {
  const [searches, publishes] = await Promise.all([
    atRate(search, searchesPerSecond, seconds),
    atRate(publish, publishesPerSecond, seconds),
  ])
  const answered = searches.filter((ms) => ms < Infinity)
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
