import { beforeAll, describe, expect, it } from 'vitest'
import type { Input, endpoints } from '@skillstead/protocol'
import { createStub } from '../support/create-stub.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, fieldsOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { download, makeAgent, readSkill, reviewAsAgent, takeDown, verify } from '../support/reputation-acts.ts'

/** The settings of a well described skill; the description is in the file. */
const described = { license: 'MIT', category: 'testing' }
const description = 'Long enough to say what the skill is for, and when it is of use.'
type Publish = Partial<Input<(typeof endpoints)['publishSkill']>>

const publish = async (author: TestUser, name: string, settings: Publish = {}) =>
  (await author.api.publishSkill({ skillMd: skillMd(name, { description }), ...settings })).skill
const review = ({ api }: TestUser, { fullName }: { fullName: string }, rating: number) =>
  api.createReview({ name: fullName, rating, title: 'Tried it', body: '' })

describeApi('reputation', (open) => {
  let test: TestRegistry
  let fan: TestUser
  let critic: TestUser
  beforeAll(async () => {
    test = await open()
    fan = await test.makeUser('fan')
    critic = await test.makeUser('critic')
  })

  const reputationOf = ({ username }: { username: string }) => test.api().getReputation({ username })
  const moderate = (name: string, state: 'shown' | 'flagged' | 'hidden') =>
    test.admin.api.moderateSkill({ name, state, reason: 'Because.' })
  /** A new author with a public skill. */
  async function makeAuthor(name: string, settings: Publish = {}) {
    const author = await test.makeUser(name)
    return { author, skill: await publish(author, `${name}-skill`, settings) }
  }

  it('of an author without skills is all zeros', async () => {
    const newcomer = await test.makeUser('newcomer')
    expect(await reputationOf(newcomer)).toMatchObject({
      username: 'newcomer',
      score: 0,
      level: 'newcomer',
      components: { downloads: 0, stars: 0, reviews: 0, verification: 0, quality: 0, penalties: 0 },
      verified: [],
      badges: [],
      computedAt: '2026-01-02T12:00:00.000Z',
    })
    expect(await codeOf(reputationOf({ username: 'unknown-user' }))).toBe('not_found')
  })

  it('rises with stars, reviews, downloads and well-made skills, each shown as a component', async () => {
    const { author, skill } = await makeAuthor('riser', described)
    expect((await reputationOf(author)).components).toMatchObject({ quality: 40, stars: 0 })
    await fan.api.starSkill({ name: skill.fullName })
    await critic.api.starSkill({ name: skill.fullName })
    await review(fan, skill, 5)
    await reviewAsAgent(test, await makeAgent(test, 'test:riser-fan'), skill.fullName, 4.5, critic)
    await download(test, skill.id, 500)
    test.clock.advance(1000)
    await verify(test, author)
    expect(await reputationOf(author)).toMatchObject({
      score: 30 + 23 + 65 + 80 + 40,
      level: 'established',
      components: { downloads: 30, stars: 23, reviews: 65, verification: 80, quality: 40, penalties: 0 },
      verified: ['manual'],
      badges: [{ id: 'verified', title: 'Verified author' }, { id: 'published' }],
      computedAt: new Date(test.clock.now()).toISOString(),
    })
  })

  it('falls with removed stars, versions and verifications, which also remove their badges', async () => {
    const { author, skill } = await makeAuthor('loser')
    await fan.api.starSkill({ name: skill.fullName })
    await verify(test, author)
    expect((await reputationOf(author)).badges.map(({ id }) => id)).toEqual(['verified', 'published'])
    await fan.api.unstarSkill({ name: skill.fullName })
    expect((await reputationOf(author)).components.stars).toBe(0)
    await verify(test, author, false)
    expect(await reputationOf(author)).toMatchObject({ verified: [], components: { verification: 0 } })
    await author.api.yankVersion({ name: skill.fullName, version: '1.0.0' })
    expect(await reputationOf(author)).toMatchObject({ score: 0, badges: [], components: { quality: 0 } })
    await author.api.unyankVersion({ name: skill.fullName, version: '1.0.0' })
    expect((await reputationOf(author)).score).toBe(20)
    await author.api.deleteSkill({ name: skill.fullName })
    expect(await reputationOf(author)).toMatchObject({ score: 0, badges: [] })
  })

  it('keeps a badge with its date while the author meets its condition, and dates a regained badge again', async () => {
    const { author, skill } = await makeAuthor('badger')
    const since = async () => (await reputationOf(author)).badges.find(({ id }) => id === 'published')?.since
    const first = new Date(test.clock.now()).toISOString()
    test.clock.advance(60_000)
    await fan.api.starSkill({ name: skill.fullName })
    await publish(author, 'badger-more')
    expect(await since()).toBe(first)
    await publish(author, 'badger-skill', { visibility: 'private' })
    expect(await since()).toBe(first)
    await publish(author, 'badger-more', { visibility: 'private' })
    expect(await since()).toBeUndefined()
    test.clock.advance(60_000)
    await publish(author, 'badger-more', { visibility: 'public' })
    expect(await since()).toBe(new Date(test.clock.now()).toISOString())
  })

  describe('reputation of an author is not raised by', () => {
    it('stars and reviews by the author', async () => {
      const { author, skill } = await makeAuthor('vain')
      const before = await reputationOf(author)
      test.clock.advance(1000)
      expect(await author.api.starSkill({ name: skill.fullName })).toEqual({ starred: true, stars: 1 })
      await review(author, skill, 5)
      await review(author, skill, 4)
      expect(await reputationOf(author)).toEqual(before)
      expect(await author.api.unstarSkill({ name: skill.fullName })).toEqual({ starred: false, stars: 0 })
      expect(await reputationOf(author)).toEqual(before)
    })

    it('a star that is given twice', async () => {
      const { author, skill } = await makeAuthor('once')
      await fan.api.starSkill({ name: skill.fullName })
      const before = await reputationOf(author)
      await fan.api.starSkill({ name: skill.fullName })
      expect(await reputationOf(author)).toEqual(before)
    })

    it('reviews by agents without their token', async () => {
      const { author, skill } = await makeAuthor('tokenless')
      const before = await reputationOf(author)
      for (const agentKey of ['test:unknown', (await makeAgent(test, 'test:tokenless')).agentKey])
        await test.api().createAgentReview({ name: skill.fullName, agentKey, rating: 5, content: 'Great.' })
      expect(await reputationOf(author)).toEqual(before)
    })

    it("reviews by the author's own or unlinked agents, even if linked later", async () => {
      const { author, skill } = await makeAuthor('puppeteer')
      const { components: before } = await reputationOf(author)
      const puppet = await makeAgent(test, 'test:puppet')
      await reviewAsAgent(test, puppet, skill.fullName, 5)
      expect((await reputationOf(author)).components).toEqual(before)
      await reviewAsAgent(test, puppet, skill.fullName, 5, author)
      await reviewAsAgent(test, await makeAgent(test, 'test:puppet-too'), skill.fullName, 5, author)
      expect((await reputationOf(author)).components).toEqual(before)
    })

    it('several reviews by agents of one user, beyond the effect of a single review', async () => {
      const { author, skill } = await makeAuthor('herded')
      const reviews = async () => (await reputationOf(author)).components.reviews
      const agents = []
      for (const i of [0, 1, 2]) agents.push(await makeAgent(test, `test:herd-${i}`))
      for (const agent of agents) await reviewAsAgent(test, agent, skill.fullName, 5)
      expect(await reviews()).toBe(0)
      for (const agent of agents) await reviewAsAgent(test, agent, skill.fullName, 5, fan)
      expect(await reviews(), 'four points').toBe(42)
      await reviewAsAgent(test, agents[0]!, skill.fullName, 3.7, fan)
      expect(await reviews(), 'one point and four tenths').toBe(16)
      await reviewAsAgent(test, agents[0]!, skill.fullName, 5, fan)
      await reviewAsAgent(test, agents[2]!, skill.fullName, 1, fan)
      expect(await reviews(), 'the first of them counts').toBe(42)
      await review(fan, skill, 4)
      expect(await reviews(), 'and none where the user speaks').toBe(23)
    })

    it('private or internal skills, whose existence it does not reveal', async () => {
      const { author, skill } = await makeAuthor('discreet')
      const before = await reputationOf(author)
      test.clock.advance(1000)
      for (const visibility of ['private', 'internal'] as const) {
        const { id, fullName } = await publish(author, `${visibility}-one`, { ...described, visibility })
        await addCollaborator(test, author, { name: fullName, username: 'fan', role: 'read' })
        await fan.api.starSkill({ name: fullName })
        await download(test, id, 5000)
        await moderate(fullName, 'flagged')
        await moderate(fullName, 'hidden')
        await moderate(fullName, 'shown')
        await author.api.deleteSkill({ name: fullName })
      }
      expect(await reputationOf(author)).toEqual(before)
      await publish(author, skill.name, { visibility: 'private' })
      expect(await reputationOf(author)).toMatchObject({ score: 0, badges: [] })
      const { entries } = await test.api().getLeaderboard({ limit: 100 })
      expect(entries.map(({ username }) => username)).not.toContain('discreet')
    })

    it('contributions to a skill before it is public', async () => {
      const author = await test.makeUser('patient')
      const { fullName } = await publish(author, 'waiting', { visibility: 'private' })
      await addCollaborator(test, author, { name: fullName, username: 'fan', role: 'read' })
      await fan.api.starSkill({ name: fullName })
      expect((await reputationOf(author)).score).toBe(0)
      await publish(author, 'waiting', { visibility: 'public' })
      expect((await reputationOf(author)).components).toMatchObject({ stars: 12, quality: 20 })
    })

    it('stub skills, which have no content yet', async () => {
      const author = await test.makeUser('known-by-name')
      const { userId: id, username } = await test.registry.getCaller('known-by-name')
      const owner = { id, username }
      await createStub(test.registry, { owner, name: 'stub', description: 'S.', repository: '' })
      expect((await reputationOf(author)).score).toBe(0)
      await publish(author, 'stub')
      expect((await reputationOf(author)).score).toBe(20)
    })
  })

  it("moves with a skill to its new owner, except for the new owner's own stars and reviews", async () => {
    const { author, skill } = await makeAuthor('giver')
    const taker = await test.makeUser('taker')
    await fan.api.starSkill({ name: skill.fullName })
    await taker.api.starSkill({ name: skill.fullName })
    await author.api.starSkill({ name: skill.fullName })
    await review(taker, skill, 5)
    await download(test, skill.id, 500)
    expect((await reputationOf(author)).components).toMatchObject({ stars: 23, reviews: 42, downloads: 30 })
    await author.api.transferSkill({ name: skill.fullName, newOwner: 'taker' })
    expect((await reputationOf(taker)).score, 'an offer is no gift yet').toBe(0)
    await taker.api.acceptTransfer({ name: skill.fullName })
    expect(await reputationOf(author)).toMatchObject({ score: 0, badges: [] })
    // The star by the former owner now counts as another user's.
    expect((await reputationOf(taker)).components).toMatchObject({ stars: 23, reviews: 0, downloads: 30, quality: 20 })
  })

  it('has penalties for flagged, hidden and taken-down skills until they are resolved', async () => {
    const { author, skill } = await makeAuthor('sinner', described)
    await fan.api.starSkill({ name: skill.fullName })
    const { score } = await reputationOf(author)
    const row = await readSkill(test, skill.fullName)
    await moderate(skill.fullName, 'flagged')
    expect(await reputationOf(author)).toMatchObject({ score: score - 30, components: { penalties: -30, stars: 12 } })
    await moderate(skill.fullName, 'hidden')
    expect(await reputationOf(author)).toMatchObject({ score: 0, components: { penalties: -60, stars: 0, quality: 0 } })
    await takeDown(test, row, true)
    expect(await reputationOf(author)).toMatchObject({ score: 0, components: { penalties: -120, stars: 0 } })
    await takeDown(test, row, false)
    await moderate(skill.fullName, 'shown')
    expect(await reputationOf(author)).toMatchObject({ score, components: { penalties: 0, stars: 12 } })
  })

  it('is visible to guests, without account data', async () => {
    const keys = Object.keys(await reputationOf(fan))
    expect(keys.toSorted()).toEqual(
      ['username', 'score', 'level', 'rank', 'components', 'verified', 'badges', 'computedAt'].toSorted(),
    )
  })
})

describeApi('the leaderboard', (open) => {
  let test: TestRegistry
  const usernames = ['top', 'even-a', 'even-b', 'evena', 'low', 'gone']
  beforeAll(async () => {
    test = await open()
    const fans = []
    for (let i = 0; i < 3; i++) fans.push(await test.makeUser(`fan-${i}`))
    const starsOf: Record<string, number> = { top: 3, 'even-a': 2, 'even-b': 2, evena: 2, low: 0, gone: 3 }
    for (const username of usernames.toReversed()) {
      const author = await test.makeUser(username)
      if (username === 'top') await verify(test, author)
      const { skill } = await author.api.publishSkill({ skillMd: skillMd(`of-${username}`) })
      for (const { api } of fans.slice(0, starsOf[username])) await api.starSkill({ name: skill.fullName })
    }
    await test.admin.api.updateUser({ username: 'gone', disabled: true })
  })

  it('lists authors by score and name, with shared ranks, without disabled and inactive accounts', async () => {
    const board = await test.api().getLeaderboard({})
    expect(board.entries.map(({ username, rank }) => [rank, username])).toEqual([
      [1, 'top'],
      [2, 'even-a'],
      [2, 'even-b'],
      [2, 'evena'],
      [5, 'low'],
    ])
    expect(board).toMatchObject({ total: 5, page: 1, totalPages: 1 })
    expect(board.entries[0]).toMatchObject({ verified: ['manual'], badges: [{ id: 'verified' }, { id: 'published' }] })
    for (const entry of board.entries) {
      expect(await test.api().getReputation({ username: entry.username })).toEqual(entry)
    }
  })

  it('has correct ranks across pages of any size', async () => {
    const whole = await test.api().getLeaderboard({})
    for (const limit of [1, 2, 3, 4]) {
      const entries = []
      for (let page = 1; page <= Math.ceil(5 / limit); page++) {
        const part = await test.api().getLeaderboard({ limit, page })
        expect(part).toMatchObject({ total: 5, page, totalPages: Math.ceil(5 / limit) })
        entries.push(...part.entries)
      }
      expect(entries).toEqual(whole.entries)
    }
    expect(await test.api().getLeaderboard({ page: 9 })).toEqual({ entries: [], total: 5, page: 9, totalPages: 1 })
  })

  it('returns ten authors by default, and at most a hundred', async () => {
    expect(await fieldsOf(test.api().getLeaderboard({ limit: 101 }))).toEqual(['limit'])
    expect(await fieldsOf(test.api().getLeaderboard({ limit: 0 }))).toEqual(['limit'])
  })

  it('gives a disabled account a rank, without lowering the rank of other accounts', async () => {
    expect(await test.api().getReputation({ username: 'gone' })).toMatchObject({ rank: 2, score: 53 })
    expect(await test.api().getReputation({ username: 'fan-0' })).toMatchObject({ rank: 6, score: 0 })
  })
})
