import { localApi, systemClock } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import { type Fixture, startNode } from './server-harness.ts'

export const toSkillMd = (name: string, text: string) => `---\nname: ${name}\ndescription: Reads files\n---\n${text}\n`

/** A node whose repositories have the same ids in every run. */
export interface GitFixture extends Fixture {
  /** `http://.../git`. */
  readonly base: string
  /** The repository of `alice/tables`, which has the versions 1.0.0 and 2.0.0. */
  readonly repository: string
  /** Publishes a version of a skill of alice, one day after the one before. */
  publish(name: string, version: string, more?: Partial<Parameters<RegistryApi['publishSkill']>[0]>): Promise<void>
  /** The time of the node. */
  now(): number
  apiOf(username: string): Promise<RegistryApi>
}

const firstDay = Date.UTC(2026, 0, 1)
const dayMs = 24 * 60 * 60 * 1000

export async function startGit(options: Parameters<typeof startNode>[0] = {}): Promise<GitFixture> {
  let time = firstDay
  const now = () => time
  const fixture = await startNode(options, undefined, { clock: { ...systemClock, now } })
  const { api, node, registry } = fixture
  const base = `${node.url}/git`
  const publish: GitFixture['publish'] = async (name, version, more = {}) => {
    time += dayMs
    const files = [{ path: 'notes/a.txt', content: 'The same in all versions.\n' }]
    await api.publishSkill({ skillMd: toSkillMd(name, `Version ${version}.`), version, files, ...more })
  }
  await publish('tables', '1.0.0')
  await publish('tables', '2.0.0')
  const apiOf = async (username: string) => localApi(registry, await registry.getCaller(username))
  return { ...fixture, base, repository: `${base}/alice/tables.git`, now, publish, apiOf }
}
