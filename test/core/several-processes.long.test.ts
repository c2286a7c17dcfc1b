import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openSkills, type SkillEvent, type Skills } from '@skillstead/core'
import { checkRegistry } from '@skillstead/maintenance'
import { describe, expect, it } from 'vitest'
import type { SkillsChildOptions, SkillsChildSays } from '../crash/skills-child.ts'
import { skillMd } from '../support/answers.ts'
import { makeFolder } from '../support/cli-harness.ts'
import { seed } from '../support/long.ts'
import { seededRandom } from '../support/random.ts'

type Published = Extract<SkillsChildSays, { kind: 'published' }>

const publishes = 1000
const reads = 10_000
/** The reads of the process that only reads. */
const readerReads = 500
const writers = ['first', 'second', 'third']
const killsOfEach = 4
const patienceMs = 300_000
const program = fileURLToPath(new URL('../crash/skills-child.ts', import.meta.url))

/** What all child processes reported. */
const createTally = () => ({ published: [] as Published[], read: 0, overloaded: 0, errors: [] as string[], kills: 0 })
type Tally = ReturnType<typeof createTally>

/** Runs a child process to its end, or kills it after a time. Returns how many publishes and reads it reported. */
async function run(options: SkillsChildOptions, tally: Tally, killAfterMs?: number) {
  const child = fork(program, [JSON.stringify(options)], { execArgv: ['--conditions=source'] })
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  let [next, read, isDone] = [options.first, 0, false]
  child.on('message', (says: SkillsChildSays) => {
    if (says.kind === 'published') {
      tally.published.push(says)
      next = says.count + 1
    } else if (says.kind === 'read') read += 1
    else if (says.kind === 'overloaded') tally.overloaded += 1
    else if (says.kind === 'error') tally.errors.push(says.message)
    else isDone = true
  })
  if (killAfterMs !== undefined) {
    await Promise.race([once(child, 'message'), closed])
    await Promise.race([setTimeout(killAfterMs), closed])
    child.kill('SIGKILL')
  }
  const [, signal] = await closed
  if (signal === 'SIGKILL') tally.kills += 1
  else if (!isDone) tally.errors.push('A process ended by itself.')
  tally.read += read
  return { next, read }
}

/** Kills and restarts one process at random moments until its publishes and reads are done. */
async function runWithKills(given: SkillsChildOptions, tally: Tally): Promise<void> {
  const random = seededRandom(given.seed)
  let { first, publishes: left, reads: readsLeft } = given
  for (let kill = 0; left > 0 || readsLeft > 0; kill++) {
    const options = { ...given, seed: given.seed + kill, first, publishes: left, reads: readsLeft }
    const { next, read } = await run(options, tally, kill < killsOfEach ? 100 + random() * 900 : undefined)
    left -= next - first
    readsLeft -= read
    // The killed process may have stored one version that it did not report.
    first = next + 1
    if (kill >= killsOfEach) break
  }
}

/** The names of all skills that the user sees. */
async function readNames({ api }: Skills): Promise<string[]> {
  const names: string[] = []
  for (let page = 1; ; page++) {
    const { skills } = await api.searchSkills({ limit: 100, page })
    names.push(...skills.map(({ fullName }) => fullName))
    if (skills.length < 100) return names.toSorted()
  }
}

/** Keeps a set of names current from changes, until a skill named `runtime/last` is published. */
async function followNames(changes: AsyncIterable<SkillEvent>, names: Set<string>): Promise<void> {
  for await (const event of changes) {
    if (event.type === 'reset') throw new Error('Changes were missed.')
    if (event.type === 'removed') names.delete(event.fullName)
    else names.add(event.fullName)
    if (event.fullName === 'runtime/last') return
  }
}

/** Whether a skill can be loaded. */
const loads = (skills: Skills, name: string) =>
  skills.load(name).then(
    () => true,
    () => false,
  )

/** How long it takes until `seen` holds. */
async function measure(seen: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now()
  while (!(await seen())) await setTimeout(5)
  return Math.round(performance.now() - startMs)
}

describe('three processes on one SQLite file that are killed at random moments', () => {
  it(
    'lose no acknowledged publish and see no error but `overloaded`, while another process only reads',
    async () => {
      const startMs = performance.now()
      const path = join(await makeFolder(), 'skills.db')
      await using observer = await openSkills({ path, mode: 'create', as: 'runtime' })
      await observer.api.publishSkill({ skillMd: skillMd('shared') })
      const names = new Set(['runtime/shared'])
      const following = followNames(observer.changes(), names)
      following.catch(() => {})
      const tally = createTally()
      const share = (count: number, index: number) => Math.ceil((count - index) / writers.length)
      const writing = writers.map((name, index) => {
        const work = { publishes: share(publishes, index), reads: share(reads, index) }
        return runWithKills({ path, mode: 'write', name, seed: seed + index * 100, first: 0, ...work }, tally)
      })
      const reader = { path, mode: 'read', name: 'reader', seed, first: 0, publishes: 0, reads: readerReads } as const
      await Promise.all([...writing, run(reader, tally)])
      await using other = await openSkills({ path, as: 'runtime' })
      await other.api.publishSkill({ skillMd: skillMd('last') })
      const [searchMs, loadMs] = await Promise.all([
        measure(async () => (await observer.search('last')).skills.some(({ fullName }) => fullName === 'runtime/last')),
        measure(() => loads(observer, 'runtime/last')),
      ])
      await following

      expect(tally.errors, `with seed ${seed}`).toEqual([])
      expect(tally.kills).toBe(writers.length * killsOfEach)
      expect(tally.read).toBeGreaterThanOrEqual(reads + readerReads - tally.overloaded)
      // A kill may end the report of one publish.
      expect(tally.published.length).toBeGreaterThanOrEqual(publishes - tally.kills - tally.overloaded)
      const lost: string[] = []
      for (const { fullName, version, body } of tally.published) {
        const file = await observer.api.getSkillMd({ name: fullName, version }).catch(() => undefined)
        if (!Buffer.from((file?.body as Uint8Array) ?? '').includes(body)) lost.push(`${fullName}@${version}`)
      }
      expect(lost, `with seed ${seed}`).toEqual([])
      expect([...names].toSorted()).toEqual(await readNames(other))
      expect((await checkRegistry(other.registry, { deep: true })).filter(({ ok }) => !ok)).toEqual([])
      const seconds = Math.round((performance.now() - startMs) / 1000)
      console.log(
        `${tally.published.length} publishes, ${tally.read} reads, ${tally.kills} kills, ${tally.overloaded} overloaded, ` +
          `seen by search after ${searchMs} ms, by load after ${loadMs} ms; ${seconds} s`,
      )
    },
    patienceMs,
  )
})
