import type { AddOptions } from '@skillstead/mirror'
import { verifyProvenance } from '@skillstead/client/verify'
import { afterEach, expect, it } from 'vitest'
import { codeOf } from '../support/answers.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'

afterEach(endMirrors)

const minuteMs = 60_000

interface BlobLine {
  digest: string
  content?: string
}

async function readPack(test: TestRegistry, slug: string): Promise<string[]> {
  const { skills } = await test.api().getPack({ slug })
  return skills.map(({ fullName }) => fullName)
}

describeDatabases('content that an upstream serves late', (open) => {
  /** A node, and a mirror to which it does not give content with one of the `hidden` words in it. */
  async function openShy(options: AddOptions = {}) {
    const upstream = await openUpstream(open)
    const hidden = new Set<string>()
    let asked = 0
    const shy: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!String(input instanceof Request ? input.url : input).includes('/blobs/batch')) return response
      asked += 1
      const lines = (await response.text()).trimEnd().split('\n')
      const given = lines.map((line) => {
        const { digest, content = '' } = JSON.parse(line) as BlobLine
        const text = Buffer.from(content, 'base64').toString()
        return [...hidden].some((word) => text.includes(word)) ? JSON.stringify({ digest, missing: true }) : line
      })
      return new Response(`${given.join('\n')}\n`, { headers: { 'content-type': 'application/x-ndjson' } })
    }
    const { mirror, test } = await openMirror(open, { fetch: shy })
    await mirror.add('main', upstream.url, options)
    return { upstream, mirror, test, hidden, asked: () => asked }
  }

  it('is requested again by later syncs, at growing intervals', async () => {
    const { upstream, mirror, test, hidden, asked } = await openShy()
    await upstream.publish('tea')
    await upstream.publish('cake')
    hidden.add('# cake')
    const missing = [{ subject: 'alice/cake@1.0.0', reason: 'missing' }]
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refused: missing })
    expect(await mirror.sync('main')).toMatchObject({ applied: 0, refused: missing })
    const before = asked()
    for (let i = 0; i < 3; i += 1) expect(await mirror.sync('main')).toMatchObject({ refused: [], head: 2 })
    expect(asked(), 'not so soon again').toBe(before)
    test.clock.advance(5 * minuteMs)
    await mirror.sync('main')
    test.clock.advance(5 * minuteMs)
    await mirror.sync('main')
    expect(asked(), 'the third time after half an hour').toBe(before + 1)
    hidden.clear()
    test.clock.advance(30 * minuteMs)
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refusedTotal: 0 })
    expect(await mirror.status('main')).toMatchObject([{ skills: 2, refused: 0 }])
    const [key] = await upstream.test.registry.verifierKeys()
    const record = await test.api().getProvenance({ name: 'alice/cake' })
    expect(verifyProvenance(record, { keys: [key!.vkey] })).toMatchObject({ ok: true })
  })

  it('is not requested after its version was withdrawn', async () => {
    const { upstream, mirror, hidden, asked } = await openShy()
    await upstream.publish('cake')
    hidden.add('# cake')
    await mirror.sync('main')
    await upstream.alice.api.deleteSkill({ name: 'alice/cake' })
    const before = asked()
    expect(await mirror.sync('main')).toMatchObject({ refusedTotal: 0 })
    expect(asked()).toBe(before)
    expect(await mirror.status('main')).toMatchObject([{ skills: 0, refused: 0 }])
  })

  it.each(['the next sync', 'a full one'])(
    "of an old version does not change the skill's metadata when a sync imports the version: %s",
    async (which) => {
      const { upstream, mirror, test, hidden } = await openShy()
      const { api } = upstream.alice
      await upstream.publish('tea', '1.0.0')
      await upstream.publish('tea', '1.1.0', { body: 'Secretly.' })
      await api.yankVersion({ name: 'alice/tea', version: '1.1.0' })
      await upstream.publish('tea', '1.2.0')
      await api.publishSkill({ name: 'tea', deprecated: true, deprecationMessage: 'Take coffee.', category: 'drinks' })
      hidden.add('Secretly.')
      expect(await mirror.sync('main')).toMatchObject({ refusedTotal: 1 })
      hidden.clear()
      expect(await mirror.sync('main', { full: which === 'a full one' })).toMatchObject({ refusedTotal: 0 })
      const [here, there] = await Promise.all(
        [test, upstream.test].map(async (one) => {
          const { deprecated, deprecationMessage, category, latestVersion } = await one.api().getSkill({
            name: 'alice/tea',
          })
          const { versions } = await one.api().listVersions({ name: 'alice/tea' })
          const yanked = versions.map((version) => [version.version, version.yanked])
          return { deprecated, deprecationMessage, category, latestVersion, yanked }
        }),
      )
      expect(here).toEqual(there)
      expect(here).toMatchObject({ deprecated: true, category: 'drinks', latestVersion: '1.2.0' })
    },
  )

  it('gets all later changes from the log, even after many entries', async () => {
    const { upstream, mirror, test, hidden } = await openShy()
    const { api } = upstream.alice
    await upstream.publish('tea')
    for (let i = 0; i < 130; i += 1) await api.publishSkill({ name: 'tea', deprecated: i % 2 === 0 })
    await api.recallSkill({ name: 'alice/tea', range: '*', reason: 'It is hot.' })
    hidden.add('# tea')
    expect(await mirror.sync('main')).toMatchObject({ refusedTotal: 1 })
    hidden.clear()
    expect(await mirror.sync('main')).toMatchObject({ refusedTotal: 0 })
    expect(await codeOf(test.api().getArchive({ name: 'alice/tea', version: '1.0.0' }))).toBe('recalled')
    expect((await test.api().getSkill({ name: 'alice/tea' })).latestVersion).toBe('')
  })

  it('adds its skill to the mirrored pack, and mirrors of the mirror receive the changed pack', async () => {
    const { upstream, mirror, test, hidden } = await openShy()
    for (const name of ['tea', 'cake', 'jam']) await upstream.publish(name)
    await upstream.alice.api.createPack({
      name: 'Breakfast',
      description: 'Daily.',
      skills: [{ name: 'cake', note: 'Fresh.' }, 'tea', 'jam'],
    })
    hidden.add('# cake')
    await mirror.sync('main')
    expect(await readPack(test, 'breakfast')).toEqual(['alice/tea', 'alice/jam'])
    hidden.clear()
    await mirror.sync('main')
    expect(await readPack(test, 'breakfast')).toEqual(['alice/cake', 'alice/tea', 'alice/jam'])
    const { entries, head } = await test.api().getFeed({})
    expect(entries.at(-1)).toMatchObject({ type: 'pack', subject: 'breakfast' })
    await mirror.sync('main')
    expect((await test.api().getFeed({})).head, 'and is told once').toBe(head)
  })

  it('lets the mirror create a pack of the skills that it imported, and delete the pack with the upstream', async () => {
    const { upstream, mirror, test } = await openShy({ mode: 'selected', selected: ['tea', 'jam'] })
    const { api } = upstream.alice
    for (const name of ['tea', 'cake', 'jam']) await upstream.publish(name)
    await api.createPack({ name: 'Breakfast', description: 'Daily.', skills: ['tea', 'cake'] })
    await api.createPack({ name: 'Sweets', description: 'Rarely.', skills: ['cake'] })
    await mirror.sync('main')
    expect(await readPack(test, 'breakfast')).toEqual(['alice/tea'])
    expect(await codeOf(readPack(test, 'sweets'))).toBe('not_found')
    await api.updatePack({ slug: 'sweets', skills: ['cake', 'jam'] })
    await api.updatePack({ slug: 'breakfast', skills: ['jam'] })
    await mirror.sync('main', {})
    expect(await readPack(test, 'breakfast')).toEqual(['alice/jam'])
    await upstream.publish('tea', '1.1.0')
    await mirror.sync('main')
    expect(await readPack(test, 'sweets')).toEqual(['alice/jam'])
    await api.deletePack({ slug: 'breakfast' })
    await mirror.sync('main')
    expect(await codeOf(readPack(test, 'breakfast'))).toBe('not_found')
  })

  it('creates no pack that has a private name or the name of a pack of the mirror', async () => {
    const upstream = await openUpstream(open)
    await upstream.publish('tea')
    for (const name of ['Secret', 'Ours', 'Theirs']) {
      await upstream.alice.api.createPack({ name, description: 'There.', skills: ['tea'] })
    }
    const { mirror, test } = await openMirror(open, { privateNames: ['secret'] })
    await test.admin.api.createPack({ name: 'Ours', description: 'Here.', skills: [] })
    await mirror.add('main', upstream.url, { filters: { names: ['tea'] } })
    await mirror.sync('main')
    expect(await readPack(test, 'theirs')).toEqual(['alice/tea'])
    expect(await readPack(test, 'ours')).toEqual([])
    expect(await codeOf(readPack(test, 'secret'))).toBe('not_found')
  })
})
