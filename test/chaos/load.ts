import { setTimeout } from 'node:timers/promises'
import { createClient } from '@skillstead/client'
import { localApi, systemCaller, type RegistryOptions } from '@skillstead/core'
import { skillMd } from '../support/answers.ts'
import { seededRandom } from '../support/random.ts'
import { createAsk, patientOptions } from './ask.ts'
import { createAuthor } from './author.ts'
import { createBackups } from './backups.ts'
import { createPublicUse } from './public-use.ts'
import type { Receivers } from './receivers.ts'
import type { Trouble } from './trouble.ts'
import { createWitness } from './witness.ts'
import { openRegistry } from '../support/open-registry.ts'

/** Users with a webhook for published skills. */
export const watchers = ['watcher-0', 'watcher-1']

interface LoadParts {
  readonly baseUrl: string
  /** API keys by name. */
  readonly users: ReadonlyMap<string, string>
  readonly trouble: Trouble
  readonly seed: number
  readonly backsUp: boolean
}

/** A user that performs one action at a time. Pauses between actions last up to `pausesMs`. Default: 40 ms. */
interface Actor {
  act(): Promise<void>
  readonly pausesMs?: number
}

const authors = ['author-0', 'author-1', 'author-2', 'author-3']
const readers = ['reader-0', 'reader-1']
const steady = ['steady/one', 'steady/two', 'steady/three']
const pauseMs = 40
const countedWithinMs = 30_000

/** Creates all users, the skills that are never deleted, and the webhooks. Returns the API keys by username. */
export async function makeUsers(options: RegistryOptions, receivers: Receivers): Promise<Map<string, string>> {
  const registry = await openRegistry({ ...options, works: false })
  const system = localApi(registry, systemCaller)
  const keys = new Map<string, string>()
  for (const username of [...authors, ...readers, ...watchers, 'steady', 'operator']) {
    const role = username === 'operator' ? 'admin' : 'user'
    keys.set(username, (await system.createUser({ username, role, plan: 'pro' })).key)
  }
  const owner = localApi(registry, await registry.getCaller('steady'))
  for (const name of steady) await owner.publishSkill({ skillMd: skillMd(name.split('/')[1]!) })
  for (const watcher of watchers) {
    const api = localApi(registry, await registry.getCaller(watcher))
    await api.createWebhook({ url: receivers.toUrl(watcher), events: ['skill.published'] })
  }
  await registry.close()
  return keys
}

/** Runs all users of the node concurrently until the load ends. They pause during an inspection. */
export function startLoad({ baseUrl, users, trouble, seed, backsUp }: LoadParts) {
  const ask = createAsk(trouble)
  const witness = createWitness(baseUrl, ask, trouble)
  const toParts = (username: string, i: number) => {
    return { username, apiKey: users.get(username)!, baseUrl, ask, trouble, random: seededRandom(seed + i + 1) }
  }
  const writing = authors.map((username, i) =>
    createAuthor({ ...toParts(username, i), hasLargeFiles: username === authors.at(-1) }),
  )
  const using = readers.map((username, i) =>
    createPublicUse({ ...toParts(username, authors.length + i), names: steady }),
  )
  const listVersions = () => writing.flatMap(({ skills }) => skills).flatMap(toSubjects)
  const backups = createBackups({ ...toParts('operator', -1), listVersions })
  const guest = createClient({ baseUrl, ...patientOptions })
  let isPaused = false
  let hasEnded = false

  const allActors: Actor[] = [...writing, ...using, ...(backsUp ? [backups] : [])]
  const actors = allActors.map(({ act, pausesMs = pauseMs }) => {
    const actor = { current: Promise.resolve(), ended: Promise.resolve() }
    const random = seededRandom(seed)
    const go = async () => {
      while (!hasEnded && !trouble.isOver) {
        if (!isPaused) {
          actor.current = act().catch((error: unknown) => trouble.report(toSentence(error)))
          await actor.current
        }
        await setTimeout(random() * pausesMs)
      }
    }
    actor.ended = go()
    return actor
  })

  /** Checks everything, or the most recent part, while all writes are paused. */
  async function inspect(isWhole: boolean): Promise<void> {
    isPaused = true
    try {
      await Promise.all(actors.map(({ current }) => current))
      await Promise.all([...writing.map((author) => author.inspect(isWhole)), ...using.map((user) => user.inspect())])
      await checkInstalls()
      await witness.poll()
    } catch (error) {
      trouble.report(toSentence(error))
    } finally {
      isPaused = false
    }
  }

  /** Checks that each acknowledged install is counted within 30 s, and only once. */
  async function checkInstalls(): Promise<void> {
    for (const name of steady) {
      const known = using.flatMap((user) => user.known).filter((skill) => skill.name === name)
      const least = known.reduce((sum, { installs }) => sum + installs, 0)
      const most = known.reduce((sum, { maybeInstalls }) => sum + maybeInstalls, least)
      let downloads = -1
      const startMs = performance.now()
      do {
        if (downloads >= 0) await setTimeout(100)
        downloads = (await ask.read(`the installs of ${name}`, () => guest.getSkill({ name }))).downloads
      } while (downloads < least && performance.now() - startMs < countedWithinMs)
      if (downloads < least || downloads > most)
        trouble.report(`${name} has ${downloads} downloads, expected ${least} to ${most}`)
    }
  }

  return {
    authors: writing,
    witness,
    backups,
    inspect,
    async end() {
      hasEnded = true
      await Promise.all(actors.map(({ ended }) => ended))
    },
    counts: () => addUp([...writing, ...using, backups, witness]),
  }
}

function toSubjects({ fullName, versions }: { fullName: string; versions: readonly { version: string }[] }): string[] {
  return versions.map(({ version }) => `${fullName}@${version}`)
}

function toSentence(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

function addUp(all: readonly { counts: Readonly<Record<string, number>> }[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { counts } of all) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  }
  return sums
}
