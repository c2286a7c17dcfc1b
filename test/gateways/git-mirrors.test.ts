import { systemClock } from '@skillstead/core'
import { createMirror } from '@skillstead/mirror'
import { listenNode } from '@skillstead/server'
import { expect, it, onTestFinished } from 'vitest'
import { startGit } from '../support/git-acts.ts'
import { fetchObjects, listRefs } from '../support/git-client.ts'
import { openRegistry } from '../support/open-registry.ts'
import { makePlace } from '../support/places.ts'

it('on a mirror, the repositories of a skill and of its owner have the commit ids of the upstream', async () => {
  const { api, apiOf, base, createUser, now, publish } = await startGit()
  await createUser('bob')
  await publish('tables', '1.0.1', { changelog: 'Fixes 1.0.0 \u200b for those who cannot update. '.repeat(400) })
  await publish('tables', '3.0.0')
  await api.yankVersion({ name: 'alice/tables', version: '3.0.0' })
  await api.putCollaborator({ name: 'alice/tables', username: 'bob', role: 'write' })
  const bob = await apiOf('bob')
  await bob.acceptCollaboration({ name: 'alice/tables' })
  await bob.publishSkill({
    name: 'alice/tables',
    skillMd: '---\nname: tables\ndescription: D\n---\nBy bob.\n',
    version: '2.5.0',
  })
  const { registry, url } = await startEmptyNode(now)
  const mirror = createMirror(registry)
  try {
    await mirror.add('main', base.replace(/\/git$/, ''))
    await mirror.sync('main')
  } finally {
    await mirror.close()
  }
  const [there, here] = [`${base}/alice/tables.git`, `${url}/git/alice/tables.git`]
  const refs = await listRefs(there)
  expect(refs['refs/heads/main']).toBe(refs['refs/tags/v2.5.0^{}'])
  expect(await listRefs(here)).toEqual(refs)
  expect(await fetchObjects(here, Object.values(refs))).toEqual(await fetchObjects(there, Object.values(refs)))
  expect(await listRefs(`${url}/git/alice.git`)).toEqual(await listRefs(`${base}/alice.git`))
})

async function startEmptyNode(now: () => number) {
  const place = await makePlace('SQLite')
  const registry = await openRegistry({ ...place.location, clock: { ...systemClock, now } })
  const node = await listenNode(registry, { port: 0, rates: 'off' })
  onTestFinished(async () => {
    await node.close()
    await registry.close()
    await place.remove()
  })
  return { registry, url: node.url }
}
