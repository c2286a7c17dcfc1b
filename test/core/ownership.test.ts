import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, skillMd, textOf } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

describeApi('ownership', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let carol: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    carol = await test.makeUser('carol')
  })

  const publish = (name: string, user = alice) => user.api.publishSkill({ skillMd: skillMd(name) })

  describe('a fork', () => {
    it('has the latest content and version number of its source under its own name, and names the source', async () => {
      const files = [{ path: 'a.txt', content: 'A' }]
      await alice.api.publishSkill({ skillMd: skillMd('origin'), files, version: '2.3.4', category: 'Cat' })
      expect(await test.statusOf(bob, 'forkSkill', { name: 'origin', newName: 'branch' })).toBe(201)
      const fork = await test.api().getSkill({ name: 'bob/branch' })
      expect(fork).toMatchObject({
        fullName: 'bob/branch',
        latestVersion: '2.3.4',
        category: 'Cat',
        description: 'What origin does.',
        forkedFrom: {
          fullName: 'alice/origin',
          version: '2.3.4',
        },
        stars: 0,
        downloads: 0,
        forks: 0,
      })
      expect(fork.author.username).toBe('bob')
      expect(fork.files.map(({ path }) => path)).toEqual(['SKILL.md', 'a.txt'])
      expect(fork.frontmatter.name).toBe('branch')
      const text = await textOf(await test.api().getSkillMd({ name: 'bob/branch' }))
      expect(text).toBe(skillMd('origin').replace('name: origin', 'name: branch'))
      expect((await test.api().getSkill({ name: 'alice/origin' })).forks).toBe(1)
    })

    it('has the name of its source by default, and is rejected if the caller has a skill of that name', async () => {
      await publish('same')
      expect((await bob.api.forkSkill({ name: 'same' })).fullName).toBe('bob/same')
      expect(await codeOf(bob.api.forkSkill({ name: 'same', newName: 'same' }))).toBe('name_taken')
      expect(await codeOf(alice.api.forkSkill({ name: 'same' }))).toBe('name_taken')
      expect((await test.api().getSkill({ name: 'same' })).fullName, 'the short name stays').toBe('alice/same')
      expect((await test.api().getSkill({ name: 'alice/same' })).forks).toBe(1)
      await bob.api.deleteSkill({ name: 'bob/same' })
      expect(await codeOf(bob.api.forkSkill({ name: 'alice/same' }))).toBe('name_taken')
    })

    it('copies a version that is not yanked, and cannot be made by guests', async () => {
      await publish('yanked-source')
      await alice.api.publishSkill({ skillMd: skillMd('yanked-source', { body: 'Bad.' }) })
      await alice.api.yankVersion({ name: 'yanked-source', version: '1.0.1' })
      expect((await bob.api.forkSkill({ name: 'yanked-source' })).latestVersion).toBe('1.0.0')
      expect(await codeOf(test.api().forkSkill({ name: 'yanked-source' }))).toBe('unauthorized')
      expect(await codeOf(bob.api.forkSkill({ name: 'nowhere' }))).toBe('not_found')
    })

    it('can be made of a document without frontmatter', async () => {
      await alice.api.publishSkill({ skillMd: '# Plain\n', name: 'plain', description: 'Plain.' })
      const fork = await bob.api.forkSkill({ name: 'plain', newName: 'plainer' })
      expect(fork).toMatchObject({ name: 'plainer', description: 'Plain.' })
    })
  })

  describe('a star', () => {
    it('counts once per user, and can be removed once', async () => {
      await publish('starry')
      expect(await bob.api.starSkill({ name: 'starry' })).toEqual({ starred: true, stars: 1 })
      expect(await bob.api.starSkill({ name: 'starry' })).toEqual({ starred: true, stars: 1 })
      expect(await carol.api.starSkill({ name: 'starry' })).toEqual({ starred: true, stars: 2 })
      expect((await test.api().getSkill({ name: 'starry' })).stars).toBe(2)
      expect((await test.api().searchSkills({ q: 'starry' })).skills[0]!.stars).toBe(2)
      expect(await bob.api.unstarSkill({ name: 'starry' })).toEqual({ starred: false, stars: 1 })
      expect(await bob.api.unstarSkill({ name: 'starry' })).toEqual({ starred: false, stars: 1 })
      expect(await codeOf(test.api().starSkill({ name: 'starry' }))).toBe('unauthorized')
    })

    it('is counted for each user if many users star a skill concurrently', async () => {
      await publish('starry-night')
      const users = [alice, bob, carol]
      await Promise.all([...users, ...users].map(({ api }) => api.starSkill({ name: 'starry-night' })))
      expect((await test.api().getSkill({ name: 'starry-night' })).stars).toBe(3)
    })
  })

  const offer = (name: string, newOwner = 'bob') => alice.api.transferSkill({ name, newOwner })

  describe('a transfer', () => {
    it('has no effect until the new owner accepts the offer', async () => {
      await publish('offered')
      expect(await test.statusOf(alice, 'transferSkill', { name: 'offered', newOwner: 'bob' })).toBe(202)
      expect((await test.api().getSkill({ name: 'offered' })).fullName).toBe('alice/offered')
      const waiting = { fullName: 'alice/offered', newOwner: 'bob', createdAt: '2026-01-02T12:00:00.000Z' }
      for (const user of [alice, bob]) expect((await user.api.listTransfers()).transfers).toContainEqual(waiting)
      expect(await carol.api.listTransfers()).toEqual({ transfers: [], total: 0 })
      expect(await codeOf(carol.api.acceptTransfer({ name: 'alice/offered' }))).toBe('not_found')
      expect(await codeOf(alice.api.acceptTransfer({ name: 'alice/offered' }))).toBe('forbidden')
      expect((await bob.api.acceptTransfer({ name: 'alice/offered' })).fullName).toBe('bob/offered')
      expect(await codeOf(bob.api.acceptTransfer({ name: 'alice/offered' }))).toBe('not_found')
    })

    it('moves the whole skill, and the old full name redirects to it', async () => {
      const { skill: before } = await publish('moved')
      await carol.api.starSkill({ name: 'moved' })
      await offer('moved')
      await bob.api.acceptTransfer({ name: 'moved' })
      const after = await test.api().getSkill({ name: 'alice/moved' })
      expect(after).toMatchObject({ id: before.id, fullName: 'bob/moved', stars: 1, author: { username: 'bob' } })
      expect((await test.api().getSkill({ name: 'moved' })).fullName, 'it still holds its short name').toBe('bob/moved')
      expect(await textOf(await test.api().getSkillMd({ name: 'alice/moved', version: '1.0.0' }))).toBe(
        skillMd('moved'),
      )
      expect((await test.api().searchSkills({ owner: 'bob', q: 'moved' })).total).toBe(1)
      expect((await test.api().searchSkills({ owner: 'alice', q: 'moved' })).total).toBe(0)
      expect(await codeOf(alice.api.publishSkill({ skillMd: skillMd('moved', { body: 'Mine again.' }) }))).toBe(
        'name_taken',
      )
      expect(await codeOf(alice.api.deleteSkill({ name: 'alice/moved' }))).toBe('forbidden')
      const next = { name: 'alice/moved', skillMd: skillMd('moved', { body: 'Next.' }) }
      expect((await bob.api.publishSkill(next)).skill).toMatchObject({ fullName: 'bob/moved', latestVersion: '1.0.1' })
      expect((await bob.api.publishSkill({ name: 'alice/moved', category: 'New' })).skill.category).toBe('New')
      expect(await codeOf(alice.api.publishSkill({ name: 'moved', category: 'Hers' }))).toBe('forbidden')
    })

    it.runIf(transport === 'HTTP')(
      'redirects the old URL of the skill to the new one, with path and query',
      async () => {
        await publish('redirected')
        await offer('redirected')
        await bob.api.acceptTransfer({ name: 'redirected' })
        const url = '/api/v1/skills/alice%2Fredirected/skill.md?version=1.0.0'
        const response = await test.request(url, { redirect: 'manual' })
        expect(response.status).toBe(308)
        expect(response.headers.get('location')).toBe('/api/v1/skills/bob%2Fredirected/skill.md?version=1.0.0')
      },
    )

    it('is in the feed: the old name is withdrawn, and the new name has the history of the skill', async () => {
      await publish('told')
      await offer('told')
      const { head } = await test.api().getFeed()
      await bob.api.acceptTransfer({ name: 'told' })
      const { entries } = await test.api().getFeed({ since: head })
      expect(entries.map(({ type, subject }) => `${type} ${subject}`).slice(0, 2)).toEqual([
        'withdrawn alice/told',
        'version bob/told@1.0.0',
      ])
      for (const { data } of entries.slice(1)) expect(data.holder).toBe(true)
    })

    it('can be withdrawn by the owner and declined by the recipient', async () => {
      await publish('declined')
      for (const user of [alice, bob]) {
        await offer('declined')
        expect(await codeOf(carol.api.cancelTransfer({ name: 'declined' }))).toBe('not_found')
        expect(await test.statusOf(user, 'cancelTransfer', { name: 'alice/declined' })).toBe(204)
        expect(await codeOf(bob.api.acceptTransfer({ name: 'alice/declined' }))).toBe('not_found')
      }
      await offer('declined')
      await offer('declined', 'carol')
      expect(await codeOf(bob.api.acceptTransfer({ name: 'alice/declined' })), 'a later offer replaces it').toBe(
        'not_found',
      )
    })

    it('can be reversed by a second transfer, and repeated', async () => {
      await publish('round')
      for (const [from, to] of [
        [alice, bob],
        [bob, alice],
        [alice, bob],
      ] as const) {
        await from.api.transferSkill({ name: 'round', newOwner: to.username })
        await to.api.acceptTransfer({ name: 'round' })
      }
      for (const name of ['round', 'alice/round', 'bob/round']) {
        expect((await test.api().getSkill({ name })).fullName).toBe('bob/round')
      }
    })

    it('is refused if the new owner has a skill of that name, does not exist, or is the current owner', async () => {
      await publish('clash')
      await publish('clash', bob)
      await offer('clash')
      expect(await codeOf(bob.api.acceptTransfer({ name: 'alice/clash' }))).toBe('name_taken')
      expect(await codeOf(offer('clash', 'unknown-user'))).toBe('not_found')
      expect(await codeOf(offer('clash', 'alice'))).toBe('conflict')
      expect(await codeOf(bob.api.transferSkill({ name: 'alice/clash', newOwner: 'bob' }))).toBe('forbidden')
    })

    it('of a private skill is visible only to its recipient', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('quiet'), visibility: 'private' })
      await offer('quiet')
      expect(await codeOf(bob.api.getSkill({ name: 'alice/quiet' }))).toBe('not_found')
      expect(await codeOf(carol.api.acceptTransfer({ name: 'alice/quiet' }))).toBe('not_found')
      expect((await bob.api.acceptTransfer({ name: 'alice/quiet' })).visibility).toBe('private')
      expect(await codeOf(alice.api.getSkill({ name: 'alice/quiet' }))).toBe('not_found')
      expect(await codeOf(alice.api.getSkill({ name: 'bob/quiet' }))).toBe('not_found')
    })
  })
})
