import { verifyProvenance } from '@skillstead/client/verify'
import { checkRegistry } from '@skillstead/maintenance'
import { beforeEach, describe, expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { makeCase, runOut } from '../support/dmca-cases.ts'
import { describeInTurn, type TestRegistry, type TestUser } from '../support/harness.ts'
import { addUpstream, inShort, pull } from '../support/mirrored-acts.ts'
import { readKeys } from '../support/signed-log.ts'

const publish = (user: TestUser, name: string, body = 'One.', more: object = {}) =>
  user.api.publishSkill({ skillMd: skillMd(name, { body }), ...more })
const feed = async (test: TestRegistry, since = 0) => (await test.api().getFeed({ since, limit: 1000 })).entries
/** Hands a skill of the origin over. */
const transfer = async (name: string, from: TestUser, to: TestUser) => {
  await from.api.transferSkill({ name, newOwner: to.username })
  await to.api.acceptTransfer({ name })
}

describeInTurn('the entries that a mirror relays', (open) => {
  let origin: TestRegistry
  let mirror: TestRegistry
  let alice: TestUser
  beforeEach(async () => {
    origin = await open({ origin: 'origin.example' })
    mirror = await open({ origin: 'mirror.example' })
    alice = await origin.makeUser('alice')
    await addUpstream(mirror, 'up')
  })

  const follow = async () => inShort(await pull(mirror, 'up', origin.api()))
  const show = (name: string) => mirror.api().getSkill({ name })

  describe('in its own log', () => {
    it('include each applied entry unchanged, with a reference to the log that contained it first', async () => {
      await publish(alice, 'tea', 'One.')
      await publish(alice, 'tea', 'Two.', { category: 'Drinks' })
      await alice.api.yankVersion({ name: 'tea', version: '1.0.0' })
      await alice.api.publishSkill({ name: 'tea', deprecated: true })
      await alice.api.unyankVersion({ name: 'tea', version: '1.0.0' })
      await follow()
      await alice.api.publishSkill({ name: 'tea', visibility: 'private' })
      await follow()
      const [there, here] = [await feed(origin), await feed(mirror)]
      expect(here.map(({ at: _at, ...entry }) => entry)).toEqual(
        there.map(({ at: _at, seq, data, ...entry }) => ({
          seq,
          ...entry,
          data: {
            ...data,
            origin: {
              origin: 'origin.example',
              epoch: 1,
              seq,
            },
          },
        })),
      )
      expect((await checkRegistry(mirror.registry)).filter(({ ok }) => !ok)).toEqual([])
    })

    it('give a mirror of this mirror the same skills, with the same reference to the first log', async () => {
      const third = await open({ origin: 'third.example' })
      await addUpstream(third, 'mirror')
      await publish(alice, 'tea')
      await publish(alice, 'milk')
      await alice.api.deleteSkill({ name: 'milk' })
      await follow()
      // Of what was deleted the mirror has nothing to give any more.
      expect(inShort(await pull(third, 'mirror', mirror.api()))).toEqual(['version alice/tea@1.0.0: applied'])
      const [entry] = await feed(third)
      expect(entry!.data).toMatchObject({ origin: { origin: 'origin.example', epoch: 1, seq: 1 } })
      const { id, latestVersion, digest } = await show('alice/tea')
      expect(await third.api().getSkill({ name: 'alice/tea' })).toMatchObject({ id, latestVersion, digest })
    })

    it('are not repeated by nodes that mirror each other', async () => {
      await addUpstream(origin, 'mirror')
      const carol = await mirror.makeUser('carol')
      await publish(alice, 'tea')
      await publish(carol, 'milk')
      const rounds = async () => [...(await follow()), ...inShort(await pull(origin, 'mirror', mirror.api()))]
      expect(await rounds()).toEqual([
        'version alice/tea@1.0.0: applied',
        'version carol/milk@1.0.0: applied',
        'version alice/tea@1.0.0: unchanged',
      ])
      expect(await rounds()).toEqual(['version carol/milk@1.0.0: unchanged'])
      expect(await rounds()).toEqual([])
      await mirror.admin.api.moderateSkill({ name: 'alice/tea', state: 'hidden', reason: 'Here.' })
      expect(await rounds()).toEqual(['withdrawn alice/tea: unchanged'])
      await mirror.admin.api.moderateSkill({ name: 'alice/tea', state: 'shown', reason: 'Here.' })
      expect(await rounds()).toEqual(['version alice/tea@1.0.0: unchanged', 'skill alice/tea: unchanged'])
      expect(await origin.api().getSkill({ name: 'alice/tea' })).toMatchObject({ origin: { kind: 'local' } })
    })

    it('are not repeated if two upstreams relay them from the same log', async () => {
      const second = await open({ origin: 'second.example' })
      const third = await open({ origin: 'third.example' })
      await addUpstream(second, 'up')
      for (const name of ['mirror', 'second', 'origin']) await addUpstream(third, name)
      await publish(alice, 'tea')
      await follow()
      await pull(second, 'up', origin.api())
      expect(inShort(await pull(third, 'mirror', mirror.api()))).toEqual(['version alice/tea@1.0.0: applied'])
      expect(inShort(await pull(third, 'second', second.api()))).toEqual(['version alice/tea@1.0.0: unchanged'])
      expect(inShort(await pull(third, 'origin', origin.api()))).toEqual(['version alice/tea@1.0.0: unchanged'])
      await publish(alice, 'tea', 'Two.')
      await pull(second, 'up', origin.api())
      // Not before it comes from where the skill comes from.
      expect(inShort(await pull(third, 'second', second.api()))).toEqual(['version alice/tea@1.0.1: other_source'])
    })
  })

  describe('about removals', () => {
    it('include the takedown of a skill and the end of the takedown', async () => {
      await publish(alice, 'tea')
      await follow()
      const { id } = await makeCase(origin, 'alice/tea', alice, 'counter_noticed')
      expect(await follow()).toEqual(['takedown alice/tea: applied'])
      expect(await codeOf(show('alice/tea'))).toBe('taken_down')
      expect((await feed(mirror)).at(-1)).toMatchObject({ type: 'takedown', subject: 'alice/tea' })
      // What is decided here brings nothing back that is under a takedown there.
      await mirror.admin.api.moderateSkill({ name: 'alice/tea', state: 'hidden', reason: 'Here.' }).catch(() => {})
      await mirror.admin.api.moderateSkill({ name: 'alice/tea', state: 'shown', reason: 'Here.' }).catch(() => {})
      expect(await codeOf(show('alice/tea'))).toBe('taken_down')
      await runOut(origin, id)
      expect(await follow()).toEqual(['version alice/tea@1.0.0: applied', 'skill alice/tea: applied'])
      expect(await show('alice/tea')).toMatchObject({ latestVersion: '1.0.0' })
    })

    it('include a transfer, after which the old full name redirects to the new one', async () => {
      const bob = await origin.makeUser('bob')
      const { skill } = await publish(alice, 'tea')
      await publish(alice, 'tea', 'Two.')
      await follow()
      await transfer('alice/tea', alice, bob)
      await follow()
      expect(await show('bob/tea')).toMatchObject({ id: skill.id, latestVersion: '1.0.1', author: { username: 'bob' } })
      expect(await show('tea')).toMatchObject({ fullName: 'bob/tea' })
      expect(await show('alice/tea')).toMatchObject({ fullName: 'bob/tea' })
      expect((await feed(mirror)).map(({ type, subject }) => `${type} ${subject}`)).toEqual(
        (await feed(origin)).map(({ type, subject }) => `${type} ${subject}`),
      )
      // And back again.
      await transfer('bob/tea', bob, alice)
      await follow()
      expect(await show('alice/tea')).toMatchObject({ id: skill.id })
    })

    it('include only the withdrawal of the old name after a transfer to a name that is taken on the mirror', async () => {
      const bob = await origin.makeUser('bob')
      await mirror.makeUser('bob')
      await publish(alice, 'tea')
      await follow()
      await transfer('alice/tea', alice, bob)
      expect(await follow()).toEqual([
        'withdrawn alice/tea: applied',
        'version bob/tea@1.0.0: owned_locally',
        'skill bob/tea: owned_locally',
      ])
      expect(await codeOf(show('alice/tea'))).toBe('not_found')
      expect(await codeOf(show('bob/tea'))).toBe('not_found')
    })
  })

  describe('about packs', () => {
    it('include a pack with only the skills that the mirror stores', async () => {
      for (const name of ['tea', 'milk', 'salt']) await publish(alice, name)
      const said = {
        name: 'Breakfast',
        description: 'Daily.',
        skills: ['tea', { name: 'milk', version: '1.0.0', note: 'Cold.' }],
      }
      await alice.api.createPack(said)
      await follow()
      const [here, there] = await Promise.all([mirror, origin].map((test) => test.api().getPack({ slug: 'breakfast' })))
      const briefly = (pack: typeof here) =>
        pack!.skills.map(({ fullName, pinnedVersion, note }) => [fullName, pinnedVersion, note])
      expect(briefly(here)).toEqual(briefly(there))
      expect(here).toMatchObject({ name: 'Breakfast', description: 'Daily.', curator: { username: 'alice' } })
      expect((await feed(mirror)).at(-1)!.data).toMatchObject({ origin: { origin: 'origin.example', seq: 4 } })
      await alice.api.updatePack({ slug: 'breakfast', skills: ['salt'] })
      await follow()
      expect(briefly(await mirror.api().getPack({ slug: 'breakfast' }))).toEqual([['alice/salt', null, '']])
      await alice.api.deletePack({ slug: 'breakfast' })
      await follow()
      expect(await codeOf(mirror.api().getPack({ slug: 'breakfast' }))).toBe('not_found')
    })

    it('overwrite no pack that was created on the mirror', async () => {
      await mirror.admin.api.createPack({ name: 'Breakfast', description: 'Ours.', skills: [] })
      await alice.api.createPack({ name: 'Breakfast', description: 'Theirs.', skills: [] })
      await mirror.makeUser('alice')
      await alice.api.createPack({ name: 'Supper', description: 'Theirs.', skills: [] })
      expect(await follow()).toEqual(['pack breakfast: owned_locally', 'pack supper: owned_locally'])
      expect(await mirror.api().getPack({ slug: 'breakfast' })).toMatchObject({ description: 'Ours.' })
    })
  })

  describe('for provenance', () => {
    it('include the proof of the log in which the version was first published', async () => {
      for (let i = 0; i < 300; i++) await publish(alice, `skill-${i}`)
      await publish(alice, 'tea', 'One.')
      await follow()
      await publish(alice, 'tea', 'Two.')
      await follow()
      const keys = await readKeys(origin.api())
      for (const [name, version] of [
        ['alice/tea', '1.0.0'],
        ['alice/tea', '1.0.1'],
        ['alice/skill-7', '1.0.0'],
      ] as const) {
        const record = await mirror.api().getProvenance({ name, version })
        expect(record.origin).toMatchObject({ kind: 'mirror', upstream: 'up' })
        expect(record.log).toMatchObject({ origin: 'origin.example', treeSize: 302 })
        expect(record.publisher).toEqual((await origin.api().getVersion({ name, version })).publisher)
        expect(verifyProvenance(record, { keys })).toMatchObject({
          ok: true,
          unproven: ['firstPublishedAt', 'authorVerified', 'forkChain', 'origin'],
        })
        const both = [...keys, ...(await readKeys(mirror.api()))]
        expect(verifyProvenance(record, { keys: both })).toMatchObject({ ok: true, unproven: [] })
        expect(verifyProvenance(record, { keys: await readKeys(mirror.api()) }).ok).toBe(false)
      }
    }, 120_000)

    it("include the proof of the skill's new name after a transfer", async () => {
      const bob = await origin.makeUser('bob')
      await publish(alice, 'tea')
      await transfer('alice/tea', alice, bob)
      await follow()
      const record = await mirror.api().getProvenance({ name: 'bob/tea' })
      expect(verifyProvenance(record, { keys: await readKeys(origin.api()) })).toMatchObject({
        ok: true,
        entry: { subject: 'bob/tea@1.0.0' },
      })
    })
  })
})
