import { localApi, type Registry, systemCaller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { type ListeningNode, listenNode } from '@skillstead/server'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { notice } from '../support/dmca-cases.ts'
import { replay, type Seen, toKey, walk } from '../support/gateway-walk.ts'
import { openRegistry } from '../support/open-registry.ts'
import { makePlace, type Place } from '../support/places.ts'
import { steady } from '../support/steady.ts'

interface Actors {
  readonly ann: RegistryApi
  readonly root: RegistryApi
}

/** What hides a skill, or its version 1.1.0 from lists and from readers without the number. */
const acts: Readonly<Record<string, (name: string, actors: Actors) => Promise<unknown>>> = {
  private: (name, { ann }) => ann.publishSkill({ name, visibility: 'private' }),
  deleted: (name, { ann }) => ann.deleteSkill({ name }),
  yanked: (name, { ann }) => ann.yankVersion({ name, version: '1.1.0' }),
  moderated: (name, { root }) => root.moderateSkill({ name: `ann/${name}`, state: 'hidden', reason: 'Because.' }),
  async disputed(name, { root }) {
    const { id } = await root.submitDmca({ skillName: `ann/${name}`, ...notice })
    return root.updateDmca({ id, status: 'removed' })
  },
}
const names = Object.keys(acts)

const toSkill = (name: string) => ({ owner: 'ann', name, version: '1.1.0', pack: 'walk', share: 'ssl_none' })

describe.skipIf(inject('postgresUrl') === null)('a skill that one of three nodes hides', () => {
  let place: Place
  const registries: Registry[] = []
  const nodes: ListeningNode[] = []
  let actors: Actors
  /** What the other nodes answered before; their caches have all of it. */
  let before: Map<ListeningNode, Seen[]>

  beforeAll(async () => {
    place = await makePlace('PostgreSQL')
    for (const pollMs of [1000, 3_600_000, 50]) registries.push(await openRegistry({ ...place.location, pollMs }))
    for (const registry of registries) {
      await partsOf(registry).search.warmed
      nodes.push(await listenNode(registry, { port: 0, ...steady, graceMs: 100, discoveryPack: 'walk' }))
    }
    const [first] = registries
    const system = localApi(first!, systemCaller)
    await system.createUser({ username: 'root', role: 'admin' })
    await system.createUser({ username: 'ann', plan: 'enterprise' })
    const as = async (username: string) => localApi(first!, await first!.getCaller(username))
    actors = { ann: await as('ann'), root: await as('root') }
    for (const name of names) {
      for (const version of ['1.0.0', '1.1.0']) {
        const mark = version === '1.0.0' ? 'plain' : `zq${name}`
        const skillMd = `---\nname: ${name}\ndescription: Walks with a quokkawalk, ${mark}.\n---\n# Steps\n\n${mark}.\n`
        const files = [{ path: 'notes/more.txt', content: `${mark}\n` }]
        await actors.ann.publishSkill({ skillMd, version, files })
      }
    }
    await actors.ann.createPack({ name: 'Walk', slug: 'walk', description: 'A walk.', skills: names })
    for (const registry of registries) await partsOf(registry).changes.catchUp()
    const skills = names.map(toSkill)
    before = new Map()
    for (const node of nodes.slice(1)) {
      await walk(node.url, skills)
      before.set(node, await walk(node.url, skills))
    }
  })
  afterAll(async () => {
    for (const node of nodes) await node.close()
    for (const registry of registries) await registry.close()
    await place?.remove()
  })

  /** Waits until all nodes have read all changes, and their caches have processed them. */
  async function level(): Promise<void> {
    const [first, ...others] = registries.map((registry) => partsOf(registry).changes)
    for (const other of others) {
      await expect.poll(() => other.position, { interval: 5 }).toBe(first!.position)
      await other.catchUp()
    }
  }

  // The second node polls nothing during a test, so it learns of changes from notifications alone.
  it.each(names)('is hidden by all gateways of the other nodes once the change reaches them: %s', async (name) => {
    await acts[name]!(name, actors)
    await level()
    const mark = `zq${name}`
    for (const [node, seen] of before) {
      const shown = seen.filter(({ status, text }) => status === 200 && text.includes(mark))
      expect(new Set(shown.map(({ gateway }) => gateway)).size).toBe(8)
      const isAllowed = ({ visit }: Seen) => name === 'yanked' && visit.group === 'version'
      const later = (await replay(node.url, shown)).filter((one) => !isAllowed(one))
      const leaks = later.filter(({ status, text }) => status === 304 || text.includes(mark))
      expect(leaks.map(({ visit, status }) => `${status} ${toKey(visit)}`)).toEqual([])
    }
  })
})
