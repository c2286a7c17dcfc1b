import { partsOf } from '@skillstead/core/internal'
import { importBundle } from '@skillstead/mirror'
import { afterEach, expect, it, vi } from 'vitest'
import { bundleOf, makeFile, openPublisher } from '../support/bundle-acts.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { exportRegistry, importRegistry, openRegistry } from '../support/open-registry.ts'
import { makeEmptyPlace } from '../support/places.ts'
import { hookUp } from '../support/webhook-emitted.ts'
import { localApi } from '@skillstead/core'

afterEach(endMirrors)

const toSkillMd = (name: string, lines = '') =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${lines}---\n# ${name}\n`

async function publishAll({ api }: TestUser): Promise<void> {
  await api.publishSkill({ skillMd: toSkillMd('report', 'metadata:\n  requires: [lib@^1.0.0]\n') })
  for (const version of ['1.0.0', '1.1.0'])
    await api.publishSkill({ skillMd: `${toSkillMd('lib')}Version ${version}.\n`, version })
}

async function read(api: TestRegistry['admin']['api']) {
  const [{ requires }, { dependents }] = [
    await api.getSkill({ name: 'alice/report' }),
    await api.getSkill({ name: 'alice/lib' }),
  ]
  return { requires, dependents, resolution: await api.resolveSkills({ skills: [{ name: 'alice/report' }] }) }
}

describeDatabases('what skills require', (open) => {
  it('is the same on a mirror, which notifies owners of dependent skills if the upstream yanks a required version', async () => {
    const upstream = await openUpstream(open)
    await publishAll(upstream.alice)
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', upstream.url)
    await mirror.sync('main')
    expect(await read(test.api())).toEqual(await read(upstream.test.api()))
    const bob = await test.makeUser('bob', { plan: 'pro' })
    await bob.api.publishSkill({
      skillMd: '---\nname: own\ndescription: Own.\nrequires: [alice/lib@~1.1.0]\n---\n# Own\n',
    })
    expect((await test.api().getSkill({ name: 'alice/lib' })).dependents).toBe(2)
    const hook = await hookUp(test, bob, { events: ['skill.dependency.withdrawn'] })
    await upstream.alice.api.yankVersion({ name: 'lib', version: '1.1.0' })
    await mirror.sync('main')
    await vi.waitFor(
      async () =>
        expect(await hook.take()).toMatchObject([
          {
            data: {
              skill: { fullName: 'bob/own' },
              dependency: { versions: ['1.1.0'], reason: 'yanked' },
              replacement: null,
            },
          },
        ]),
      20_000,
    )
    expect((await test.api().resolveSkills({ skills: [{ name: 'alice/report' }] })).skills).toMatchObject([
      { fullName: 'alice/lib', version: '1.0.0' },
      { fullName: 'alice/report' },
    ])
  })

  it('is part of a bundle, and of an export into another registry', async () => {
    const publisher = await openPublisher(open)
    await publishAll(publisher.alice)
    const wanted = await read(publisher.test.api())
    const { test } = await openMirror(open)
    await importBundle(test.registry, await bundleOf(publisher))
    expect(await read(test.api())).toEqual(wanted)
    const file = await makeFile('all.ndjson')
    await exportRegistry(publisher.test.location, file)
    const { location, remove } = await makeEmptyPlace(publisher.test.dialect)
    try {
      await importRegistry(file, location)
      await using registry = await openRegistry({ ...location, works: false })
      expect(await read(localApi(registry))).toEqual(wanted)
      const rows = await partsOf(registry).database.read.selectFrom('requirements').select(['name', 'range']).execute()
      expect(rows).toEqual([{ name: 'alice/lib', range: '^1.0.0' }])
    } finally {
      await remove()
    }
  })
})
