import { limits } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, fieldsOf, refusalOf, skillMd } from '../support/answers.ts'
import { createStub } from '../support/create-stub.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const make = (user: TestUser, visibility: 'private' | 'public') =>
  user.api.createPack({ name: 'Covert', slug: 'covert', description: user.username, skills: [], visibility })

const publishClosing = (user: TestUser, visibility: 'public' | 'private') =>
  user.api.publishSkill({ skillMd: skillMd('closing', { body: visibility }), visibility })

const namesIn = async (slug: string, api: TestUser['api']) =>
  (await api.getPack({ slug })).skills.map(({ fullName }) => fullName)

const slugsWith = async (api: TestUser['api'], skill: string) =>
  (await api.listPacks({ skill })).packs.map(({ slug }) => slug).toSorted()

describeApi('packs', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    for (const name of ['one', 'two', 'three']) await alice.api.publishSkill({ skillMd: skillMd(name) })
    await alice.api.publishSkill({ skillMd: skillMd('two', { body: 'Newer.' }) })
  })

  it('are created with a slug made from their name, and keep their skills in the given order', async () => {
    const input = {
      name: 'My First Pack!',
      description: 'Chosen.',
      skills: ['two', { name: 'alice/one', version: '1.0.0', note: 'Start here.' }],
    }
    expect(await test.statusOf(bob, 'createPack', input)).toBe(201)
    const pack = await test.api().getPack({ slug: 'my-first-pack' })
    expect(pack).toMatchObject({
      slug: 'my-first-pack',
      name: 'My First Pack!',
      description: 'Chosen.',
      curator: { username: 'bob' },
      visibility: 'public',
      skillCount: 2,
      createdAt: '2026-01-02T12:00:00.000Z',
    })
    expect(
      pack.skills.map(({ fullName, pinnedVersion, note, latestVersion }) => ({
        fullName,
        pinnedVersion,
        note,
        latestVersion,
      })),
    ).toEqual([
      { fullName: 'alice/two', pinnedVersion: null, note: '', latestVersion: '1.0.1' },
      { fullName: 'alice/one', pinnedVersion: '1.0.0', note: 'Start here.', latestVersion: '1.0.0' },
    ])
    const listingCharacters = pack.skills.reduce(
      (sum, { name, description }) => sum + name.length + description.length,
      0,
    )
    expect(pack.budget).toEqual({ listingCharacters, fits: true })
  })

  it('can be filtered by a skill that they contain, if the caller may see the skill and the pack', async () => {
    await bob.api.createPack({ name: 'Threes', slug: 'threes', description: '', skills: ['alice/three'] })
    await alice.api.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
    const own = { name: 'Own', slug: 'own', description: '', visibility: 'private' } as const
    await alice.api.createPack({ ...own, skills: ['alice/three', 'alice/secret'] })
    expect(await slugsWith(test.api(), 'alice/three')).toEqual(['threes'])
    expect(await slugsWith(alice.api, 'three')).toEqual(['own', 'threes'])
    expect(await slugsWith(alice.api, 'alice/secret')).toEqual(['own'])
    expect(await test.api().listPacks({ skill: 'alice/three', curator: 'alice' })).toMatchObject({ total: 0 })
    for (const skill of ['alice/secret', 'alice/never'])
      expect(await codeOf(test.api().listPacks({ skill })), skill).toBe('not_found')
    await bob.api.deletePack({ slug: 'threes' })
    await alice.api.deletePack({ slug: 'own' })
    expect(await slugsWith(alice.api, 'three')).toEqual([])
  })

  it("can be empty, and show whether the names and descriptions of their skills fit into a client's limit", async () => {
    const empty = await bob.api.createPack({ name: 'Empty', description: '', skills: [] })
    expect(empty).toMatchObject({ skills: [], skillCount: 0, budget: { listingCharacters: 0, fits: true } })
    for (const name of ['wide-a', 'wide-b']) {
      await alice.api.publishSkill({ skillMd: skillMd(name, { description: 'w'.repeat(4000) }) })
    }
    const wide = await bob.api.createPack({ name: 'Wide', description: '', skills: ['wide-a', 'wide-b'] })
    expect(wide.budget).toEqual({ listingCharacters: 8012, fits: false })
  })

  it('are refused if their curator may not see a skill, and the error names each such skill', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('kept'), visibility: 'private' })
    const skills = [
      'one',
      'nowhere',
      'alice/kept',
      { name: 'two', version: '9.9.9' },
      'alice/one',
      { name: 'three', version: 'x' },
    ]
    const refusal = await refusalOf(bob.api.createPack({ name: 'Refused', description: '', skills }))
    expect(refusal.code).toBe('invalid_request')
    expect(refusal.errors.map(({ path }) => path)).toEqual(['skills.1', 'skills.2', 'skills.3', 'skills.4', 'skills.5'])
    for (const name of ['nowhere', 'alice/kept', '9.9.9']) expect(refusal.message).toContain(name)
    expect(await codeOf(test.api().getPack({ slug: 'refused' }))).toBe('not_found')
  })

  it('are refused with the present or past slug of another pack, and with a name that gives no slug', async () => {
    await bob.api.createPack({ name: 'Taken', description: '', skills: [] })
    expect(await codeOf(alice.api.createPack({ name: 'taken', description: '', skills: [] }))).toBe('name_taken')
    await bob.api.deletePack({ slug: 'taken' })
    expect(await codeOf(alice.api.createPack({ name: 'Taken', description: '', skills: [] }))).toBe('name_taken')
    expect(await fieldsOf(alice.api.createPack({ name: '中文', description: '', skills: [] }))).toEqual(['slug'])
    expect(
      await fieldsOf(alice.api.createPack({ name: 'x', slug: 'Not A Slug', description: '', skills: [] })),
    ).toEqual(['slug'])
  })

  it('are created with a warning if Claude Code reserves the name of their marketplace', async () => {
    for (const slug of ['agent-skills', 'claude-plugins-official']) {
      const { warnings } = await alice.api.createPack({ name: 'Reserved', slug, description: '', skills: [] })
      expect(warnings).toEqual([{ code: 'reserved_marketplace', message: expect.stringContaining(`'${slug}'`) }])
    }
    const { warnings } = await alice.api.createPack({ name: 'Agent skills too', description: '', skills: [] })
    expect(warnings).toBeUndefined()
  })

  it('can gain and lose single skills, and keep the order, versions and notes of all other skills', async () => {
    const slug = 'single'
    const first = { name: 'alice/one', version: '1.0.0', note: 'Start here.' }
    await bob.api.createPack({ name: 'Single', slug, description: '', skills: [first, 'two'] })
    const read = async () =>
      (await test.api().getPack({ slug })).skills.map(({ fullName, pinnedVersion, note }) => [
        fullName,
        pinnedVersion,
        note,
      ])
    await Promise.all([
      bob.api.updatePack({ slug, add: ['three'] }),
      bob.api.updatePack({ slug, add: [{ name: 'one', note: 'Begin.' }], remove: ['alice/wide-a'] }),
      bob.api.updatePack({ slug, remove: ['alice/two'] }),
    ])
    expect(await read()).toEqual([
      ['alice/one', '1.0.0', 'Begin.'],
      ['alice/three', null, ''],
    ])
    await bob.api.updatePack({ slug, add: [{ name: 'two', version: '1.0.1' }, 'one'], remove: ['alice/three'] })
    expect(await read()).toEqual([
      ['alice/one', '1.0.0', 'Begin.'],
      ['alice/two', '1.0.1', ''],
    ])
    expect(await fieldsOf(bob.api.updatePack({ slug, add: ['one', 'nowhere', 'alice/one'] }))).toEqual([
      'add.1',
      'add.2',
    ])
    await bob.api.updatePack({ slug, remove: ['nowhere', 'two', 'bob/two'] })
    expect(await fieldsOf(bob.api.updatePack({ slug, skills: ['one'], remove: ['two'] }))).toEqual(['skills'])
    expect(await codeOf(alice.api.updatePack({ slug, add: ['three'] }))).toBe('forbidden')
    expect(await read()).toHaveLength(2)
  })

  it('keep the skills that the user who changes the pack cannot see', async () => {
    await publishClosing(bob, 'public')
    const carol = await test.makeUser('carol')
    await carol.api.createOrganisation({ name: 'readers' })
    await carol.api.publishSkill({ skillMd: skillMd('inner'), owner: 'readers', visibility: 'private' })
    await carol.api.createPack({
      name: 'Ours',
      slug: 'ours',
      description: '',
      owner: 'readers',
      skills: ['bob/closing'],
    })
    await publishClosing(bob, 'private')
    await carol.api.updatePack({ slug: 'ours', skills: ['two', 'readers/inner'] })
    await carol.api.updatePack({ slug: 'ours', add: ['one'] })
    expect(await namesIn('ours', carol.api)).toEqual(['alice/two', 'readers/inner', 'alice/one'])
    await carol.api.updatePack({ slug: 'ours', skills: [] })
    await publishClosing(bob, 'public')
    expect(await namesIn('ours', test.api())).toEqual(['bob/closing'])
    await publishClosing(bob, 'private')
    await carol.api.updatePack({ slug: 'ours', remove: ['bob/closing', 'bob/unknown'] })
    await publishClosing(bob, 'public')
    expect(await namesIn('ours', test.api())).toEqual([])
  })

  it('have at most 500 skills, including skills that are added later', async () => {
    const slug = 'full'
    const names = Array.from({ length: limits.packSkillsMax }, (_, i) => `filling-${i}`)
    const owner = { id: (await test.registry.getCaller('alice')).userId, username: 'alice' }
    for (const name of names) await createStub(test.registry, { owner, name, description: 'Fills.', repository: '' })
    await bob.api.createPack({ name: 'Full', slug, description: '', skills: names.map((name) => `alice/${name}`) })
    expect(await fieldsOf(bob.api.updatePack({ slug, add: ['one'] }))).toEqual(['add'])
    const pack = await bob.api.updatePack({ slug, add: ['one'], remove: ['alice/filling-7'] })
    expect(pack.skillCount).toBe(limits.packSkillsMax)
  })

  it('are changed only by their curator', async () => {
    await bob.api.createPack({ name: 'Changing', description: 'Before.', skills: ['one'] })
    expect(await codeOf(test.api().updatePack({ slug: 'changing', name: 'x' }))).toBe('unauthorized')
    expect(await codeOf(alice.api.updatePack({ slug: 'changing', name: 'x' }))).toBe('forbidden')
    expect(await codeOf(alice.api.deletePack({ slug: 'changing' }))).toBe('forbidden')
    expect(await codeOf(bob.api.updatePack({ slug: 'changing', skills: ['nowhere'] }))).toBe('invalid_request')
    test.clock.advance(1000)
    await bob.api.updatePack({ slug: 'changing', description: 'After.' })
    const pack = await test.api().getPack({ slug: 'changing' })
    expect(pack).toMatchObject({
      name: 'Changing',
      description: 'After.',
      skillCount: 1,
      updatedAt: '2026-01-02T12:00:01.000Z',
    })
    await bob.api.updatePack({ slug: 'changing', skills: [] })
    expect((await test.api().getPack({ slug: 'changing' })).skills).toEqual([])
    expect(await test.statusOf(bob, 'deletePack', { slug: 'changing' })).toBe(204)
    expect(await codeOf(bob.api.getPack({ slug: 'changing' }))).toBe('not_found')
  })

  it('are listed newest first, in pages, and can be filtered by search words', async () => {
    for (const name of ['Garden one', 'Garden two', 'Garden three']) {
      test.clock.advance(1000)
      await bob.api.createPack({ name, description: 'For 100% of _gardeners_.', skills: [] })
    }
    const first = await test.api().listPacks({ q: 'garden', limit: 2 })
    expect(first.packs.map(({ slug }) => slug)).toEqual(['garden-three', 'garden-two'])
    expect(first).toMatchObject({ total: 3, page: 1, totalPages: 2 })
    expect((await test.api().listPacks({ q: 'GARDEN two' })).packs.map(({ slug }) => slug)).toEqual(['garden-two'])
    expect((await test.api().listPacks({ q: '100% _gardeners_' })).total).toBe(3)
    expect(await test.api().listPacks({ q: '%garden%' })).toEqual({ packs: [], total: 0, page: 1, totalPages: 0 })
    expect(await test.api().listPacks({ q: 'garden', page: 9 })).toMatchObject({ packs: [], total: 3 })
    expect(await fieldsOf(test.api().listPacks({ limit: 101 }))).toEqual(['limit'])
  })

  it('are visible only to permitted callers if they are private or internal', async () => {
    await bob.api.createPack({ name: 'Mine only', description: '', skills: ['one'], visibility: 'private' })
    await bob.api.createPack({ name: 'Ours only', description: '', skills: ['one'], visibility: 'internal' })
    const seen = async (user?: TestUser) =>
      (await (user?.api ?? test.api()).listPacks({ q: 'only' })).packs.map(({ slug }) => slug)
    expect(await seen()).toEqual([])
    expect(await seen(alice)).toEqual(['ours-only'])
    expect(await seen(bob)).toEqual(['mine-only', 'ours-only'])
    expect(await codeOf(alice.api.getPack({ slug: 'mine-only' }))).toBe('not_found')
    expect(await codeOf(alice.api.updatePack({ slug: 'mine-only', name: 'x' }))).toBe('not_found')
    expect(await codeOf(test.api().getPack({ slug: 'ours-only' }))).toBe('not_found')
  })

  it('do not reserve their slug while private, so that other users cannot detect private packs', async () => {
    expect(await make(alice, 'private')).toMatchObject({ slug: 'covert' })
    expect(await codeOf(make(alice, 'private'))).toBe('name_taken')
    expect(await codeOf(test.api().getPack({ slug: 'covert' }))).toBe('not_found')
    expect(await codeOf(bob.api.updatePack({ slug: 'covert', name: 'X' }))).toBe('not_found')
    expect(await codeOf(bob.api.deletePack({ slug: 'covert' }))).toBe('not_found')
    expect(await make(bob, 'public')).toMatchObject({ slug: 'covert' })
    expect((await test.api().getPack({ slug: 'covert' })).description).toBe('bob')
    expect((await alice.api.getPack({ slug: 'covert' })).description).toBe('alice')
    expect((await alice.api.listPacks({ q: 'covert' })).packs.map(({ slug }) => slug)).toEqual(['covert', 'covert'])
    expect(await codeOf(alice.api.updatePack({ slug: 'covert', visibility: 'public' }))).toBe('name_taken')
    // After it was visible, everyone knows that it existed.
    await bob.api.updatePack({ slug: 'covert', visibility: 'private' })
    expect(await codeOf(test.api().getPack({ slug: 'covert' }))).toBe('not_found')
    expect(await codeOf(make(await test.makeUser(), 'public'))).toBe('name_taken')
    await alice.api.createPack({ name: 'Later', description: '', skills: [], visibility: 'private' })
    expect(await alice.api.updatePack({ slug: 'later', visibility: 'internal' })).toMatchObject({ slug: 'later' })
    expect((await bob.api.getPack({ slug: 'later' })).visibility).toBe('internal')
  })

  it('can be created only by signed-in callers', async () => {
    expect(await codeOf(test.api().createPack({ name: 'Guest', description: '', skills: [] }))).toBe('unauthorized')
  })

  it('keep a transferred skill under its new name, and lose a deleted skill', async () => {
    for (const name of ['moving', 'going']) await alice.api.publishSkill({ skillMd: skillMd(name) })
    await bob.api.createPack({ name: 'Followed', description: '', skills: ['moving', 'going'] })
    await alice.api.transferSkill({ name: 'moving', newOwner: 'bob' })
    await bob.api.acceptTransfer({ name: 'alice/moving' })
    await alice.api.deleteSkill({ name: 'going' })
    const pack = await test.api().getPack({ slug: 'followed' })
    expect(pack.skills.map(({ fullName }) => fullName)).toEqual(['bob/moving'])
    const updated = await bob.api.updatePack({ slug: 'followed', skills: ['alice/moving'] })
    expect(updated.skills.map(({ fullName }) => fullName)).toEqual(['bob/moving'])
  })

  const since = async () => (await test.api().getFeed()).head

  describe('entries of packs in the feed', () => {
    it('are written once per change, with only the public skills of the pack', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('unlisted'), visibility: 'private' })
      const head = await since()
      await alice.api.createPack({ name: 'Fed', description: 'D.', skills: ['one', 'alice/unlisted'] })
      await alice.api.updatePack({ slug: 'fed', name: 'Fed up' })
      await alice.api.deletePack({ slug: 'fed' })
      const { entries } = await test.api().getFeed({ since: head })
      expect(entries.map(({ type, subject }) => `${type} ${subject}`)).toEqual(['pack fed', 'pack fed', 'pack fed'])
      expect(entries[0]!.data).toMatchObject({
        withdrawn: false,
        name: 'Fed',
        description: 'D.',
        curator: { username: 'alice' },
        skills: [
          {
            fullName: 'alice/one',
            pinnedVersion: null,
            note: '',
          },
        ],
      })
      expect(entries[2]!.data).toMatchObject({ withdrawn: true })
      expect(JSON.stringify(entries)).not.toContain('unlisted')
    })

    it('begin when a pack becomes public, and end with a withdrawal when it becomes private', async () => {
      const head = await since()
      await alice.api.createPack({ name: 'Turning', description: '', skills: [], visibility: 'private' })
      await alice.api.updatePack({ slug: 'turning', name: 'Turning still' })
      expect(await since()).toBe(head)
      await alice.api.updatePack({ slug: 'turning', visibility: 'public' })
      await alice.api.updatePack({ slug: 'turning', visibility: 'internal' })
      await alice.api.deletePack({ slug: 'turning' })
      const { entries } = await test.api().getFeed({ since: head })
      expect(entries.map(({ data }) => data.withdrawn)).toEqual([false, true])
    })
  })
})
