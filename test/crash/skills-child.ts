import { setTimeout } from 'node:timers/promises'
import { isRegistryError, openSkills } from '@skillstead/core'
import { skillMd } from '../support/answers.ts'
import { pick, seededRandom } from '../support/random.ts'

/** What a process that shares an SQLite file with others does until it has published and read so often. */
export interface SkillsChildOptions {
  readonly path: string
  readonly mode: 'read' | 'write'
  /** Distinguishes the skills of this process from those of others. */
  readonly name: string
  readonly seed: number
  /** The number of the first publish, so that a restarted process continues with new versions. */
  readonly first: number
  readonly publishes: number
  readonly reads: number
}

export type SkillsChildSays =
  | { kind: 'published'; count: number; fullName: string; version: string; body: string }
  | { kind: 'read' | 'overloaded' | 'done' }
  | { kind: 'error'; message: string }

const skillCount = 30
const readersAtOnce = 4
const pauseMs = 5

const { path, mode, name, seed, first, publishes, reads } = JSON.parse(process.argv[2]!) as SkillsChildOptions
const say = (says: SkillsChildSays) => void process.send!(says)
// The process ends with the test that started it.
process.once('disconnect', () => process.exit(1))

const random = seededRandom(seed)
const known = ['runtime/shared']
const skills = await openSkills({
  path,
  mode,
  as: 'runtime',
  onError: (error) => say({ kind: 'error', message: String(error) }),
})
const readers = Array.from({ length: readersAtOnce }, (_, i) => read(Math.ceil((reads - i) / readersAtOnce)))
await Promise.all([publish(), ...readers])
await skills.close()
say({ kind: 'done' })
process.disconnect!()

/** Every third skill is private; every skill is updated many times. */
async function publish(): Promise<void> {
  for (let count = first; count < first + publishes; count++) {
    const index = count % skillCount
    const [own, version] = [`${name}-${index}`, `1.0.${count}`]
    const body = `Published as number ${count} of ${name}.`
    const visibility = index % 3 === 0 ? 'private' : 'public'
    const isStored = await attempt(() =>
      skills.api.publishSkill({ skillMd: skillMd(own, { version, body }), visibility }),
    )
    if (!isStored) continue
    say({ kind: 'published', count, fullName: `runtime/${own}`, version, body })
    known.push(`runtime/${own}`)
    await setTimeout(pauseMs)
  }
}

async function read(count: number): Promise<void> {
  for (let done = 0; done < count; done++) {
    const fullName = pick(random, known)
    const isSearch = random() < 0.5
    const isRead = await attempt(() => (isSearch ? skills.search('published number') : skills.load(fullName)))
    if (isRead) say({ kind: 'read' })
    // Without a pause the reads would be over before the publishes.
    await setTimeout(pauseMs)
  }
}

async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    say(isRegistryError(error, 'overloaded') ? { kind: 'overloaded' } : { kind: 'error', message: String(error) })
    return false
  }
}
