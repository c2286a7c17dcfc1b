import { guest, localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { beforeAll, describe, expect, it } from 'vitest'
import { pointUnits } from '../../packages/core/src/community/badges.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, fieldsOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const forged = `sat_${'A'.repeat(43)}`

const toVote = (name: string, id: string, agentKey: string) => ({ name, id, agentKey })
const toInput = (name: string, agentKey: string, rating = 4) => ({ name, agentKey, rating, content: 'Good enough.' })

describeApi('reviews by agents', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    await publish('tool')
  })

  const publish = (name: string, visibility: 'public' | 'internal' | 'private' = 'public') =>
    alice.api.publishSkill({ skillMd: skillMd(name), visibility })
  const register = async (agentKey: string) => {
    const platformId = agentKey.slice(0, agentKey.indexOf(':'))
    return (await test.api().registerAgent({ agentKey, displayName: agentKey, platformId })).agentToken!
  }
  /** An agent that is linked to a user, and its token. */
  const registerFor = async (user: TestUser, agentKey: string) => {
    const agentToken = await register(agentKey)
    const input = { agentKey, displayName: agentKey, platformId: agentKey.slice(0, agentKey.indexOf(':')) }
    await test.apiWith({ agentToken }, user).registerAgent(input)
    return agentToken
  }
  /** Publishes a skill, unless it exists, and returns the id of an agent's review of it. */
  const makeReview = async (name: string, agentKey: string, agentToken?: string) => {
    await publish(name)
    return (await test.apiWith({ agentToken }).createAgentReview(toInput(name, agentKey))).id
  }
  const list = async (name: string, user?: TestUser) =>
    (await (user?.api ?? test.api()).listAgentReviews({ name, limit: 100 })).reviews
  const setState = (fullName: string, state: 'live' | 'hidden' | 'taken_down') =>
    partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('skills').set({ state }).where('full_name', '=', fullName).execute()
    })
  /** The contribution of a skill's reviews to the standing of its owner. */
  const creditOf = async (fullName: string) => {
    const row = await partsOf(test.registry)
      .database.read.selectFrom('skills')
      .select(['credited_reviews', 'credited_points'])
      .where('full_name', '=', fullName)
      .executeTakeFirstOrThrow()
    return [row.credited_reviews, row.credited_points / pointUnits]
  }
  const countersOf = async (agentKey: string) => {
    const row = await partsOf(test.registry)
      .database.read.selectFrom('agents')
      .selectAll()
      .where('agent_key', '=', agentKey)
      .executeTakeFirstOrThrow()
    return { reviews: row.review_count, authenticated: row.authenticated_review_count, helpful: row.helpful_count }
  }

  describe('the review of a skill by an agent', () => {
    it('registers an unknown agent the first time, and returns its token once', async () => {
      const input = { name: 'tool', agentKey: 'codex:new', rating: 4.5, content: 'Saves time.' }
      const { agentToken, ...review } = await test.api().createAgentReview(input)
      expect(agentToken).toMatch(/^sat_[\w-]{43}$/)
      expect(review).toEqual({
        id: expect.any(String),
        agentKey: 'codex:new',
        displayName: 'codex:new',
        platformId: 'codex',
        rating: 4.5,
        content: 'Saves time.',
        authenticated: false,
        helpfulCount: 0,
        version: '1.0.0',
        createdAt: '2026-01-02T12:00:00.000Z',
        updatedAt: '2026-01-02T12:00:00.000Z',
      })
      const agent = await test.api().getAgent({ agentKey: 'codex:new' })
      expect(agent).toMatchObject({ displayName: 'codex:new', platformId: 'codex', reviewCount: 1, trustScore: 1 })
      expect(agent.activity.map(({ type, skill, detail }) => [type, skill, detail])).toEqual([
        ['reviewed', 'alice/tool', 'Gave 4.5 stars for version 1.0.0'],
        ['registered', undefined, 'Registered'],
      ])
      const shown = [
        await test.api().createAgentReview(input),
        await test.apiWith({ agentToken }).createAgentReview(input),
        await test.api().listAgentReviews({ name: 'tool' }),
        await test.api().listAgents(),
        agent,
      ]
      for (const answer of shown) expect(JSON.stringify(answer)).not.toContain('sat_')
    })

    it('is changed by a second request of the same agent, and keeps its id, date and votes', async () => {
      const input = toInput('tool', 'codex:again', 2)
      expect(await test.statusOf(undefined, 'createAgentReview', input)).toBe(201)
      const first = (await list('tool')).find(({ agentKey }) => agentKey === 'codex:again')!
      await test.api().markAgentReviewHelpful({ name: 'tool', id: first.id, agentKey: 'codex:voter' })
      test.clock.advance(1000)
      await alice.api.publishSkill({ skillMd: skillMd('tool', { body: 'Better.' }) })
      expect(await test.statusOf(undefined, 'createAgentReview', { ...input, rating: 5, content: 'Improved.' })).toBe(
        200,
      )
      const reviews = (await list('tool')).filter(({ agentKey }) => agentKey === 'codex:again')
      expect(reviews).toEqual([
        {
          ...first,
          rating: 5,
          content: 'Improved.',
          version: '1.0.1',
          helpfulCount: 1,
          updatedAt: new Date(test.clock.now()).toISOString(),
        },
      ])
      expect(reviews[0]!.updatedAt).not.toBe(first.createdAt)
      const { activity, reviewCount } = await test.api().getAgent({ agentKey: 'codex:again' })
      expect(reviewCount).toBe(1)
      expect(activity[0]!.detail).toBe('Changed its review to 5 stars for version 1.0.1')
    })

    it('is created once, with one agent and one token, by two concurrent requests', async () => {
      await publish('torn')
      const answers = await Promise.all(
        [1, 2, 3].map((n) => test.api().createAgentReview(toInput('torn', 'codex:torn', n))),
      )
      expect(answers.filter(({ agentToken }) => agentToken !== undefined)).toHaveLength(1)
      expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
      expect(await list('torn')).toHaveLength(1)
      expect(await countersOf('codex:torn')).toEqual({ reviews: 1, authenticated: 0, helpful: 0 })
    })

    it('registers the agent once if it reviews two skills concurrently', async () => {
      await publish('left')
      await publish('right')
      const answers = await Promise.all(
        ['left', 'right'].map((name) => test.api().createAgentReview(toInput(name, 'codex:both'))),
      )
      expect(answers.filter(({ agentToken }) => agentToken !== undefined)).toHaveLength(1)
      expect(await countersOf('codex:both')).toEqual({ reviews: 2, authenticated: 0, helpful: 0 })
    })
  })

  describe("a review with the agent's token", () => {
    it('can be changed only with the token of the agent', async () => {
      await publish('proven')
      const agentToken = await register('codex:proven')
      const other = await register('codex:other')
      const input = toInput('proven', 'codex:proven', 5)
      expect(await test.apiWith({ agentToken }).createAgentReview(input)).toMatchObject({ authenticated: true })
      const before = await list('proven')
      test.clock.advance(1000)
      for (const token of [undefined, forged, other]) {
        const call = test.apiWith({ agentToken: token }).createAgentReview({ ...input, rating: 1 })
        expect(await codeOf(call)).toBe('forbidden')
      }
      expect(await list('proven')).toEqual(before)
      expect(await countersOf('codex:proven')).toEqual({ reviews: 1, authenticated: 1, helpful: 0 })
      const after = await test.apiWith({ agentToken }).createAgentReview({ ...input, rating: 3 })
      expect(after).toMatchObject({ rating: 3, authenticated: true })
      expect(after).not.toHaveProperty('agentToken')
      expect(await countersOf('codex:proven')).toEqual({ reviews: 1, authenticated: 1, helpful: 0 })
    })

    it('makes the token required for all later reviews by the agent', async () => {
      await publish('first-proven')
      const agentToken = await register('codex:careful')
      const input = { agentKey: 'codex:careful', displayName: 'Careful', platformId: 'codex' }
      await test.api().createAgentReview(toInput('first-proven', 'codex:careful'))
      await test.apiWith({ agentToken }).registerAgent(input)
      for (const token of [undefined, forged])
        expect(
          await codeOf(test.apiWith({ agentToken: token }).createAgentReview(toInput('first-proven', 'codex:careful'))),
        ).toBe('forbidden')
      expect(await list('first-proven')).toMatchObject([{ authenticated: false }])
      expect(
        await test.apiWith({ agentToken }).createAgentReview(toInput('first-proven', 'codex:careful')),
      ).toMatchObject({ authenticated: true })
    })

    it('becomes authenticated if the agent changes an earlier review without a token', async () => {
      await publish('claimed')
      const { agentToken, id } = await test.api().createAgentReview(toInput('claimed', 'codex:claimed', 1))
      await test.api().createAgentReview(toInput('claimed', 'codex:claimed', 2))
      const proven = await test.apiWith({ agentToken }).createAgentReview(toInput('claimed', 'codex:claimed', 5))
      expect(proven).toMatchObject({ id, rating: 5, authenticated: true })
      expect(await codeOf(test.api().createAgentReview(toInput('claimed', 'codex:claimed', 1)))).toBe('forbidden')
      expect(await countersOf('codex:claimed')).toEqual({ reviews: 1, authenticated: 1, helpful: 0 })
      expect((await test.api().getAgent({ agentKey: 'codex:claimed' })).trustScore).toBeGreaterThan(15)
    })

    it('is rejected if the token is wrong, and registers no agent', async () => {
      const other = await register('codex:lender')
      for (const agentToken of [forged, other, 'x']) {
        const call = test.apiWith({ agentToken }).createAgentReview(toInput('tool', 'codex:unknown'))
        expect(await codeOf(call)).toBe('forbidden')
      }
      expect(await codeOf(test.api().getAgent({ agentKey: 'codex:unknown' }))).toBe('not_found')
      expect((await list('tool')).map(({ agentKey }) => agentKey)).not.toContain('codex:unknown')
    })
  })

  describe('a review', () => {
    it.each([0, 0.5, 5.5, 6, -1, 0.999, 5.001, 1e300, Number.NaN, Number.POSITIVE_INFINITY, '4', null, [4]])(
      'with the rating %j is rejected without any effect',
      async (rating) => {
        const input = { ...toInput('tool', 'codex:odd'), rating: rating as number }
        expect(new Set(await fieldsOf(test.api().createAgentReview(input)))).toEqual(new Set(['rating']))
        expect(await codeOf(test.api().getAgent({ agentKey: 'codex:odd' }))).toBe('not_found')
      },
    )

    it.each([
      ['content', { content: '' }],
      ['content', { content: 'x'.repeat(4001) }],
      ['content', { content: 'a\0b' }],
      ['content', { content: undefined }],
      ['agentKey', { agentKey: 'no-colon' }],
      ['agentKey', { agentKey: 'Cod/ex:odd' }],
      ['agentKey', { agentKey: undefined }],
      ['authenticated', { authenticated: true }],
      ['helpfulCount', { helpfulCount: 9 }],
      ['agentToken', { agentToken: forged }],
    ])('with an invalid %s is rejected, and registers no agent', async (path, wrong) => {
      const input = { ...toInput('tool', 'codex:odd'), ...wrong } as never
      expect(await fieldsOf(test.api().createAgentReview(input))).toEqual([path])
      expect(await codeOf(test.api().getAgent({ agentKey: 'codex:odd' }))).toBe('not_found')
    })

    it('is accepted with a rating from 1 to 5 and at most 4000 UTF-16 code units', async () => {
      await publish('rated')
      for (const rating of [1, 1.1, 1.5, 2.75, Math.PI, 4.3, 4.999_999, 5]) {
        const review = await test.api().createAgentReview({ ...toInput('rated', 'codex:fair', rating), content: 'x' })
        expect(review.rating).toBe(rating)
        expect((await list('rated')).map((one) => one.rating)).toEqual([rating])
      }
      const content = '💡'.repeat(2000)
      expect(await test.api().createAgentReview({ ...toInput('rated', 'codex:long'), content })).toMatchObject({
        content,
      })
    })

    it.each([
      ['a skill that does not exist', 'nowhere', 'not_found'],
      ["another's private skill", 'alice/closed', 'not_found'],
      ['the short name of a private skill', 'closed', 'not_found'],
      ['a deleted skill', 'alice/deleted', 'not_found'],
      ['a hidden skill', 'alice/covered', 'not_found'],
      ['a skill under a takedown', 'alice/removed', 'taken_down'],
    ])('for %s is rejected, and reading the reviews too', async (_, name, code) => {
      const made = await alice.api.listAgentReviews({ name: 'alice/closed' }).catch(() => undefined)
      if (!made) {
        await publish('closed', 'private')
        for (const one of ['deleted', 'covered', 'removed']) await publish(one)
        await alice.api.deleteSkill({ name: 'alice/deleted' })
        await setState('alice/covered', 'hidden')
        await setState('alice/removed', 'taken_down')
      }
      for (const api of [test.api(), bob.api]) {
        expect(await codeOf(api.createAgentReview(toInput(name, 'codex:blind')))).toBe(code)
        expect(await codeOf(api.listAgentReviews({ name }))).toBe(code)
        expect(await codeOf(api.markAgentReviewHelpful({ name, id: 'x', agentKey: 'codex:blind' }))).toBe(code)
      }
      expect(await codeOf(test.api().getAgent({ agentKey: 'codex:blind' }))).toBe('not_found')
    })
  })

  it('on a private skill are visible to callers who may see the skill', async () => {
    await publish('secret', 'private')
    const { agentToken } = await alice.api.createAgentReview(toInput('alice/secret', 'codex:inside', 5))
    expect(await list('alice/secret', alice)).toHaveLength(1)
    const seen = JSON.stringify([await bob.api.getAgent({ agentKey: 'codex:inside' }), await test.api().listAgents()])
    expect(seen).not.toContain('secret')
    const agent = test.apiWith({ agentToken })
    expect(await codeOf(agent.createAgentReview(toInput('alice/secret', 'codex:inside', 1)))).toBe('not_found')
    await addCollaborator(test, alice, { name: 'alice/secret', username: 'bob', role: 'read' })
    expect(await list('alice/secret', bob)).toHaveLength(1)
    await bob.api.createAgentReview(toInput('alice/secret', 'codex:second', 5))
    expect(await list('alice/secret', alice)).toHaveLength(2)
  })

  it('stay with a skill that is transferred, and are found by its old and new names', async () => {
    await publish('moving')
    await test.api().createAgentReview(toInput('moving', 'codex:mover', 4))
    await alice.api.transferSkill({ name: 'alice/moving', newOwner: 'bob' })
    await bob.api.acceptTransfer({ name: 'alice/moving' })
    expect(await test.api().createAgentReview(toInput('alice/moving', 'codex:mover', 5))).toMatchObject({ rating: 5 })
    expect(await list('bob/moving')).toHaveLength(1)
  })

  it('are not stored for a skill that is deleted at the same moment', async () => {
    for (const name of ['gone-a', 'gone-b', 'gone-c']) {
      await publish(name)
      const [deleted, reviewed] = await Promise.allSettled([
        alice.api.deleteSkill({ name: `alice/${name}` }),
        test.api().createAgentReview(toInput(name, `codex:${name}`)),
      ])
      expect(deleted.status).toBe('fulfilled')
      const agent = await codeOf(test.api().getAgent({ agentKey: `codex:${name}` })).catch(() => 'there')
      expect(agent).toBe(reviewed.status === 'fulfilled' ? 'there' : 'not_found')
    }
  })

  describe('the list of reviews by agents', () => {
    /** Twelve reviews, many of them alike: [rating, votes, minute of the last change]. */
    const made = Array.from({ length: 12 }, (_, i) => [4 + ((i * 5) % 4) / 10, (i * 7) % 3, (i * 3) % 4] as const)
    beforeAll(async () => {
      await publish('listed')
      const start = test.clock.now()
      for (const [i, [rating, votes]] of made.entries()) {
        const { id } = await test.api().createAgentReview(toInput('listed', `codex:l${i}`, rating))
        for (let v = 0; v < votes; v++)
          await test.api().markAgentReviewHelpful({ name: 'listed', id, agentKey: `voter:${v}` })
      }
      for (const minute of [0, 1, 2, 3]) {
        test.clock.set(start + minute * 60_000)
        for (const [i, [rating, , last]] of made.entries())
          if (last === minute) await test.api().createAgentReview(toInput('listed', `codex:l${i}`, rating))
      }
    })

    const orders = {
      recent: (i: number) => [made[i]![2], i],
      helpful: (i: number) => [made[i]![1], i],
      rating_high: (i: number) => [made[i]![0], made[i]![1], i],
    }
    it.each([undefined, 'recent', 'helpful', 'rating_high'] as const)(
      'is sorted by %s, on pages that never overlap',
      async (sort) => {
        const toKeys = orders[sort ?? 'recent']
        const order = [...made.keys()].toSorted((a, b) => compareLists(toKeys(b), toKeys(a)))
        const expected = order.map((i) => `codex:l${i}`)
        const all = await test.api().listAgentReviews({ name: 'listed', sort })
        expect(all.reviews.map(({ agentKey }) => agentKey)).toEqual(expected)
        const paged = []
        for (const page of [1, 2, 3]) {
          const answer = await test.api().listAgentReviews({ name: 'listed', sort, page, limit: 5 })
          expect(answer).toMatchObject({ total: 12, page, totalPages: 3 })
          paged.push(...answer.reviews.map(({ agentKey }) => agentKey))
        }
        expect(paged).toEqual(expected)
      },
    )

    it('is empty for a skill without reviews, and on a page after the last page', async () => {
      await publish('unheard')
      expect(await test.api().listAgentReviews({ name: 'unheard' })).toEqual({
        reviews: [],
        total: 0,
        page: 1,
        totalPages: 0,
      })
      expect(await test.api().listAgentReviews({ name: 'listed', page: 9 })).toMatchObject({ reviews: [], total: 12 })
    })

    it.each([
      ['sort', { sort: 'rating_low' }],
      ['limit', { limit: 101 }],
      ['page', { page: 0 }],
    ])('is not returned if the parameter %s is invalid', async (path, input) => {
      expect(await fieldsOf(test.api().listAgentReviews({ name: 'listed', ...input } as never))).toEqual([path])
    })
  })

  describe('a helpful vote for a review', () => {
    it('counts once per agent, registered or not', async () => {
      const id = await makeReview('helpful', 'codex:author')
      const mark = (agentKey: string) => test.api().markAgentReviewHelpful({ name: 'helpful', id, agentKey })
      await register('codex:reader')
      expect(await mark('codex:reader')).toMatchObject({ id, helpfulCount: 1, agentKey: 'codex:author' })
      expect(await mark('codex:reader')).toMatchObject({ helpfulCount: 1 })
      expect(await mark('codex:passer-by')).toMatchObject({ helpfulCount: 2 })
      const many = await Promise.all([1, 2, 3].map(() => mark('codex:hasty')))
      expect(many.map(({ helpfulCount }) => helpfulCount)).toEqual([3, 3, 3])
      expect((await list('helpful'))[0]!.helpfulCount).toBe(3)
      expect(await codeOf(test.api().getAgent({ agentKey: 'codex:passer-by' }))).toBe('not_found')
    })

    it('is rejected from the agent that wrote the review', async () => {
      const agentToken = await register('codex:vain')
      const id = await makeReview('vanity', 'codex:vain', agentToken)
      for (const token of [undefined, agentToken]) {
        const call = test
          .apiWith({ agentToken: token })
          .markAgentReviewHelpful({ name: 'vanity', id, agentKey: 'codex:vain' })
        expect(await codeOf(call)).toBe('conflict')
      }
      expect((await list('vanity'))[0]!.helpfulCount).toBe(0)
    })

    it('is rejected with a wrong token', async () => {
      const id = await makeReview('guarded', 'codex:guarded')
      const other = await register('codex:lending')
      await register('codex:borrowing')
      for (const agentKey of ['codex:borrowing', 'codex:unregistered'])
        for (const agentToken of [forged, other]) {
          const call = test.apiWith({ agentToken }).markAgentReviewHelpful({ name: 'guarded', id, agentKey })
          expect(await codeOf(call)).toBe('forbidden')
        }
      expect((await list('guarded'))[0]!.helpfulCount).toBe(0)
    })

    it('is accepted only if the review belongs to the skill in the URL', async () => {
      const id = await makeReview('mine', 'codex:mine')
      const agentKey = 'codex:lost'
      for (const [name, wrong] of [
        ['tool', id],
        ['mine', 'not-an-id'],
        ['mine', id.toUpperCase()],
        ['mine', '0'],
      ] as const)
        expect(await codeOf(test.api().markAgentReviewHelpful({ name, id: wrong, agentKey }))).toBe('not_found')
      expect(await fieldsOf(test.api().markAgentReviewHelpful({ name: 'mine', id, agentKey: 'lost' }))).toEqual([
        'agentKey',
      ])
      expect((await list('mine'))[0]!.helpfulCount).toBe(0)
    })

    it("raises the reviewer's trust only with the token of another user's agent, and only once per user", async () => {
      const author = await registerFor(alice, 'codex:trusted')
      const id = await makeReview('trusted', 'codex:trusted', author)
      const before = await test.api().getAgent({ agentKey: 'codex:trusted' })
      const vote = (agentKey: string, agentToken?: string) =>
        test.apiWith({ agentToken }).markAgentReviewHelpful({ name: 'trusted', id, agentKey })

      test.clock.advance(1000)
      await vote('codex:voter')
      await vote('codex:unlinked', await register('codex:unlinked'))
      await vote('codex:sibling', await registerFor(alice, 'codex:sibling'))
      await registerFor(bob, 'codex:careless')
      await vote('codex:careless')
      expect(await countersOf('codex:trusted')).toMatchObject({ helpful: 0 })
      await vote('codex:bobs', await registerFor(bob, 'codex:bobs'))
      expect(await countersOf('codex:trusted')).toMatchObject({ helpful: 1 })
      await vote('codex:bobs-second', await registerFor(bob, 'codex:bobs-second'))
      expect(await countersOf('codex:trusted')).toMatchObject({ helpful: 1 })
      await vote('codex:roots', await registerFor(test.admin, 'codex:roots'))
      expect(await countersOf('codex:trusted')).toMatchObject({ helpful: 2 })

      const after = await test.api().getAgent({ agentKey: 'codex:trusted' })
      expect(after.trustScore).toBeGreaterThan(before.trustScore)
      expect(after.lastSeenAt).toBe(before.lastSeenAt)
      expect((await list('trusted'))[0]!.helpfulCount).toBe(7)
    })

    it("sent with the agent's token counts for the reviewer even after a vote in the agent's name without the token", async () => {
      const id = await makeReview('usurped', 'codex:usurped', await register('codex:usurped'))
      const agentKey = 'codex:usurped-voter'
      const agentToken = await registerFor(bob, agentKey)
      const vote = (token?: string) =>
        test.apiWith({ agentToken: token }).markAgentReviewHelpful(toVote('usurped', id, agentKey))
      expect((await vote()).helpfulCount).toBe(1)
      expect(await countersOf('codex:usurped')).toMatchObject({ helpful: 0 })
      for (let i = 0; i < 2; i++) {
        expect((await vote(agentToken)).helpfulCount).toBe(1)
        expect(await countersOf('codex:usurped')).toMatchObject({ helpful: 1 })
      }
      expect((await vote()).helpfulCount).toBe(1)
      expect(await countersOf('codex:usurped')).toMatchObject({ helpful: 1 })
    })

    it('stops counting if the reviewer is later linked to the user who voted', async () => {
      const agentToken = await register('codex:undercover')
      const id = await makeReview('undercover', 'codex:undercover', agentToken)
      for (const [user, agentKey] of [
        [bob, 'codex:helper'],
        [test.admin, 'codex:stranger'],
      ] as const) {
        const token = await registerFor(user, agentKey)
        await test.apiWith({ agentToken: token }).markAgentReviewHelpful({ name: 'undercover', id, agentKey })
      }
      expect(await countersOf('codex:undercover')).toMatchObject({ helpful: 2 })
      await test.apiWith({ agentToken }, bob).createAgentReview(toInput('undercover', 'codex:undercover'))
      expect(await countersOf('codex:undercover')).toMatchObject({ helpful: 1 })
      expect((await list('undercover'))[0]!.helpfulCount).toBe(2)
    })

    it('is refused after ten votes for the same review from one address in an hour', async () => {
      const one = await makeReview('flooded', 'codex:flooded-one')
      const two = await makeReview('flooded', 'codex:flooded-two')
      const here = localApi(test.registry, guest, { address: '203.0.113.7' })
      const there = localApi(test.registry, guest, { address: '203.0.113.8' })
      for (let i = 0; i < 10; i++) await here.markAgentReviewHelpful(toVote('flooded', one, `bot:${i}`))
      expect(await codeOf(here.markAgentReviewHelpful(toVote('flooded', one, 'bot:10')))).toBe('rate_limited')
      expect(await here.markAgentReviewHelpful(toVote('flooded', one, 'bot:9'))).toMatchObject({ helpfulCount: 10 })
      expect(await here.markAgentReviewHelpful(toVote('flooded', two, 'bot:10'))).toMatchObject({ helpfulCount: 1 })
      expect(await there.markAgentReviewHelpful(toVote('flooded', one, 'bot:11'))).toMatchObject({ helpfulCount: 11 })
    })
  })

  describe("the effect of agents' reviews on the owner's reputation", () => {
    it('exists only for authenticated reviews by agents linked to a user, and follows changes of the rating', async () => {
      const name = 'alice/weighed'
      await publish('weighed')
      const { agentToken } = await test.api().createAgentReview(toInput(name, 'codex:weigher', 5))
      await test.api().createAgentReview(toInput(name, 'codex:passing', 1))
      await test.apiWith({ agentToken }).createAgentReview(toInput(name, 'codex:weigher', 5))
      expect(await creditOf(name)).toEqual([0, 0])
      const steps = [
        [4.5, 3],
        [3.7, 1.4],
        [2.9996, -0.001],
        [1, -4],
        [3, 0],
        [5, 4],
      ] as const
      for (const [rating, points] of steps) {
        await test.apiWith({ agentToken }, bob).createAgentReview(toInput(name, 'codex:weigher', rating))
        expect(await creditOf(name)).toEqual([1, points])
      }
      const second = await registerFor(test.admin, 'codex:weigher-two')
      await test.apiWith({ agentToken: second }).createAgentReview(toInput(name, 'codex:weigher-two', 3.5))
      expect(await creditOf(name)).toEqual([2, 5])
    })

    it("does not exist for reviews by the owner's own agents, even if linked to the owner after the review", async () => {
      const name = 'alice/praised'
      await publish('praised')
      const agentToken = await registerFor(alice, 'codex:fan')
      const review = await test.apiWith({ agentToken }).createAgentReview(toInput(name, 'codex:fan', 5))
      expect(review).toMatchObject({ authenticated: true, rating: 5 })
      expect(await creditOf(name)).toEqual([0, 0])
      const hidden = await register('codex:hidden-fan')
      await test.apiWith({ agentToken: hidden }).createAgentReview(toInput(name, 'codex:hidden-fan', 5))
      expect(await creditOf(name)).toEqual([0, 0])
      await test.apiWith({ agentToken: hidden }, alice).createAgentReview(toInput(name, 'codex:hidden-fan', 4))
      expect(await creditOf(name)).toEqual([0, 0])
      await test.apiWith({ agentToken: hidden }, bob).createAgentReview(toInput(name, 'codex:hidden-fan', 5))
      expect(await creditOf(name)).toEqual([0, 0])
    })
  })
})

function compareLists(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((value, at) => value !== b[at])
  return i === -1 ? 0 : a[i]! - b[i]!
}
