import { importBundle } from '@skillstead/mirror'
import { listenNode } from '@skillstead/server'
import { afterEach, describe, expect, it } from 'vitest'
import { codeOf, refusalOf, skillMd } from '../support/answers.ts'
import { alter, bundleOf, openPublisher } from '../support/bundle-acts.ts'
import { openFalseNode } from '../support/false-node.ts'
import { describeDatabases, describeInTurn, startMs } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'

afterEach(endMirrors)

const reason = 'It sends files to a stranger.'
const name = 'alice/tool'
const newId = (end: number) => `019b0000-0000-7000-8000-${String(end).padStart(12, '0')}`

describeDatabases('the recalls of an upstream', (open) => {
  async function start(versions = ['1.0.0', '1.1.0', '2.0.0']) {
    const upstream = await openUpstream(open)
    for (const version of versions) await upstream.publish('tool', version)
    const followed = await openMirror(open)
    await followed.mirror.add('main', upstream.url)
    await followed.mirror.sync('main')
    const { api } = upstream.alice
    const recall = (range: string) => api.recallSkill({ name, range, reason })
    const shown = async () => {
      const { versions: all } = await followed.test.api().getSkill({ name })
      return all.map(({ version, recalled }) => `${version} ${recalled?.range ?? '-'}`)
    }
    return { upstream, api, recall, shown, ...followed }
  }

  it('arrive at the next sync, cover later versions, and end with the sync after the upstream ends them', async () => {
    const { api, recall, shown, upstream, mirror, test } = await start()
    const { id, at } = await recall('2.x')
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refusedTotal: 0 })
    expect(await shown()).toEqual(['2.0.0 2.x', '1.1.0 -', '1.0.0 -'])
    expect((await test.api().getSkill({ name })).latestVersion).toBe('1.1.0')
    expect((await refusalOf(test.api().getArchive({ name, version: '2.0.0' }))).message).toContain(reason)
    const installedSkills = [{ skillName: name, version: '2.0.0' }]
    expect((await test.api().heartbeat({ installedSkills })).updates).toMatchObject([
      { reason: 'recalled', recalled: { range: '2.x', reason, at } },
    ])
    expect((await test.api().listRecalls({ name })).recalls).toMatchObject([{ id, upstream: true }])
    await upstream.publish('tool', '2.1.0')
    await mirror.sync('main')
    expect((await shown())[0]).toBe('2.1.0 2.x')
    await api.endRecall({ name, id })
    await mirror.sync('main')
    expect((await test.api().getSkill({ name })).latestVersion).toBe('2.1.0')
    expect(await shown()).toEqual(['2.1.0 -', '2.0.0 -', '1.1.0 -', '1.0.0 -'])
  })

  it('are relayed to mirrors of the mirror, and stay ended after a repeated full sync', async () => {
    const { api, recall, mirror, test } = await start()
    const node = await listenNode(test.registry, { port: 0, rates: 'off' })
    const second = await openMirror(open)
    await second.mirror.add('near', node.url)
    const { id } = await recall('2.x')
    await mirror.sync('main')
    await second.mirror.sync('near')
    expect(await codeOf(second.test.api().getArchive({ name, version: '2.0.0' }))).toBe('recalled')
    await api.endRecall({ name, id })
    await mirror.sync('main')
    await second.mirror.sync('near')
    await second.test.api().getArchive({ name, version: '2.0.0' })
    // Reading the old entries again does not restore the recall.
    await mirror.sync('main', { full: true })
    await second.mirror.sync('near', { full: true })
    for (const one of [test, second.test]) await one.api().getArchive({ name, version: '2.0.0' })
    await node.close()
  })

  it('cannot be ended on the mirror; a recall of the mirror stays, whatever the upstream does', async () => {
    const { api, recall, shown, mirror, test } = await start()
    const theirs = await recall('2.x')
    await mirror.sync('main')
    const refusal = await refusalOf(test.admin.api.endRecall({ name, id: theirs.id }))
    expect([refusal.code, refusal.message.includes('main')]).toEqual(['conflict', true])
    const own = await test.admin.api.recallSkill({ name, range: '>=1.1.0', reason: 'Not here.' })
    await api.endRecall({ name, id: theirs.id })
    await mirror.sync('main')
    expect(await shown()).toEqual(['2.0.0 >=1.1.0', '1.1.0 >=1.1.0', '1.0.0 -'])
    await test.admin.api.endRecall({ name, id: own.id })
    expect(await shown()).toEqual(['2.0.0 -', '1.1.0 -', '1.0.0 -'])
  })

  it('cover a version of a skill that reached the mirror after the recalls were made', async () => {
    const upstream = await openUpstream(open)
    await upstream.publish('tool', '1.0.0', { keywords: ['draft'] })
    const { api } = upstream.alice
    const older = await api.recallSkill({ name, range: '>=2', reason })
    await api.recallSkill({ name, range: '2.x', reason: 'Another.' })
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', upstream.url, { filters: { keywords: ['good'] } })
    await mirror.sync('main')
    expect(await codeOf(test.api().getSkill({ name }))).toBe('not_found')
    for (const version of ['2.0.0', '1.5.0']) await upstream.publish('tool', version, { keywords: ['good'] })
    await mirror.sync('main')
    expect(await test.api().getSkill({ name })).toMatchObject({ latestVersion: '1.5.0' })
    const { recalls } = await test.api().listRecalls({ name })
    expect(recalls.map(({ range }) => range)).toEqual(['2.x', '>=2'])
    await api.endRecall({ name, id: recalls[0]!.id })
    await mirror.sync('main')
    expect((await test.api().getSkill({ name })).versions[0]!.recalled).toMatchObject({ range: '>=2' })
    await api.endRecall({ name, id: older.id })
    await mirror.sync('main')
    expect((await test.api().getSkill({ name })).latestVersion).toBe('2.0.0')
  })

  it('that ended while the skill was private are gone when it is public again', async () => {
    const { api, recall, shown, mirror } = await start()
    const { id } = await recall('2.x')
    const stays = await recall('1.0.0')
    await mirror.sync('main')
    await api.publishSkill({ name: 'tool', visibility: 'private' })
    await mirror.sync('main')
    await api.endRecall({ name, id })
    await api.publishSkill({ name: 'tool', visibility: 'public' })
    await mirror.sync('main')
    expect(await shown()).toEqual(['2.0.0 -', '1.1.0 -', `1.0.0 ${stays.range}`])
  })

  it('reach a mirror of the mirror, even if its filters exclude the version with which the recalls came', async () => {
    const upstream = await openUpstream(open)
    const { api } = upstream.alice
    for (const version of ['1.0.0', '1.1.0']) await upstream.publish('tool', version)
    const first = await openMirror(open)
    const node = await listenNode(first.test.registry, { port: 0, rates: 'off' })
    const second = await openMirror(open)
    await first.mirror.add('main', upstream.url)
    await second.mirror.add('near', node.url, { filters: { sizeMax: 1000 } })
    const sync = async () => {
      await first.mirror.sync('main')
      await second.mirror.sync('near')
    }
    await sync()
    const publicly = (visibility: 'public' | 'private') => api.publishSkill({ name: 'tool', visibility })
    await publicly('private')
    await sync()
    const { id } = await api.recallSkill({ name, range: '>=1.1.0 <1.3.0', reason })
    await upstream.publish('tool', '1.2.0', { body: 'Long. '.repeat(500) })
    await publicly('public')
    await sync()
    for (const { test } of [first, second]) {
      expect((await test.api().listRecalls({ name })).recalls.map((one) => one.id)).toEqual([id])
      expect((await test.api().getSkill({ name })).latestVersion).toBe('1.0.0')
    }
    const { entries } = await first.test.api().getFeed({ limit: 100 })
    expect(entries.filter(({ type }) => type === 'recall')).toHaveLength(1)
    await api.endRecall({ name, id })
    await sync()
    await second.test.api().getArchive({ name, version: '1.1.0' })
    await first.mirror.sync('main', { full: true })
    await second.mirror.sync('near', { full: true })
    await second.test.api().getArchive({ name, version: '1.1.0' })
    await node.close()
  })

  it('of many skills pause the sync, as other removals do', async () => {
    const upstream = await openUpstream(open)
    for (let i = 0; i < 8; i += 1) await upstream.publish(`skill-${i}`)
    const { mirror, alarms, test } = await openMirror(open)
    await mirror.add('main', upstream.url)
    await mirror.sync('main')
    const ids: string[] = []
    for (let i = 0; i < 6; i += 1) {
      const { id } = await upstream.alice.api.recallSkill({ name: `alice/skill-${i}`, range: '*', reason })
      ids.push(id)
    }
    expect(await codeOf(mirror.sync('main'))).toBe('conflict')
    expect(alarms).toEqual(['main: mass_removal'])
    expect((await test.api().searchSkills({})).total).toBe(8)
    // With fewer in effect at the end of the log, nothing needs a decision.
    await upstream.alice.api.endRecall({ name: 'alice/skill-0', id: ids[0]! })
    await mirror.sync('main', { allowRemovals: true })
    expect((await test.api().searchSkills({})).total).toBe(3)
  })

  it('of a private skill are imported with the API key of its owner', async () => {
    const upstream = await openUpstream(open)
    const { api } = upstream.alice
    for (const version of ['1.0.0', '1.1.0'])
      await api.publishSkill({ skillMd: skillMd('diary', { body: version }), version, visibility: 'private' })
    const { mirror, test } = await openMirror(open, {}, { secretKey: new Uint8Array(32) })
    const alice = await test.makeUser('alice')
    await mirror.add('main', upstream.url)
    await mirror.accounts.link('alice', 'main', upstream.alice.key)
    const diary = { name: 'alice/diary', version: '1.1.0' }
    const { id } = await api.recallSkill({ name: diary.name, range: '1.1.0', reason })
    await mirror.sync('main')
    expect(await codeOf(alice.api.getArchive(diary))).toBe('recalled')
    expect(await mirror.sync('main')).toMatchObject({ applied: 0 })
    await api.endRecall({ name: diary.name, id })
    await mirror.sync('main')
    await alice.api.getArchive(diary)
    await api.recallSkill({ name: diary.name, range: '1.0.0', reason })
    await mirror.sync('main')
    expect(await codeOf(alice.api.getArchive({ ...diary, version: '1.0.0' }))).toBe('recalled')
    expect((await test.api().getFeed({})).entries).toEqual([])
  })

  describe('in bundles', () => {
    it('are imported, and so is their end', async () => {
      const origin = await openPublisher(open)
      for (const version of ['1.0.0', '2.0.0']) await origin.publish('tool', version)
      const { id } = await origin.alice.api.recallSkill({ name, range: '2.x', reason })
      const { registry, api } = await open({ origin: 'away.example', works: false })
      await importBundle(registry, await bundleOf(origin))
      expect(await codeOf(api().getArchive({ name, version: '2.0.0' }))).toBe('recalled')
      await origin.alice.api.endRecall({ name, id })
      await importBundle(registry, await bundleOf(origin))
      expect((await api().getSkill({ name })).latestVersion).toBe('2.0.0')
    })

    it.each([
      ['is changed', (text: string) => text.replace('"range":"2.x"', '"range":"1.x"')],
      ['is turned into its end', (text: string) => text.replace('"ended":false', '"ended":true')],
      ['is removed', (text: string) => text.replace(/^.*"type":"recall".*\n/m, '')],
    ])('are refused with the whole bundle if a recall %s', async (_what, change) => {
      const origin = await openPublisher(open)
      for (const version of ['1.0.0', '2.0.0']) await origin.publish('tool', version)
      await origin.alice.api.recallSkill({ name, range: '2.x', reason })
      let isChanged = false
      const altered = await alter(origin.registry, await bundleOf(origin), (parts) => {
        for (const part of parts) {
          if (!part.name.startsWith('log/')) continue
          const text = Buffer.from(part.bytes).toString()
          isChanged ||= change(text) !== text
          part.bytes = Buffer.from(change(text))
        }
      })
      expect(isChanged).toBe(true)
      const { registry, api } = await open({ origin: 'away.example', works: false })
      expect((await refusalOf(importBundle(registry, altered))).message).toMatch(/damaged|signed/)
      expect(await codeOf(api().getSkill({ name }))).toBe('not_found')
    })
  })
})

describeInTurn('the recalls of a malicious upstream', (open) => {
  /** A mirror of a false node with `alice/tool`, and the data of an entry about it. */
  async function followFalse() {
    const node = await openFalseNode(startMs)
    const published = node.publish(name)
    const followed = await openMirror(open)
    await followed.mirror.add('main', node.url, { everySeconds: 0, maxAgeSeconds: 0 })
    await followed.mirror.sync('main')
    const { skill, owner } = published.data
    const recall = { id: newId(1), range: '*', reason, at: new Date(startMs).toISOString() }
    const append = (data: object, subject = name) =>
      node.append({ type: 'recall', subject, data: { skill, owner, recall, ended: false, ...data } })
    return { node, recall, append, ...followed }
  }

  it.each([
    ['a range that is none', { range: 'all' }],
    ['a range of thousands of alternatives', { range: Array(3000).fill('1.0.0').join('||') }],
    ['an empty alternative', { range: '9.9.9 ||' }],
    ['no range', { range: null }],
    ['no id', { id: null }],
    ['an id that is none', { id: '../../x' }],
    ['an empty reason', { reason: '\u200b ' }],
    ['a long reason', { reason: 'x'.repeat(5000) }],
    ['no time', { at: 'soon' }],
  ])('are refused with %s, and other entries are applied', async (_what, wrong) => {
    const { append, node, recall, mirror, test } = await followFalse()
    append({ recall: { ...recall, ...wrong } })
    node.publish('alice/other')
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refused: [{ reason: 'malformed' }] })
    await test.api().getArchive({ name, version: '1.0.0' })
  })

  it('have no effect on skills published on the mirror, or if their entry names another skill', async () => {
    const { append, mirror, test } = await followFalse()
    const bob = await test.makeUser('bob')
    await bob.api.publishSkill({ skillMd: skillMd('tool'), version: '1.0.0' })
    const { id, author } = await test.api().getSkill({ name: 'bob/tool' })
    append({ skill: { id, name: 'tool', fullName: 'bob/tool' }, owner: author }, 'bob/tool')
    append({}, 'alice/another')
    await mirror.sync('main')
    for (const one of ['bob/tool', name]) {
      await test.api().getArchive({ name: one, version: '1.0.0' })
      expect((await test.api().listRecalls({ name: one })).recalls).toEqual([])
    }
  })

  it('cannot end a recall of the mirror itself, nor take its id', async () => {
    const { append, mirror, recall, test } = await followFalse()
    const own = await test.admin.api.recallSkill({ name, range: '*', reason: 'Not here.' })
    append({ recall: { ...recall, id: own.id }, ended: true })
    append({ recall: { ...recall, id: own.id, range: '9.9.9' } })
    await mirror.sync('main')
    expect(await codeOf(test.api().getArchive({ name, version: '1.0.0' }))).toBe('recalled')
    expect((await test.api().listRecalls({ name })).recalls).toEqual([own])
  })

  it('that come with a new version cover its earlier versions, not only the new version', async () => {
    const { node, recall, mirror, test } = await followFalse()
    node.publish(name, {
      version: '9.0.0',
      files: { 'SKILL.md': skillMd('tool', { body: 'New.' }) },
      data: { recalls: [recall] },
    })
    await mirror.sync('main')
    const details = await test.api().getSkill({ name })
    expect(details.latestVersion).toBe('')
    expect(details.versions.map(({ recalled }) => recalled?.range)).toEqual(['*', '*'])
    expect((await test.api().searchSkills({})).total).toBe(0)
  })

  it('that come with a version outside of their range are refused', async () => {
    const { node, recall, mirror, test } = await followFalse()
    const recalls = [{ ...recall, range: '1.0.0' }]
    node.publish(name, {
      version: '9.0.0',
      files: { 'SKILL.md': skillMd('tool', { body: 'New.' }) },
      data: { recalls },
    })
    expect(await mirror.sync('main')).toMatchObject({ applied: 0, refused: [{ reason: 'malformed' }] })
    await test.api().getArchive({ name, version: '1.0.0' })
  })

  it('that come with versions of many skills pause the sync', async () => {
    const { node, recall, mirror, alarms, test } = await followFalse()
    for (let i = 0; i < 8; i += 1) node.publish(`alice/skill-${i}`)
    await mirror.sync('main')
    for (let i = 0; i < 8; i += 1) {
      const recalls = [{ ...recall, id: newId(100 + i) }]
      const files = { 'SKILL.md': skillMd(`skill-${i}`, { body: 'New.' }) }
      node.publish(`alice/skill-${i}`, { version: '2.0.0', files, data: { recalls } })
    }
    expect(await codeOf(mirror.sync('main'))).toBe('conflict')
    expect(alarms).toEqual(['main: mass_removal'])
    expect((await test.api().searchSkills({})).total).toBe(9)
  })

  it('that come with a version are limited to 40, and the version is still imported', async () => {
    const { node, recall, mirror, test } = await followFalse()
    const recalls = Array.from({ length: 60 }, (_, i) => ({ ...recall, id: newId(100 - i) }))
    node.publish(name, {
      version: '9.0.0',
      files: { 'SKILL.md': skillMd('tool', { body: 'New.' }) },
      data: { recalls },
    })
    expect(await mirror.sync('main')).toMatchObject({ applied: 1, refused: [] })
    expect((await test.api().listRecalls({ name })).recalls).toHaveLength(40)
    expect(await codeOf(test.api().getArchive({ name, version: '9.0.0' }))).toBe('recalled')
  })

  it('are limited in number, and dated no later than now', async () => {
    const { append, mirror, recall, test } = await followFalse()
    for (let i = 1; i <= 60; i += 1) append({ recall: { ...recall, id: newId(i), at: '2999-01-01T00:00:00.000Z' } })
    await mirror.sync('main')
    const { recalls } = await test.api().listRecalls({ name })
    expect(recalls).toHaveLength(40)
    expect(Date.parse(recalls[0]!.at)).toBeLessThanOrEqual(test.clock.now())
    // An administrator of this node may still recall it.
    await test.admin.api.recallSkill({ name, range: '*', reason: 'Not here.' })
  })
})
