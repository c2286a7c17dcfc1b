import { partsOf } from '@skillstead/core/internal'
import { beforeAll, describe, expect, it } from 'vitest'
import { pointUnits } from '../../packages/core/src/community/badges.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, fieldsOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const toReview = (name: string, rating = 4) => ({ name, rating, title: 'Useful', body: 'It does what it says.' })
const toIssue = (name: string) => ({ name, type: 'bug' as const, title: 'Broken', body: 'Step 2 fails.' })

/** The results of concurrent calls: `done`, or the error code. */
async function endsOf(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(calls)
  return settled.map((end) => (end.status === 'fulfilled' ? 'done' : (end.reason as { code: string }).code))
}

describeApi('reviews and issues of users', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let carol: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    carol = await test.makeUser('carol')
    await publish('tool')
  })

  const publish = (name: string, visibility: 'public' | 'internal' | 'private' = 'public') =>
    alice.api.publishSkill({ skillMd: skillMd(name), visibility })
  const creditOf = async (fullName: string) => {
    const row = await partsOf(test.registry)
      .database.read.selectFrom('skills')
      .select(['credited_reviews', 'credited_points'])
      .where('full_name', '=', fullName)
      .executeTakeFirstOrThrow()
    return [row.credited_reviews, row.credited_points / pointUnits]
  }
  const listReviews = async (name: string, user?: TestUser) =>
    (await (user?.api ?? test.api()).listReviews({ name })).reviews

  describe('reviews', () => {
    it('are created with 201 and changed with 200, one per user and skill', async () => {
      expect(await test.statusOf(bob, 'createReview', toReview('tool', 2))).toBe(201)
      const [first] = await listReviews('tool')
      expect(first).toEqual({
        id: expect.any(String),
        rating: 2,
        title: 'Useful',
        body: 'It does what it says.',
        reviewer: { username: 'bob' },
        createdAt: '2026-01-02T12:00:00.000Z',
        updatedAt: '2026-01-02T12:00:00.000Z',
      })
      test.clock.advance(1000)
      const again = { name: 'tool', rating: 5, title: 'Better', body: '' }
      expect(await test.statusOf(bob, 'createReview', again)).toBe(200)
      expect(await listReviews('tool')).toEqual([
        { ...first, rating: 5, title: 'Better', body: '', updatedAt: '2026-01-02T12:00:01.000Z' },
      ])
    })

    it('by one user at the same time become one review', async () => {
      await publish('hasty')
      const made = await Promise.all([1, 3, 5].map((rating) => bob.api.createReview(toReview('hasty', rating))))
      expect(new Set(made.map(({ id }) => id)).size).toBe(1)
      expect(await listReviews('hasty')).toHaveLength(1)
      const [credited, points] = await creditOf('alice/hasty')
      expect([credited, points]).toEqual([1, 2 * (await listReviews('hasty'))[0]!.rating - 6])
    })

    it('are listed newest first, in stable pages', async () => {
      await publish('listed')
      const users = []
      for (let i = 0; i < 5; i++) {
        users.push(await test.makeUser(`reader-${i}`))
        await users[i]!.api.createReview(toReview('listed'))
      }
      test.clock.advance(1000)
      await users[0]!.api.createReview(toReview('listed', 1))
      const paged = []
      for (const page of [1, 2, 3]) {
        const answer = await test.api().listReviews({ name: 'listed', page, limit: 2 })
        expect(answer).toMatchObject({ total: 5, page, totalPages: 3 })
        paged.push(...answer.reviews.map(({ reviewer }) => reviewer.username))
      }
      expect(paged).toEqual(['reader-4', 'reader-3', 'reader-2', 'reader-1', 'reader-0'])
      expect(await test.api().listReviews({ name: 'listed', page: 4, limit: 2 })).toEqual({
        reviews: [],
        total: 5,
        page: 4,
        totalPages: 3,
      })
    })

    it.each([
      ['rating', { rating: 0 }],
      ['rating', { rating: 6 }],
      ['rating', { rating: 4.5 }],
      ['rating', { rating: 'x' }],
      ['rating', { rating: undefined }],
      ['title', { title: '' }],
      ['title', { title: 'x'.repeat(201) }],
      ['title', { title: undefined }],
      ['body', { body: 'x'.repeat(10_001) }],
      ['body', { body: 'a\0b' }],
      ['reviewer', { reviewer: { username: 'alice' } }],
    ])('with an invalid %s are refused', async (path, wrong) => {
      const before = await listReviews('tool')
      expect(await fieldsOf(bob.api.createReview({ ...toReview('tool'), ...wrong } as never))).toEqual([path])
      expect(await listReviews('tool')).toEqual(before)
    })

    it('change the owner’s reputation by the difference to the earlier rating, unless the owner wrote them', async () => {
      await publish('weighed')
      const steps = [
        [bob, 5, [1, 4]],
        [bob, 1, [1, -4]],
        [carol, 4, [2, -2]],
        [alice, 5, [2, -2]],
        [alice, 1, [2, -2]],
        [bob, 3, [2, 2]],
      ] as const
      for (const [user, rating, credit] of steps) {
        await user.api.createReview(toReview('weighed', rating))
        expect(await creditOf('alice/weighed'), `${user.username} gives ${rating}`).toEqual(credit)
      }
      expect(await listReviews('weighed')).toHaveLength(3)
    })
  })

  describe('issues', () => {
    it('are created with 201, any number per user', async () => {
      await publish('broken')
      expect(await test.statusOf(bob, 'createIssue', toIssue('broken'))).toBe(201)
      const made = []
      for (const type of ['bug', 'feature', 'question', 'security'] as const)
        made.push(await carol.api.createIssue({ name: 'broken', type, title: `A ${type}`, body: '' }))
      expect(made[3]).toEqual({
        id: expect.any(String),
        type: 'security',
        title: 'A security',
        body: '',
        author: { username: 'carol' },
        createdAt: new Date(test.clock.now()).toISOString(),
      })
      const { issues, total } = await test.api().listIssues({ name: 'broken' })
      expect(total).toBe(5)
      expect(issues.slice(0, 4)).toEqual(made.toReversed())
      expect(issues[4]).toMatchObject({ type: 'bug', title: 'Broken', author: { username: 'bob' } })
    })

    it('are listed newest first, in pages', async () => {
      const all = await test.api().listIssues({ name: 'broken' })
      const paged = []
      for (const page of [1, 2, 3])
        paged.push(...(await test.api().listIssues({ name: 'broken', page, limit: 2 })).issues)
      expect(paged).toEqual(all.issues)
      expect(await test.api().listIssues({ name: 'broken', page: 4, limit: 2 })).toEqual({
        issues: [],
        total: 5,
        page: 4,
        totalPages: 3,
      })
      expect(await test.api().listIssues({ name: 'tool' })).toEqual({ issues: [], total: 0, page: 1, totalPages: 0 })
    })

    it.each([
      ['type', { type: 'praise' }],
      ['type', { type: undefined }],
      ['title', { title: '' }],
      ['title', { title: 'x'.repeat(201) }],
      ['body', { body: 'x'.repeat(10_001) }],
      ['body', { body: undefined }],
      ['author', { author: 'alice' }],
    ])('with an invalid %s are refused', async (path, wrong) => {
      expect(await fieldsOf(bob.api.createIssue({ ...toIssue('tool'), ...wrong } as never))).toEqual([path])
      expect((await test.api().listIssues({ name: 'tool' })).total).toBe(0)
    })
  })

  describe('a review or an issue', () => {
    beforeAll(async () => {
      await publish('closed', 'private')
      await publish('shared', 'private')
      await publish('ours', 'internal')
      for (const name of ['deleted', 'covered', 'removed']) await publish(name)
      await addCollaborator(test, alice, { name: 'alice/shared', username: 'bob', role: 'read' })
      await alice.api.deleteSkill({ name: 'alice/deleted' })
      for (const [name, state] of [
        ['covered', 'hidden'],
        ['removed', 'taken_down'],
      ] as const)
        await partsOf(test.registry).database.writer.write(async (trx) => {
          await trx.updateTable('skills').set({ state }).where('full_name', '=', `alice/${name}`).execute()
        })
    })

    const callers = ['guest', 'stranger', 'collaborator', 'owner', 'administrator'] as const
    /** The expected results, in this order. A guest may read public skills and never writes. */
    const table = [
      ['alice/tool', ['done', 'done', 'done', 'done', 'done']],
      ['tool', ['done', 'done', 'done', 'done', 'done']],
      ['alice/ours', ['not_found', 'done', 'done', 'done', 'done']],
      ['alice/shared', ['not_found', 'not_found', 'done', 'done', 'not_found']],
      ['alice/closed', ['not_found', 'not_found', 'not_found', 'done', 'not_found']],
      ['closed', ['not_found', 'not_found', 'not_found', 'done', 'not_found']],
      ['alice/deleted', ['not_found', 'not_found', 'not_found', 'not_found', 'not_found']],
      ['alice/covered', ['not_found', 'not_found', 'not_found', 'done', 'done']],
      ['alice/removed', ['taken_down', 'taken_down', 'taken_down', 'taken_down', 'taken_down']],
      ['alice/nowhere', ['not_found', 'not_found', 'not_found', 'not_found', 'not_found']],
    ] as const
    const cases = table.flatMap(([name, ends]) => callers.map((who, i) => [name, who, ends[i]!] as const))

    it.each(cases)('of %s by a %s: %s', async (name, who, end) => {
      const user = { guest: undefined, stranger: carol, collaborator: bob, owner: alice, administrator: test.admin }[
        who
      ]
      const api = user?.api ?? test.api()
      expect(await endsOf([api.listReviews({ name }), api.listIssues({ name })])).toEqual([end, end])
      const written = who === 'guest' ? 'unauthorized' : end
      expect(await endsOf([api.createReview(toReview(name)), api.createIssue(toIssue(name))])).toEqual([
        written,
        written,
      ])
    })

    it('stores nothing if it is rejected', async () => {
      const { reviews } = await partsOf(test.registry)
        .database.read.selectFrom('reviews')
        .innerJoin('skills', 'skills.id', 'reviews.skill_id')
        .select((eb) => eb.fn.countAll<number>().as('reviews'))
        .where('full_name', 'in', ['alice/deleted', 'alice/removed'])
        .executeTakeFirstOrThrow()
      expect(reviews).toBe(0)
      expect(await listReviews('alice/closed', alice)).toMatchObject([{ reviewer: { username: 'alice' } }])
      expect((await alice.api.listIssues({ name: 'alice/closed' })).total).toBe(2)
    })

    it('is rejected with a read-only key', async () => {
      const { key } = await bob.api.createApiKey({ name: 'reader', scopes: ['read'] })
      const api = test.apiWithKey(key)
      expect(await codeOf(api.createReview(toReview('tool')))).toBe('forbidden')
      expect(await codeOf(api.createIssue(toIssue('tool')))).toBe('forbidden')
      expect((await api.listReviews({ name: 'tool' })).total).toBeGreaterThan(0)
    })
  })

  it('stay with a transferred skill, and count for its new owner', async () => {
    await publish('moving')
    await bob.api.createReview(toReview('moving', 5))
    await alice.api.createReview(toReview('moving', 4))
    expect(await creditOf('alice/moving')).toEqual([1, 4])
    await alice.api.transferSkill({ name: 'alice/moving', newOwner: 'bob' })
    await bob.api.acceptTransfer({ name: 'alice/moving' })
    expect(await listReviews('bob/moving')).toHaveLength(2)
    expect(await carol.api.createReview(toReview('alice/moving', 5))).toMatchObject({ rating: 5 })
    expect(await listReviews('bob/moving')).toHaveLength(3)
    await bob.api.createReview(toReview('bob/moving', 1))
    const { reviews } = await test.api().listReviews({ name: 'bob/moving' })
    expect(reviews.map(({ reviewer, rating }) => [reviewer.username, rating])).toEqual([
      ['carol', 5],
      ['alice', 4],
      ['bob', 1],
    ])
    expect(await creditOf('bob/moving')).toEqual([2, 6])
  })

  it('are not stored for a skill that is deleted at the same moment', async () => {
    for (const name of ['gone-a', 'gone-b', 'gone-c']) {
      await publish(name)
      const [deleted, ...said] = await endsOf([
        alice.api.deleteSkill({ name: `alice/${name}` }),
        bob.api.createReview(toReview(name)),
        bob.api.createIssue(toIssue(name)),
      ])
      expect(deleted).toBe('done')
      expect(['done', 'not_found']).toEqual(expect.arrayContaining(said))
    }
  })
})
