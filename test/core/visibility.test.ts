import { beforeAll, describe, expect, it } from 'vitest'
import type { RegistryApi } from '@skillstead/protocol'
import { addCollaborator } from '../support/collaboration.ts'
import { bytesOf, codeOf, skillMd, textOf } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const person = (username: string) => ({ username, status: 'accepted' })

describeApi('what callers may see', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })

  /** Publishes a skill of alice's that no one else may know of. */
  async function publishPrivate(name: string, description = `Hidden ${name}.`) {
    const input = {
      skillMd: skillMd(name, { description }),
      visibility: 'private' as const,
      category: `Secret ${name}`,
    }
    return (await alice.api.publishSkill(input)).skill
  }

  /** Every read of one skill. */
  const reads: [string, (api: RegistryApi, name: string) => Promise<unknown>][] = [
    ['getSkill', (api, name) => api.getSkill({ name })],
    ['getSkillMd', (api, name) => api.getSkillMd({ name })],
    ['getArchive', (api, name) => api.getArchive({ name })],
    ['getFile', (api, name) => api.getFile({ name, path: 'SKILL.md' })],
    ['listVersions', (api, name) => api.listVersions({ name })],
    ['getVersion', (api, name) => api.getVersion({ name, version: '1.0.0' })],
    ['listEvaluations', (api, name) => api.listEvaluations({ name, version: '1.0.0' })],
    ['listReviews', (api, name) => api.listReviews({ name })],
    ['listIssues', (api, name) => api.listIssues({ name })],
    ['listAgentReviews', (api, name) => api.listAgentReviews({ name })],
  ]
  const actions: [string, (api: RegistryApi, name: string) => Promise<unknown>][] = [
    ['forkSkill', (api, name) => api.forkSkill({ name, newName: 'stolen' })],
    ['starSkill', (api, name) => api.starSkill({ name })],
    ['unstarSkill', (api, name) => api.unstarSkill({ name })],
    ['yankVersion', (api, name) => api.yankVersion({ name, version: '1.0.0' })],
    ['deleteSkill', (api, name) => api.deleteSkill({ name })],
    ['reportSkill', (api, name) => api.reportSkill({ name, reason: 'spam' })],
    ['createShare', (api, name) => api.createShare({ name })],
    ['listShares', (api, name) => api.listShares({ name })],
    ['appealModeration', (api, name) => api.appealModeration({ name, statement: 'Why?' })],
    ['getModeration', (api, name) => api.getModeration({ name })],
    ['transferSkill', (api, name) => api.transferSkill({ name, newOwner: 'bob' })],
    ['acceptTransfer', (api, name) => api.acceptTransfer({ name })],
    ['cancelTransfer', (api, name) => api.cancelTransfer({ name })],
    ['listCollaborators', (api, name) => api.listCollaborators({ name })],
    ['putCollaborator', (api, name) => api.putCollaborator({ name, username: 'bob', role: 'write' })],
    ['deleteCollaborator', (api, name) => api.deleteCollaborator({ name, username: 'alice' })],
    ['publishSkill', (api, name) => api.publishSkill({ name: name.split('/')[1], deprecated: true })],
  ]
  const unbuilt: [string, (api: RegistryApi, name: string) => Promise<unknown>][] = [
    ['loadSkill', (api, name) => api.loadSkill({ name })],
    ['getSimilarity', (api, name) => api.getSimilarity({ name })],
    ['getProvenance', (api, name) => api.getProvenance({ name })],
    ['diffSkill', (api, name) => api.diffSkill({ name, from: '1.0.0', to: '1.0.0' })],
  ]

  describe('a private skill', () => {
    beforeAll(() => publishPrivate('hidden'))

    it.each([...reads, ...unbuilt])('cannot be detected by other users: %s', async (_, read) => {
      for (const name of ['alice/hidden', 'hidden']) {
        expect(await codeOf(read(test.api(), name))).toBe('not_found')
        expect(await codeOf(read(bob.api, name))).toBe('not_found')
        expect(await codeOf(read(test.admin.api, name))).toBe('not_found')
      }
    })

    it.each(actions)('cannot be changed by other users, nor detected by an attempt: %s', async (_, act) => {
      expect(await codeOf(act(bob.api, 'alice/hidden'))).toBe('not_found')
      expect(await codeOf(act(bob.api, 'alice/not-there'))).toBe('not_found')
    })

    it('is not revealed when another user publishes under its full name: the error is as for a free name', async () => {
      const tries = ['alice/hidden', 'alice/free'].map((name) =>
        codeOf(bob.api.publishSkill({ skillMd: '# x', name, description: 'x' })),
      )
      expect(await Promise.all(tries)).toEqual(['forbidden', 'forbidden'])
    })

    it.each(reads)('can be used by its owner, also by its short name: %s', async (_, read) => {
      expect(await read(alice.api, 'alice/hidden')).toBeDefined()
      expect(await read(alice.api, 'hidden')).toBeDefined()
    })

    it('is in no list, completion, category, pack or feed, and its blobs are not served', async () => {
      const skill = await publishPrivate('axolotl', 'Axolotl keeping.')
      await alice.api.publishSkill({ skillMd: skillMd('axolotl-public', { description: 'Axolotl feeding.' }) })
      await alice.api.createPack({
        name: 'Axolotls',
        description: '',
        skills: ['alice/axolotl', 'alice/axolotl-public'],
      })
      for (const api of [test.api(), bob.api, test.admin.api]) {
        const found = await api.searchSkills({ q: 'axolotl', includeStubs: true })
        expect({ total: found.total, names: found.skills.map(({ name }) => name) }).toEqual({
          total: 1,
          names: ['axolotl-public'],
        })
        expect((await api.searchSkills({ category: 'Secret axolotl' })).total).toBe(0)
        expect((await api.searchSkills({ owner: 'alice', limit: 100 })).skills.map(({ name }) => name)).not.toContain(
          'axolotl',
        )
        expect((await api.suggest({ q: 'axo' })).suggestions).not.toContain('axolotl')
        expect((await api.suggest({ q: 'hidd' })).suggestions).toEqual([])
        expect(JSON.stringify(await api.listCategories())).not.toContain('Secret')
        const pack = await api.getPack({ slug: 'axolotls' })
        expect({ names: pack.skills.map(({ name }) => name), count: pack.skillCount }).toEqual({
          names: ['axolotl-public'],
          count: 1,
        })
        expect(JSON.stringify(await api.listPacks({ q: 'axolotls' }))).not.toContain('alice/axolotl"')
        const profile = await api.getUser({ username: 'alice' })
        expect(profile.skills.map(({ name }) => name)).not.toContain('axolotl')
        expect(profile.counts.skills).toBe(profile.total)
        expect(await codeOf(api.getBlob({ digest: skill.files[0]!.digest }))).toBe('not_found')
        const lines = await textOf(await api.batchBlobs({ digests: [skill.files[0]!.digest] }))
        expect(JSON.parse(lines)).toEqual({ digest: skill.files[0]!.digest, missing: true })
      }
      const feed = JSON.stringify(await test.api().getFeed({ limit: 1000 }))
      for (const trace of [
        'alice/axolotl"',
        'alice/hidden',
        skill.id,
        skill.digest!,
        skill.files[0]!.digest,
        'keeping',
      ]) {
        expect(feed).not.toContain(trace)
      }
      expect((await alice.api.searchSkills({ q: 'axolotl' })).total, 'its owner finds it').toBe(2)
      expect((await alice.api.getPack({ slug: 'axolotls' })).skillCount).toBe(2)
    })
  })

  describe('collaborators', () => {
    it('with the role read may read but not write', async () => {
      await publishPrivate('readable', 'Readable okapi.')
      await addCollaborator(test, alice, { name: 'readable', username: 'bob', role: 'read' })
      for (const [, read] of reads) await read(bob.api, 'alice/readable')
      expect((await bob.api.searchSkills({ q: 'okapi' })).total).toBe(1)
      expect(await codeOf(bob.api.publishSkill({ name: 'alice/readable', category: 'x' }))).toBe('forbidden')
      expect(await codeOf(bob.api.publishSkill({ name: 'alice/readable', skillMd: skillMd('readable') }))).toBe(
        'forbidden',
      )
      expect(await codeOf(bob.api.yankVersion({ name: 'alice/readable', version: '1.0.0' }))).toBe('forbidden')
      expect(await codeOf(bob.api.listCollaborators({ name: 'alice/readable' }))).toBe('forbidden')
      expect(await codeOf(bob.api.getSkill({ name: 'readable' })), 'its short name is its owner’s alone').toBe(
        'not_found',
      )
      expect(await codeOf(test.api().getSkill({ name: 'alice/readable' }))).toBe('not_found')
    })

    it('with the role write may publish under the owner’s name, but not manage the skill', async () => {
      await publishPrivate('writable')
      await addCollaborator(test, alice, { name: 'writable', username: 'bob', role: 'write' })
      const text = skillMd('writable', { body: 'By bob.' })
      const { skill, version } = await bob.api.publishSkill({ name: 'alice/writable', skillMd: text })
      expect({ fullName: skill.fullName, number: version.version }).toEqual({
        fullName: 'alice/writable',
        number: '1.0.1',
      })
      expect(version.publisher.username).toBe('bob')
      const opening = { name: 'alice/writable', visibility: 'public' as const }
      expect(await codeOf(bob.api.publishSkill(opening))).toBe('forbidden')
      expect(await codeOf(bob.api.publishSkill({ ...opening, skillMd: text }))).toBe('forbidden')
      expect(await codeOf(bob.api.publishSkill({ ...opening, skillMd: `${text}!` }))).toBe('forbidden')
      for (const act of ['deleteSkill', 'transferSkill', 'putCollaborator']) {
        const action = actions.find(([name]) => name === act)![1]
        expect(await codeOf(action(bob.api, 'alice/writable'))).toBe('forbidden')
      }
      expect(await codeOf(test.api().getSkill({ name: 'alice/writable' }))).toBe('not_found')
    })

    it('are invited, and see and write nothing before they accept', async () => {
      await publishPrivate('inviting', 'Inviting quagga.')
      const input = { name: 'inviting', username: 'bob', role: 'write' } as const
      expect(await alice.api.putCollaborator(input)).toEqual({ username: 'bob', role: 'write', status: 'invited' })
      expect((await alice.api.listCollaborators({ name: 'inviting' })).collaborators).toEqual([
        { username: 'bob', role: 'write', status: 'invited' },
      ])
      const { invitations } = await bob.api.listInvitations()
      expect(invitations.filter(({ fullName }) => fullName === 'alice/inviting')).toEqual([
        { fullName: 'alice/inviting', owner: 'alice', role: 'write', createdAt: expect.any(String) },
      ])
      const text = skillMd('inviting', { description: 'Inviting quagga.', body: 'By bob.' })
      const publishing = { name: 'alice/inviting', skillMd: text }
      const isListed = async () => ({
        found: (await bob.api.searchSkills({ q: 'quagga' })).total,
        own: (await bob.api.listOwnSkills({ limit: 100 })).skills.some(({ fullName }) => fullName === 'alice/inviting'),
      })
      expect(await codeOf(bob.api.getSkill({ name: 'alice/inviting' }))).toBe('not_found')
      expect(await codeOf(bob.api.publishSkill(publishing))).toBe('forbidden')
      expect(await isListed()).toEqual({ found: 0, own: false })
      // No one else can accept in bob's place, and he can accept once.
      const carol = await test.makeUser()
      for (const { api } of [carol, alice])
        expect(await codeOf(api.acceptCollaboration({ name: 'alice/inviting' }))).toBe('not_found')
      expect(await codeOf(test.api().acceptCollaboration({ name: 'alice/inviting' }))).toBe('unauthorized')
      expect(await bob.api.acceptCollaboration({ name: 'inviting' })).toEqual({ ...person('bob'), role: 'write' })
      expect(await codeOf(bob.api.acceptCollaboration({ name: 'alice/inviting' }))).toBe('not_found')
      expect((await bob.api.publishSkill(publishing)).version.version).toBe('1.0.1')
      expect((await isListed()).found).toBe(1)
      // A collaborator's role changes without another invitation.
      expect(await alice.api.putCollaborator({ ...input, role: 'read' })).toEqual({ ...person('bob'), role: 'read' })
    })

    it('cannot accept an invitation that they declined or that was withdrawn', async () => {
      await publishPrivate('declined')
      for (const ends of [alice, bob]) {
        await alice.api.putCollaborator({ name: 'declined', username: 'bob', role: 'read' })
        await ends.api.deleteCollaborator({ name: 'alice/declined', username: 'bob' })
        expect((await alice.api.listCollaborators({ name: 'declined' })).total).toBe(0)
        expect(await codeOf(bob.api.acceptCollaboration({ name: 'alice/declined' }))).toBe('not_found')
        expect(await codeOf(bob.api.deleteCollaborator({ name: 'alice/declined', username: 'bob' }))).toBe('not_found')
      }
    })

    it('of the former owner lose their access when a transfer is accepted', async () => {
      await publishPrivate('moved-on', 'Moved thylacine.')
      const [carol, dora] = [await test.makeUser(), await test.makeUser()]
      await addCollaborator(test, alice, { name: 'moved-on', username: 'bob', role: 'write' })
      await alice.api.putCollaborator({ name: 'moved-on', username: dora.username, role: 'write' })
      await alice.api.transferSkill({ name: 'moved-on', newOwner: carol.username })
      await carol.api.acceptTransfer({ name: 'alice/moved-on' })
      const name = `${carol.username}/moved-on`
      expect((await carol.api.listCollaborators({ name })).total).toBe(0)
      expect(await codeOf(bob.api.getSkill({ name }))).toBe('not_found')
      expect((await bob.api.searchSkills({ q: 'thylacine' })).total).toBe(0)
      const text = skillMd('moved-on', { body: 'By bob.' })
      expect(await codeOf(bob.api.publishSkill({ name, skillMd: text }))).toBe('forbidden')
      expect(await codeOf(dora.api.acceptCollaboration({ name }))).toBe('not_found')
    })

    it('lose access when the owner or they themselves end the collaboration', async () => {
      await publishPrivate('ended', 'Ended dodo.')
      for (const ends of [alice, bob]) {
        await addCollaborator(test, alice, { name: 'ended', username: 'bob', role: 'read' })
        expect(await alice.api.listCollaborators({ name: 'ended' })).toEqual({
          collaborators: [{ username: 'bob', role: 'read', status: 'accepted' }],
          total: 1,
        })
        await ends.api.deleteCollaborator({ name: 'alice/ended', username: 'bob' })
        expect(await codeOf(bob.api.getSkill({ name: 'alice/ended' }))).toBe('not_found')
        expect((await bob.api.searchSkills({ q: 'dodo' })).total).toBe(0)
      }
    })

    it('do not appear in the feed when they are invited or removed', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('co-public') })
      const { head } = await test.api().getFeed()
      await addCollaborator(test, alice, { name: 'co-public', username: 'bob', role: 'write' })
      await alice.api.deleteCollaborator({ name: 'co-public', username: 'bob' })
      expect((await test.api().getFeed()).head).toBe(head)
    })

    it('who fork and then publish their fork do not reveal its source', async () => {
      const { id } = await publishPrivate('source')
      await addCollaborator(test, alice, { name: 'source', username: 'bob', role: 'read' })
      const fork = await bob.api.forkSkill({ name: 'alice/source', newName: 'forked-source' })
      expect(fork.visibility).toBe('private')
      await bob.api.publishSkill({ name: 'forked-source', visibility: 'public' })
      const shown = JSON.stringify(await test.api().getSkill({ name: 'bob/forked-source' }))
      const feed = JSON.stringify(await test.api().getFeed({ limit: 1000 }))
      for (const trace of ['alice/source', id]) {
        expect(shown).not.toContain(trace)
        expect(feed).not.toContain(trace)
      }
    })
  })

  describe('internal skills', () => {
    it('are visible to every signed-in user and to no guest', async () => {
      const skill = (
        await alice.api.publishSkill({
          skillMd: skillMd('internal', { description: 'Internal narwhal.' }),
          visibility: 'internal',
        })
      ).skill
      for (const [, read] of reads) {
        await read(bob.api, 'alice/internal')
        expect(await codeOf(read(test.api(), 'alice/internal'))).toBe('not_found')
      }
      expect((await bob.api.searchSkills({ q: 'narwhal' })).total).toBe(1)
      expect((await test.api().searchSkills({ q: 'narwhal' })).total).toBe(0)
      expect(await codeOf(bob.api.getBlob({ digest: skill.files[0]!.digest })), 'blobs are public').toBe('not_found')
      expect(JSON.stringify(await test.api().getFeed({ limit: 1000 }))).not.toContain('alice/internal')
    })
  })

  describe('a short name', () => {
    it('permanently means the first public skill that had this short name', async () => {
      await bob.api.publishSkill({ skillMd: skillMd('held'), visibility: 'private' })
      await alice.api.publishSkill({ skillMd: skillMd('held') })
      await bob.api.publishSkill({ name: 'held', visibility: 'public' })
      expect((await test.api().getSkill({ name: 'held' })).fullName).toBe('alice/held')
      const carol = await test.makeUser()
      expect((await carol.api.getSkill({ name: 'held' })).fullName).toBe('alice/held')
      expect((await bob.api.getSkill({ name: 'held' })).fullName, 'an owner’s own answers him').toBe('bob/held')
      await alice.api.publishSkill({ name: 'held', visibility: 'private' })
      expect(await codeOf(test.api().getSkill({ name: 'held' })), 'no other skill takes its name').toBe('not_found')
      expect((await bob.api.getSkill({ name: 'held' })).fullName).toBe('bob/held')
    })

    it('means the caller’s own skill for reads and writes, even if another user published the name first', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('twice', { body: 'Of alice.' }) })
      await bob.api.publishSkill({ skillMd: skillMd('twice', { body: 'Of bob.' }) })
      expect((await bob.api.loadSkill({ name: 'twice' })).fullContent).toContain('Of bob.')
      await bob.api.publishSkill({ name: 'twice', description: 'Changed by bob.' })
      await bob.api.yankVersion({ name: 'twice', version: '1.0.0' })
      expect((await bob.api.getSkill({ name: 'bob/twice' })).latestVersion).toBe('')
      await bob.api.deleteSkill({ name: 'twice' })
      expect((await bob.api.getSkill({ name: 'twice' })).fullName, 'a deleted skill does not block its name').toBe(
        'alice/twice',
      )
      expect(await test.api().getSkill({ name: 'twice' })).toMatchObject({
        fullName: 'alice/twice',
        latestVersion: '1.0.0',
      })
    })
  })

  describe('a skill that changes visibility', () => {
    it('from public to private is withdrawn in the feed, and its blobs are not served', async () => {
      const { skill } = await alice.api.publishSkill({
        skillMd: skillMd('closing', { description: 'Closing kakapo.' }),
      })
      const { head } = await test.api().getFeed()
      await alice.api.publishSkill({ name: 'closing', visibility: 'private' })
      const { entries } = await test.api().getFeed({ since: head })
      expect(entries.map(({ type, subject }) => ({ type, subject }))).toEqual([
        { type: 'withdrawn', subject: 'alice/closing' },
      ])
      expect(await codeOf(test.api().getSkill({ name: 'alice/closing' }))).toBe('not_found')
      expect((await test.api().searchSkills({ q: 'kakapo' })).total).toBe(0)
      expect(await codeOf(test.api().getBlob({ digest: skill.files[0]!.digest }))).toBe('not_found')
    })

    it('from private to public adds its whole history and its current metadata to the feed', async () => {
      await publishPrivate('opening')
      await alice.api.publishSkill({ skillMd: skillMd('opening', { body: 'Two.' }) })
      await alice.api.publishSkill({ name: 'opening', description: 'Said since.' })
      const { head } = await test.api().getFeed()
      const { skill } = await alice.api.publishSkill({ name: 'opening', visibility: 'public' })
      const { entries } = await test.api().getFeed({ since: head })
      expect(entries.map(({ type, subject }) => `${type} ${subject}`)).toEqual([
        'version alice/opening@1.0.0',
        'version alice/opening@1.0.1',
        'skill alice/opening',
      ])
      expect(entries.at(-1)!.data).toMatchObject({ description: 'Said since.', latestVersion: '1.0.1' })
      const bytes = await bytesOf(await test.api().getBlob({ digest: skill.files[0]!.digest }))
      expect(bytes.toString()).toContain('Two.')
    })
  })
})
