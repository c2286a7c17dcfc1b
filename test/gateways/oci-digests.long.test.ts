import { createMirror } from '@skillstead/mirror'
import { listenNode } from '@skillstead/server'
import { expect, it, onTestFinished } from 'vitest'
import { openRegistry } from '../support/open-registry.ts'
import { makePlace } from '../support/places.ts'
import { startNode } from '../support/server-harness.ts'

const toSkillMd = (name: string) => `---\nname: ${name}\ndescription: Reads files\nlicense: MIT\n---\n# ${name}\n`

it('OCI artifacts on a mirror have the digests of the upstream', async () => {
  const { api, node } = await startNode()
  for (const version of ['1.0.0', '1.1.0']) await api.publishSkill({ skillMd: toSkillMd('tables'), version })
  await api.yankVersion({ name: 'alice/tables', version: '1.1.0' })
  const place = await makePlace('SQLite')
  const registry = await openRegistry(place.location)
  const mirrored = await listenNode(registry, { port: 0, rates: 'off' })
  onTestFinished(async () => {
    await mirrored.close()
    await registry.close()
    await place.remove()
  })
  const mirror = createMirror(registry)
  try {
    await mirror.add('main', node.url)
    await mirror.sync('main')
  } finally {
    await mirror.close()
  }
  for (const version of ['1.0.0', '1.1.0']) {
    const [there, here] = await Promise.all(
      [node.url, mirrored.url].map((url) => fetch(`${url}/v2/alice/tables/manifests/${version}`)),
    )
    expect(there!.headers.get('docker-content-digest')).toMatch(/^sha256:/)
    expect(here!.headers.get('docker-content-digest')).toBe(there!.headers.get('docker-content-digest'))
  }
})

it('a search for an unknown digest ends after 200 versions, and the next request continues the search', async () => {
  const { api, node } = await startNode()
  for (let patch = 1; patch <= 200; patch++)
    await api.publishSkill({ skillMd: toSkillMd('pdf'), version: `1.0.${patch}` })
  const ask = () => fetch(`${node.url}/v2/alice/pdf/manifests/sha256:${'0'.repeat(64)}`)
  const first = await ask()
  expect([first.status, first.headers.get('retry-after')]).toEqual([503, '1'])
  expect((await ask()).status).toBe(404)
})
