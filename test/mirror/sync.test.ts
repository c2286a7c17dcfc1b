import { partsOf, rotateKey } from '@skillstead/core/internal'
import { afterEach, expect, it } from 'vitest'
import { describeDatabases } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream, readTold } from '../support/mirror-harness.ts'

afterEach(endMirrors)

describeDatabases('a sync from a node', (open) => {
  it('imports published skills unchanged', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open)
    await upstream.publish('pdf', '1.0.0')
    await upstream.publish('pdf', '1.1.0')
    await upstream.publish('tea', '2.0.0')
    await mirror.add('main', upstream.url)
    const report = await mirror.sync('main')
    expect(report).toMatchObject({ upstream: 'main', applied: 3, head: 3, refusedTotal: 0, unchanged: 0 })
    for (const name of ['alice/pdf', 'alice/tea']) {
      const [there, here] = [await upstream.test.api().getSkill({ name }), await test.api().getSkill({ name })]
      expect(readTold(here)).toEqual(readTold(there))
      expect(here.origin).toMatchObject({ kind: 'mirror', upstream: 'main' })
    }
    expect((await test.api().getSkill({ name: 'pdf' })).fullName).toBe('alice/pdf')
  })

  it('sends one request if nothing is new, and changes nothing', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open)
    await upstream.publish('pdf')
    await mirror.add('main', upstream.url)
    const first = await mirror.sync('main')
    expect(first.requests, 'the key, a page, the content').toBe(3)
    const before = await test.api().getFeed({})
    const again = await mirror.sync('main')
    expect(again).toMatchObject({ requests: 1, applied: 0, unchanged: 0, bytes: 0, head: 1 })
    expect(await test.api().getFeed({})).toEqual(before)
  })

  it('sends two requests for one new version, and imports only that version', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open)
    await upstream.publish('pdf', '1.0.0')
    await mirror.add('main', upstream.url)
    await mirror.sync('main')
    await upstream.publish('pdf', '1.0.1')
    expect(await mirror.sync('main')).toMatchObject({ requests: 2, applied: 1, head: 2 })
    expect((await test.api().getSkill({ name: 'alice/pdf' })).latestVersion).toBe('1.0.1')
  })

  it('applies yanks, deprecations, deletions and republications', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open)
    const { api } = upstream.alice
    for (const name of ['yanked', 'deprecated', 'deleted']) await upstream.publish(name, '1.0.0')
    await upstream.publish('yanked', '1.1.0')
    await mirror.add('main', upstream.url)
    await mirror.sync('main')
    await api.yankVersion({ name: 'alice/yanked', version: '1.1.0' })
    await api.publishSkill({ name: 'deprecated', deprecated: true, deprecationMessage: 'Use tea.' })
    await api.deleteSkill({ name: 'alice/deleted' })
    expect(await mirror.sync('main')).toMatchObject({ applied: 3, removed: 1 })
    expect((await test.api().getSkill({ name: 'alice/yanked' })).latestVersion).toBe('1.0.0')
    expect(await test.api().getSkill({ name: 'alice/deprecated' })).toMatchObject({ deprecationMessage: 'Use tea.' })
    await expect(test.api().getSkill({ name: 'alice/deleted' })).rejects.toMatchObject({ code: 'not_found' })
    await api.unyankVersion({ name: 'alice/yanked', version: '1.1.0' })
    await mirror.sync('main')
    expect((await test.api().getSkill({ name: 'alice/yanked' })).latestVersion).toBe('1.1.0')
  })

  it('ignores skills that were removed before the first sync', async () => {
    const upstream = await openUpstream(open)
    const { mirror } = await openMirror(open)
    await upstream.publish('gone')
    await upstream.publish('stays')
    await upstream.alice.api.deleteSkill({ name: 'alice/gone' })
    await mirror.add('main', upstream.url)
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refusedTotal: 0 })
  })

  it('never overwrites a skill of this node, and reports the conflict', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open)
    const bob = await test.makeUser('bob')
    await bob.api.publishSkill({ skillMd: '---\nname: pdf\ndescription: Mine\n---\nMine.\n', version: '1.0.0' })
    const there = await upstream.test.makeUser('bob')
    await there.api.publishSkill({ skillMd: '---\nname: pdf\ndescription: Theirs\n---\nTheirs.\n', version: '9.0.0' })
    await there.api.publishSkill({ skillMd: '---\nname: new\ndescription: Theirs\n---\nTheirs.\n', version: '9.0.0' })
    await mirror.add('main', upstream.url)
    const { refused, applied } = await mirror.sync('main')
    expect(applied).toBe(0)
    expect(refused).toEqual([
      { subject: 'bob/pdf@9.0.0', reason: 'owned_locally', detail: expect.stringContaining('skill of this node') },
      { subject: 'bob/new@9.0.0', reason: 'owned_locally', detail: expect.stringContaining('user of this node') },
    ])
    expect(await test.api().getSkill({ name: 'bob/pdf' })).toMatchObject({
      description: 'Mine',
      latestVersion: '1.0.0',
    })
    expect(await mirror.status('main')).toMatchObject([{ refused: 2, state: 'current' }])
  })

  it('rejects new versions, but keeps earlier versions, after a user claimed the namespace', async () => {
    const upstream = await openUpstream(open)
    const { api } = upstream.alice
    const { mirror, test } = await openMirror(open)
    await upstream.publish('tea', '1.0.0')
    await api.publishSkill({ name: 'tea', deprecated: true, deprecationMessage: 'Use milk.' })
    await api.publishSkill({ name: 'tea', deprecated: false })
    await api.createPack({ slug: 'breakfast', name: 'Breakfast', description: '', skills: ['alice/tea'] })
    await mirror.add('main', upstream.url)
    expect(await mirror.sync('main')).toMatchObject({ refusedTotal: 0 })
    await test.makeUser('alice')
    expect(await mirror.sync('main', { full: true })).toMatchObject({ applied: 0, refused: [] })
    await upstream.publish('tea', '1.1.0')
    await api.updatePack({ slug: 'breakfast', name: 'Poison' })
    const isNew = [{ subject: 'alice/tea@1.1.0', reason: 'owned_locally' }, { reason: 'owned_locally' }]
    expect((await mirror.sync('main')).refused).toMatchObject(isNew)
    expect((await mirror.sync('main', { full: true })).refused).toMatchObject(isNew)
    expect(await test.api().getSkill({ name: 'alice/tea' })).toMatchObject({ latestVersion: '1.0.0' })
    expect(await test.api().getPack({ slug: 'breakfast' })).toMatchObject({ name: 'Breakfast' })
  })

  it('imports each skill name only from the first upstream that provided the name', async () => {
    const [one, two] = [await openUpstream(open), await openUpstream(open)]
    const { mirror, test } = await openMirror(open)
    await one.publish('pdf', '1.0.0')
    await two.publish('pdf', '2.0.0')
    await mirror.add('one', one.url)
    await mirror.add('two', two.url)
    await mirror.sync('one')
    expect((await mirror.sync('two')).refused).toMatchObject([{ subject: 'alice/pdf@2.0.0', reason: 'other_source' }])
    await two.alice.api.deleteSkill({ name: 'alice/pdf' })
    await mirror.sync('two')
    expect(await test.api().getSkill({ name: 'alice/pdf' })).toMatchObject({ latestVersion: '1.0.0' })
  })

  it('continues where an interrupted sync stopped', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open)
    for (let i = 0; i < 120; i += 1) await upstream.publish(`skill-${i}`)
    await mirror.add('main', upstream.url)
    const ending = new AbortController()
    const ended = mirror.sync('main', {
      signal: ending.signal,
      onProgress: ({ phase, done }) => void (phase === 'applying' && done < 120 && ending.abort()),
    })
    await expect(ended).rejects.toMatchObject({ code: 'shutting_down' })
    const [half] = await mirror.status('main')
    expect(half!.applied).toBeGreaterThan(0)
    expect(half!.applied).toBeLessThan(120)
    expect(half).toMatchObject({ staged: 120, verified: 120, state: 'new', lastError: { code: 'shutting_down' } })
    const { applied } = await mirror.sync('main')
    expect(applied).toBe(120 - half!.applied)
    expect((await test.api().searchSkills({})).total).toBe(120)
    expect(await mirror.status('main')).toMatchObject([{ applied: 120, state: 'current', lastError: null }])
  })

  it('compares all entries in a full sync, and does not change correct skills', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open)
    await upstream.publish('pdf')
    await upstream.publish('tea')
    await mirror.add('main', upstream.url)
    await mirror.sync('main')
    const before = await test.api().getFeed({})
    expect(await mirror.sync('main', { full: true })).toMatchObject({ applied: 0, unchanged: 2, requests: 1 })
    expect((await test.api().getFeed({})).entries).toEqual(before.entries)
  })

  it('trusts the first key of the node, and a new key that the old key endorses', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open)
    const readKeys = async () => (await mirror.status('main'))[0]!.keys
    await upstream.publish('pdf')
    await mirror.add('main', upstream.url)
    await mirror.sync('main')
    const before = await readKeys()
    expect(before).toHaveLength(1)
    await rotateKey(partsOf(upstream.test.registry))
    await upstream.publish('tea')
    expect(await mirror.sync('main')).toMatchObject({ applied: 1 })
    const during = await readKeys()
    expect(during).toHaveLength(2)
    // The first signs no more; the second is believed by now.
    for (const { clock } of [upstream.test, test]) clock.advance(31 * 24 * 60 * 60 * 1000)
    await mirror.sync('main')
    const after = await readKeys()
    expect(after).toEqual(during.filter((key) => !before.includes(key)))
  })

  it('stores each log entry and its proof', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open)
    for (let i = 0; i < 5; i += 1) await upstream.publish(`skill-${i}`)
    await mirror.add('main', upstream.url)
    await mirror.sync('main')
    const { log, origin } = await test.api().getProvenance({ name: 'alice/skill-3' })
    expect(log).toMatchObject({ origin: partsOf(upstream.test.registry).origin, index: 3, treeSize: 5 })
    expect(origin).toMatchObject({ kind: 'mirror', upstream: 'main' })
  })
})
