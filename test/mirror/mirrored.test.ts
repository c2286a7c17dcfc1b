import { beforeEach, describe, expect, it } from 'vitest'
import { codeOf, skillMd, textOf } from '../support/answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { addUpstream, inShort, pull } from '../support/mirrored-acts.ts'
import { hookUp, openSilent } from '../support/webhook-emitted.ts'

const minuteMs = 60_000

const publish = (user: TestUser, name: string, body = 'One.', more: object = {}) =>
  user.api.publishSkill({ skillMd: skillMd(name, { body }), ...more })
const feed = async (test: TestRegistry, since = 0) => (await test.api().getFeed({ since, limit: 1000 })).entries
/** What both nodes say of a skill, but for what each says for itself. */
const shown = async (test: TestRegistry, name: string) => {
  const { origin: _origin, updatedAt: _updatedAt, downloads: _downloads, ...rest } = await test.api().getSkill({ name })
  return { ...rest, security: { ...rest.security, scannedAt: null } }
}

/** More files than an entry of the log has room for. */
const manyFiles = Array.from({ length: 300 }, (_, i) => ({
  path: `${'x'.repeat(120)}/${'y'.repeat(100)}/${i}.txt`,
  content: `${i}`,
}))

describeDatabases("the import from a node's log", (open) => {
  let origin: TestRegistry
  let mirror: TestRegistry
  let alice: TestUser
  beforeEach(async () => {
    origin = await open({ origin: 'origin.example' })
    mirror = await openSilent(open, { origin: 'mirror.example' })
    mirror.clock.advance(60 * minuteMs)
    alice = await origin.makeUser('alice')
    await addUpstream(mirror, 'up')
  })

  const follow = async (...more: [Parameters<typeof pull>[3]?]) =>
    inShort(await pull(mirror, 'up', origin.api(), ...more))
  const show = (name: string) => mirror.api().getSkill({ name })

  describe('of a version', () => {
    it('keeps ids, times, version numbers and bytes', async () => {
      await publish(alice, 'tea', 'One.', { category: 'Drinks', repository: 'https://example.com/tea' })
      origin.clock.advance(minuteMs)
      await publish(alice, 'tea', 'Two.', { version: '3.1.4', changelog: 'Better.', keywords: ['b', 'a'] })
      expect(await follow()).toEqual(['version alice/tea@1.0.0: applied', 'version alice/tea@3.1.4: applied'])

      expect(await shown(mirror, 'alice/tea')).toEqual(await shown(origin, 'alice/tea'))
      for (const version of ['1.0.0', '3.1.4']) {
        const of = { name: 'alice/tea', version }
        const { security: _here, ...mirrored } = await mirror.api().getVersion(of)
        const { security: _there, ...wanted } = await origin.api().getVersion(of)
        expect(mirrored).toEqual(wanted)
        expect(await textOf(await mirror.api().getSkillMd(of))).toBe(await textOf(await origin.api().getSkillMd(of)))
      }
      expect((await show('alice/tea')).origin).toEqual({
        kind: 'mirror',
        upstream: 'up',
        syncedAt: new Date(mirror.clock.now()).toISOString(),
      })
    })

    it('creates a namespace for its author that no user can sign in to', async () => {
      await publish(alice, 'tea')
      await follow()
      const { users } = await mirror.admin.api.listUsers({ q: 'alice' })
      expect(users).toMatchObject([{ username: 'alice', claimed: false }])
      expect((await show('tea')).author.id).toBe((await origin.api().getSkill({ name: 'tea' })).author.id)
    })

    it('makes the skill searchable and loadable, and notifies subscribers', async () => {
      const hook = await hookUp(mirror, mirror.admin, { events: ['skill.published'] })
      await publish(alice, 'tea')
      await follow()
      expect((await mirror.api().searchSkills({ q: 'tea' })).skills).toMatchObject([{ fullName: 'alice/tea' }])
      expect((await mirror.api().loadSkill({ name: 'tea', level: 'full' })).fullContent).toContain('One.')
      expect(await hook.take()).toMatchObject([
        {
          event: 'skill.published',
          data: { skill: { fullName: 'alice/tea', version: '1.0.0' }, publisher: { username: 'alice' } },
        },
      ])
    })

    it('counts a fork at the skill that was forked', async () => {
      await publish(alice, 'tea')
      const bob = await origin.makeUser('bob')
      await bob.api.forkSkill({ name: 'alice/tea' })
      await follow()
      expect((await show('bob/tea')).forkedFrom).toEqual({ fullName: 'alice/tea', version: '1.0.0' })
      expect((await show('alice/tea')).forks).toBe(1)
    })

    it('reads the file list by its digest if the version has more files than fit into the log entry', async () => {
      await publish(alice, 'wide', 'One.', { files: manyFiles })
      const [entry] = await feed(origin)
      expect(entry!.data).toMatchObject({ files: null, cut: ['files'] })
      expect(await follow()).toEqual(['version alice/wide@1.0.0: applied'])
      const of = { name: 'wide', version: '1.0.0' }
      expect((await mirror.api().getVersion(of)).files).toEqual((await origin.api().getVersion(of)).files)
    })

    it('keeps the full texts if the log entry contains only shortened texts', async () => {
      const changelog = '变'.repeat(20_000)
      const description = '茶'.repeat(4000)
      const given = { files: manyFiles, changelog, skillMd: skillMd('long', { description }) }
      await alice.api.publishSkill(given)
      const [entry] = await feed(origin)
      await follow()
      const cut = (entry!.data as { cut: string[] }).cut
      expect(cut).toContain('changelog')
      const { description: kept } = await show('long')
      expect(kept).toBe((await origin.api().getSkill({ name: 'long' })).description)
    })
  })

  describe('of later changes', () => {
    it('applies settings, deprecations, yanks and their reversal', async () => {
      await publish(alice, 'tea', 'One.')
      await publish(alice, 'tea', 'Two.', { category: 'Drinks' })
      await follow()
      const name = 'tea'
      await alice.api.publishSkill({ name, deprecated: true, deprecationMessage: 'Use coffee.', description: 'Old.' })
      await alice.api.yankVersion({ name, version: '1.0.1' })
      await follow()
      expect(await shown(mirror, name)).toEqual(await shown(origin, name))
      expect(await show(name)).toMatchObject({ latestVersion: '1.0.0', deprecationMessage: 'Use coffee.' })
      await alice.api.unyankVersion({ name, version: '1.0.1' })
      await alice.api.publishSkill({ name, deprecated: false })
      await follow()
      expect(await shown(mirror, name)).toEqual(await shown(origin, name))
      expect(await show(name)).toMatchObject({ latestVersion: '1.0.1', deprecated: false })
    })

    it('applies the withdrawal of a skill and its second publication', async () => {
      await publish(alice, 'tea', 'One.')
      await publish(alice, 'tea', 'Two.')
      await follow()
      await alice.api.publishSkill({ name: 'tea', visibility: 'private' })
      expect(await pull(mirror, 'up', origin.api())).toEqual([
        ['withdrawn alice/tea', { result: 'applied', fullName: 'alice/tea', hid: true }],
      ])
      expect(await codeOf(show('alice/tea'))).toBe('not_found')
      expect((await mirror.api().searchSkills({ q: 'tea' })).skills).toEqual([])
      await publish(alice, 'tea', 'Three.')
      await alice.api.publishSkill({ name: 'tea', visibility: 'public' })
      expect(await follow()).toEqual([
        'version alice/tea@1.0.0: applied',
        'version alice/tea@1.0.1: applied',
        'version alice/tea@1.0.2: applied',
        'skill alice/tea: applied',
      ])
      expect(await shown(mirror, 'tea')).toEqual(await shown(origin, 'tea'))
    })

    it('applies the deletion of a skill, after which its name stays taken', async () => {
      await publish(alice, 'tea')
      await follow()
      await alice.api.deleteSkill({ name: 'tea' })
      await follow()
      expect(await codeOf(show('alice/tea'))).toBe('not_found')
      await mirror.makeUser('alice')
      expect(await codeOf(publish({ ...alice, api: mirror.api('alice') }, 'tea'))).toBe('name_taken')
    })
  })
})
