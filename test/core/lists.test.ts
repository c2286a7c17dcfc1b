import { partsOf } from '@skillstead/core/internal'
import { beforeAll, expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const namesOf = ({ skills }: { skills: { fullName: string }[] }) => skills.map(({ fullName }) => fullName)

const packsOf = async ({ api }: TestUser) => (await api.listPacks({ curator: 'alice' })).packs.map(({ slug }) => slug)

describeApi("lists of skills and of the caller's own data", (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    for (const name of ['tool', 'other', 'secret']) {
      const visibility = name === 'secret' ? 'private' : 'public'
      await alice.api.publishSkill({ skillMd: skillMd(name), visibility })
      test.clock.advance(1000)
    }
  })

  it('forks of a skill are listed newest first to callers who may see them', async () => {
    await bob.api.forkSkill({ name: 'alice/tool', newName: 'first' })
    test.clock.advance(1000)
    await bob.api.forkSkill({ name: 'alice/tool', newName: 'second' })
    test.clock.advance(1000)
    await bob.api.forkSkill({ name: 'alice/tool', newName: 'hush' })
    await bob.api.publishSkill({ name: 'bob/hush', visibility: 'private' })
    await test.admin.api.forkSkill({ name: 'bob/first', newName: 'of-a-fork' })
    expect(namesOf(await test.api().listForks({ name: 'tool' }))).toEqual(['bob/second', 'bob/first'])
    const mine = await bob.api.listForks({ name: 'tool', limit: 2 })
    expect(mine).toMatchObject({ total: 3, page: 1, totalPages: 2 })
    expect(namesOf(mine)).toEqual(['bob/hush', 'bob/second'])
    expect(namesOf(await bob.api.listForks({ name: 'tool', limit: 2, page: 2 }))).toEqual(['bob/first'])
    expect(await test.api().listForks({ name: 'other' })).toEqual({ skills: [], total: 0, page: 1, totalPages: 0 })
    expect(await codeOf(test.api().listForks({ name: 'alice/secret' }))).toBe('not_found')
  })

  it('forks are still found after their source was transferred', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('moving') })
    await bob.api.forkSkill({ name: 'alice/moving' })
    await alice.api.transferSkill({ name: 'alice/moving', newOwner: 'root' })
    await test.admin.api.acceptTransfer({ name: 'alice/moving' })
    expect(namesOf(await test.api().listForks({ name: 'root/moving' }))).toEqual(['bob/moving'])
  })

  it('a user can read their star for one skill, and list their stars of visible skills, newest first', async () => {
    expect(await bob.api.getStar({ name: 'tool' })).toEqual({ starred: false, stars: 0 })
    await bob.api.starSkill({ name: 'tool' })
    test.clock.advance(1000)
    await bob.api.starSkill({ name: 'other' })
    expect(await bob.api.getStar({ name: 'tool' })).toEqual({ starred: true, stars: 1 })
    expect(await alice.api.getStar({ name: 'tool' })).toEqual({ starred: false, stars: 1 })
    expect(namesOf(await bob.api.listStars())).toEqual(['alice/other', 'alice/tool'])
    expect((await alice.api.listStars()).total).toBe(0)
    await alice.api.publishSkill({ name: 'alice/other', visibility: 'private' })
    expect(namesOf(await bob.api.listStars())).toEqual(['alice/tool'])
    await alice.api.publishSkill({ name: 'alice/other', visibility: 'public' })
    expect(await codeOf(bob.api.getStar({ name: 'alice/secret' }))).toBe('not_found')
    expect(await codeOf(test.api().listStars())).toBe('unauthorized')
  })

  it("the caller's own skills are all listed, in any state but deleted", async () => {
    const carol = await test.makeUser('carol')
    for (const name of ['plain', 'private', 'yanked', 'recalled', 'both', 'hidden', 'flagged', 'deleted']) {
      await carol.api.publishSkill({ skillMd: skillMd(name), visibility: name === 'private' ? 'private' : 'public' })
      test.clock.advance(1000)
    }
    const reason = 'It deletes files.'
    for (const name of ['yanked', 'both']) await carol.api.yankVersion({ name: `carol/${name}`, version: '1.0.0' })
    for (const name of ['recalled', 'both'])
      await carol.api.recallSkill({ name: `carol/${name}`, range: '1.x', reason })
    for (const name of ['plain', 'yanked']) await carol.api.recallSkill({ name: `carol/${name}`, range: '2.x', reason })
    await test.admin.api.moderateSkill({ name: 'carol/hidden', state: 'hidden', reason: 'Spam.' })
    test.clock.advance(1000)
    await test.admin.api.moderateSkill({ name: 'carol/flagged', state: 'flagged', reason: 'Look twice.' })
    await carol.api.deleteSkill({ name: 'carol/deleted' })
    const { skills, total } = await carol.api.listOwnSkills()
    const shown = skills.map(({ fullName, state, visibility, flagged }) => [fullName, state, visibility, flagged])
    expect(shown.toSorted()).toEqual([
      ['carol/both', 'recalled', 'public', false],
      ['carol/flagged', 'published', 'public', true],
      ['carol/hidden', 'hidden', 'public', false],
      ['carol/plain', 'published', 'public', false],
      ['carol/private', 'published', 'private', false],
      ['carol/recalled', 'recalled', 'public', false],
      ['carol/yanked', 'yanked', 'public', false],
    ])
    expect(total).toBe(7)
    const times = skills.map(({ updatedAt }) => updatedAt)
    expect(times).toEqual(times.toSorted().toReversed())
    expect((await carol.api.listOwnSkills({ limit: 2, page: 4 })).skills).toHaveLength(1)
    expect((await test.admin.api.listOwnSkills()).skills.map(({ fullName }) => fullName)).not.toContain('carol/private')
    expect(await codeOf(test.api().listOwnSkills())).toBe('unauthorized')
  })

  it('flagged and hidden skills are listed only for administrators, latest decision first', async () => {
    const all = await test.admin.api.listModerated()
    expect(all.skills.map(({ fullName, state, reason }) => [fullName, state, reason])).toEqual([
      ['carol/flagged', 'flagged', 'Look twice.'],
      ['carol/hidden', 'hidden', 'Spam.'],
    ])
    expect((await test.admin.api.listModerated({ state: 'hidden' })).total).toBe(1)
    expect(await codeOf(alice.api.listModerated())).toBe('forbidden')
  })

  it('a user can read whether they follow another user', async () => {
    expect(await bob.api.getFollow({ username: 'alice' })).toEqual({ following: false, followers: 0 })
    await bob.api.followUser({ username: 'alice' })
    expect(await bob.api.getFollow({ username: 'alice' })).toEqual({ following: true, followers: 1 })
    expect(await alice.api.getFollow({ username: 'alice' })).toEqual({ following: false, followers: 1 })
    expect(await codeOf(bob.api.getFollow({ username: 'unknown-user' }))).toBe('not_found')
  })

  it('votes of a user are listed newest first until the user withdraws them', async () => {
    const ask = async (title: string) => (await alice.api.createRequest({ title, description: '' })).id
    const [first, second] = [await ask('First'), await ask('Second')]
    for (const id of [second, first]) {
      await bob.api.voteForRequest({ id })
      test.clock.advance(1000)
    }
    const { requests, total } = await bob.api.listVotes()
    expect([requests.map(({ title }) => title), total]).toEqual([['First', 'Second'], 2])
    await bob.api.withdrawRequestVote({ id: first })
    expect((await bob.api.listVotes()).requests.map(({ votes }) => votes)).toEqual([1])
    expect((await alice.api.listVotes()).total).toBe(0)
  })

  it('packs can be filtered by curator, and only the curator sees private packs', async () => {
    await alice.api.createPack({ name: 'Open', description: '', skills: [] })
    await alice.api.createPack({ name: 'Closed', description: '', skills: [], visibility: 'private' })
    await bob.api.createPack({ name: 'His', description: '', skills: [] })
    expect((await packsOf(alice)).toSorted()).toEqual(['closed', 'open'])
    expect(await packsOf(bob)).toEqual(['open'])
    expect((await bob.api.listPacks({ curator: 'unknown-user' })).total).toBe(0)
  })

  it('the list of users can be limited to registered users or to imported authors', async () => {
    await partsOf(test.registry).database.writer.write(async (trx) => {
      const row = { id: '00000000-0000-7000-8000-00000000000a', username: 'imported', display_name: 'imported' }
      const rest = { plan: 'free', role: 'user', disabled: 0, claimed: 0, created_at: 0 } as const
      await trx
        .insertInto('users')
        .values({ ...row, ...rest })
        .execute()
    })
    const find = async (claimed?: boolean) =>
      (await test.admin.api.listUsers({ claimed })).users.map((user) => user.username)
    expect(await find(false)).toEqual(['imported'])
    expect(await find(true)).toEqual(['alice', 'bob', 'carol', 'root'])
    expect(await find()).toHaveLength(5)
  })

  it('reports of copies include the names of both skills', async () => {
    const { id } = await test.api().getSkill({ name: 'alice/tool' })
    await alice.api.reportCopy({ name: 'bob/first', originalSkillId: id, evidence: 'It is mine.' })
    const { copyReports } = await test.admin.api.listCopyReports({ status: 'open' })
    const names = { skill: { fullName: 'bob/first' }, original: { fullName: 'alice/tool' } }
    expect(copyReports).toMatchObject([{ evidence: 'It is mine.', ...names }])
    expect((await test.admin.api.listCopyReports({ status: 'confirmed' })).total).toBe(0)
  })
})
