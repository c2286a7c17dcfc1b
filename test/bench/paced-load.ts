import { setTimeout } from 'node:timers/promises'
import { pick, seededRandom } from '../support/random.ts'
import type { Figure } from './figures.ts'
import { quantile } from './statistics.ts'
import { makeSkills } from './synthetic.ts'

const searchesPerSecond = 100
const publishesPerSecond = 20
const secondsLong = 60
const secondsShort = 15
/** V8 compiles the code that runs often during this time, which is not measured. */
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
 * How long searches take while others publish. Both are sent on time, whether or not earlier ones were answered, and the
 * time of a search counts from when it was due: a search that waits behind a slow one counts the wait.
 */
export async function measureSearches(use: Use, { part, kinds, isShort, seed }: PacedLoadOptions): Promise<Figure[]> {
  const seconds = isShort ? secondsShort : secondsLong
  const random = seededRandom(5)
  const publishing = makeSkills(kinds.length * (settleSeconds + seconds) * publishesPerSecond + 1, seed)
  const publish = () => use.publish(publishing.next().value!.skillMd)
  const figures: Figure[] = []
  for (const { name, queries, medianMost, p99Most } of kinds) {
    const search = () => use.search(pick(random, queries))
    await together(search, publish, settleSeconds)
    await use.delayMaxMs()
    const { searches, publishes, refused } = await together(search, publish, seconds)
    const delayMaxMs = await use.delayMaxMs()
    const note = `${searchesPerSecond} a second, ${refused} refused, alongside ${publishesPerSecond} publishes a second`
    figures.push(
      { part, name: `${name}, median`, value: quantile(searches, 0.5), unit: 'ms', most: medianMost, note },
      { part, name: `${name}, 99th percentile`, value: quantile(searches, 0.99), unit: 'ms', most: p99Most },
      { part, name: `${name}, the slowest`, value: Math.max(...searches), unit: 'ms' },
      { part, name: `a publish alongside ${name}, 99th percentile`, value: quantile(publishes, 0.99), unit: 'ms' },
      { part, name: `event loop blocked alongside ${name}, at most`, value: delayMaxMs, unit: 'ms', most: 50 },
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
    // Failures are read at the end; until then they must not end the process.
    answered.catch(() => {})
    waiting.push(answered)
  }
  return Promise.all(waiting)
}
