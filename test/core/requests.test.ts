import type { RegistryApi } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, fieldsOf, refusalOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const statuses = ['open', 'in_progress', 'fulfilled', 'closed'] as const
type Status = (typeof statuses)[number]

/** All transitions, and who may make them; all others are refused. */
const steps: Record<string, 'anyone' | 'party'> = {
  'open in_progress': 'anyone',
  'open fulfilled': 'party',
  'open closed': 'party',
  'in_progress open': 'party',
  'in_progress fulfilled': 'party',
  'in_progress closed': 'party',
  'closed open': 'party',
}

type Role = 'a guest' | 'a stranger' | 'the requester' | 'an administrator'
const pairs = statuses.flatMap((from) => statuses.map((to) => [from, to] as const))
const roles: Role[] = ['a guest', 'a stranger', 'the requester', 'an administrator']
/** Every transition by every role, with the error if it is refused. */
const moves = pairs.flatMap(([from, to]) =>
  roles.map((role) => ({ from, to, role, refused: toRefusal(role, from, to) })),
)

function toRefusal(role: Role, from: Status, to: Status): string | undefined {
  const mover = steps[`${from} ${to}`]
  if (role === 'a guest') return 'unauthorized'
  if (!mover) return 'invalid_transition'
  return mover === 'party' && role === 'a stranger' ? 'forbidden' : undefined
}

describeApi('requests', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let admin: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    admin = test.admin
  })

  const wanted = { title: 'Reading old faxes', description: 'From thermal paper, faded.' }

  /** A request with a status, by alice or a guest. */
  async function ask(status: Status = 'open', of: RegistryApi = alice.api): Promise<string> {
    const { id } = await of.createRequest(wanted)
    if (status !== 'open') await admin.api.updateRequest({ id, status })
    return id
  }

  const auditOf = async (id: string) =>
    (await admin.api.listAudit({ limit: 100 })).entries.filter(({ subject }) => subject === id)

  it('are created with 201 by anyone, and show their author unless a guest created them', async () => {
    test.clock.advance(1000)
    const now = new Date(test.clock.now()).toISOString()
    expect(await test.statusOf(alice, 'createRequest', wanted)).toBe(201)
    const mine = await alice.api.createRequest(wanted)
    expect(mine).toEqual({
      id: expect.any(String),
      ...wanted,
      status: 'open',
      votes: 0,
      requester: { username: 'alice' },
      fulfilledBy: null,
      createdAt: now,
      updatedAt: now,
    })
    const anonymous = await test.api().createRequest({ ...wanted, description: '' })
    expect(anonymous).toMatchObject({ requester: null, description: '' })
    expect(await test.api().getRequest({ id: mine.id })).toEqual(mine)
    expect(await codeOf(test.api().getRequest({ id: 'nothing' }))).toBe('not_found')
  })

  it('are not created for a user by a read-only key', async () => {
    const { key } = await alice.api.createApiKey({ name: 'reader', scopes: ['read'] })
    const { total } = await test.api().listRequests()
    expect(await codeOf(test.apiWithKey(key).createRequest(wanted))).toBe('forbidden')
    expect((await test.apiWithKey(key).listRequests()).total).toBe(total)
  })

  it('require a title, and accept no unknown fields', async () => {
    expect(await fieldsOf(alice.api.createRequest({ title: '', description: '' }))).toEqual(['title'])
    expect(await fieldsOf(alice.api.createRequest({ title: 'x'.repeat(201), description: 'x' }))).toEqual(['title'])
    const bold = { ...wanted, votes: 1000 }
    expect(await fieldsOf(alice.api.createRequest(bold))).toEqual(['votes'])
  })

  it.runIf(transport === 'HTTP')('of guests are limited per address', async () => {
    const own = await open()
    for (let i = 0; i < 30; i++) await own.api().createRequest(wanted)
    expect(await codeOf(own.api().createRequest(wanted))).toBe('rate_limited')
    expect((await own.api().listRequests()).total).toBe(30)
    await (await own.makeUser()).api.createRequest(wanted)
  })

  describe('the status of a request', () => {
    const apis: Record<Role, () => RegistryApi> = {
      'a guest': () => test.api(),
      'a stranger': () => bob.api,
      'the requester': () => alice.api,
      'an administrator': () => admin.api,
    }

    it.each(moves.filter(({ refused }) => !refused))(
      'can change from $from to $to by $role',
      async ({ from, to, role }) => {
        const id = await ask(from)
        const before = await test.api().getRequest({ id })
        const audit = await auditOf(id)
        test.clock.advance(1000)
        const after = await apis[role]().updateRequest({ id, status: to })
        expect(after).toEqual({ ...before, status: to, updatedAt: new Date(test.clock.now()).toISOString() })
        expect(await test.api().getRequest({ id })).toEqual(after)
        const entry = { action: `request.${to}`, data: { from } }
        const told = (await auditOf(id)).slice(0, (await auditOf(id)).length - audit.length)
        expect(told, 'what others do is in the audit').toMatchObject(role === 'the requester' ? [] : [entry])
      },
    )

    it.each(moves.filter(({ refused }) => refused))(
      'cannot change from $from to $to by $role: $refused',
      async ({ from, to, role, refused }) => {
        const id = await ask(from)
        const before = await test.api().getRequest({ id })
        const audit = await auditOf(id)
        test.clock.advance(1000)
        expect(await codeOf(apis[role]().updateRequest({ id, status: to }))).toBe(refused)
        expect(await test.api().getRequest({ id })).toEqual(before)
        expect(await auditOf(id)).toEqual(audit)
      },
    )

    it.each(pairs.filter(([from, to]) => steps[`${from} ${to}`]))(
      'can change from %s to %s by an administrator if a guest created the request',
      async (from, to) => {
        const id = await ask(from, test.api())
        expect((await admin.api.updateRequest({ id, status: to })).status).toBe(to)
      },
    )

    it.each(pairs.filter(([from, to]) => steps[`${from} ${to}`] !== 'anyone'))(
      'cannot change from %s to %s by a user if a guest created the request',
      async (from, to) => {
        const id = await ask(from, test.api())
        const code = steps[`${from} ${to}`] ? 'forbidden' : 'invalid_transition'
        expect(await codeOf(alice.api.updateRequest({ id, status: to }))).toBe(code)
        expect((await test.api().getRequest({ id })).status).toBe(from)
      },
    )

    it('changes once if two changes are concurrent', async () => {
      for (const [first, second] of [
        ['in_progress', 'in_progress'],
        ['fulfilled', 'closed'],
      ] as const) {
        const id = await ask()
        const settled = await Promise.allSettled([
          alice.api.updateRequest({ id, status: first }),
          admin.api.updateRequest({ id, status: second }),
        ])
        const refused = settled.find(({ status }) => status === 'rejected') as PromiseRejectedResult
        const done = settled.find(({ status }) => status === 'fulfilled') as PromiseFulfilledResult<{ status: string }>
        expect(refused.reason).toMatchObject({ code: 'invalid_transition' })
        expect((await test.api().getRequest({ id })).status).toBe(done.value.status)
      }
    })

    it('cannot be set to an unknown status, nor for an unknown request', async () => {
      const id = await ask()
      expect(await fieldsOf(alice.api.updateRequest({ id, status: 'done' as Status }))).toEqual(['status'])
      expect(await codeOf(alice.api.updateRequest({ id: 'nothing', status: 'closed' }))).toBe('not_found')
      const refusal = await refusalOf(alice.api.updateRequest({ id, status: 'open' }))
      expect(refusal.message).toContain('in_progress, fulfilled, closed')
    })
  })

  describe('the skill that fulfils a request', () => {
    beforeAll(async () => {
      await bob.api.publishSkill({ skillMd: skillMd('faxes') })
      await bob.api.publishSkill({ skillMd: skillMd('secret-faxes'), visibility: 'private' })
      await bob.api.publishSkill({ skillMd: skillMd('house-faxes'), visibility: 'internal' })
      await alice.api.publishSkill({ skillMd: skillMd('own-faxes'), visibility: 'private' })
    })

    it('is a public skill, given by its full or short name', async () => {
      for (const fulfilledBy of ['bob/faxes', 'faxes']) {
        const id = await ask('in_progress')
        expect(await alice.api.updateRequest({ id, status: 'fulfilled', fulfilledBy })).toMatchObject({
          status: 'fulfilled',
          fulfilledBy: 'bob/faxes',
        })
      }
      const id = await ask()
      const { fulfilledBy } = await alice.api.updateRequest({ id, status: 'fulfilled' })
      expect(fulfilledBy, 'also by none').toBeNull()
    })

    it.each(['bob/secret-faxes', 'bob/house-faxes', 'alice/own-faxes', 'bob/nowhere', 'nowhere'])(
      'cannot be %s, which is not public',
      async (fulfilledBy) => {
        const id = await ask()
        const refusal = await refusalOf(alice.api.updateRequest({ id, status: 'fulfilled', fulfilledBy }))
        expect(refusal.code).toBe('invalid_request')
        expect(refusal.errors.map(({ path }) => path)).toEqual(['fulfilledBy'])
        expect(await test.api().getRequest({ id })).toMatchObject({ status: 'open', fulfilledBy: null })
      },
    )

    it('is rejected with the same error if it is private as if it is unknown', async () => {
      const id = await ask()
      const told = async (name: string) =>
        (await refusalOf(alice.api.updateRequest({ id, status: 'fulfilled', fulfilledBy: name }))).message.replace(
          name,
          '',
        )
      expect(await told('bob/secret-faxes')).toBe(await told('bob/nowhere'))
    })

    it.each(['open', 'in_progress', 'closed'] as const)('cannot be given with the status %s', async (status) => {
      const id = await ask(status === 'open' ? 'closed' : 'open')
      const input = { id, status, fulfilledBy: 'faxes' }
      expect(await fieldsOf(alice.api.updateRequest(input))).toEqual(['fulfilledBy'])
    })

    it('is shown by its current name to callers who may see it, also in lists', async () => {
      await bob.api.publishSkill({ skillMd: skillMd('moving-faxes') })
      const id = await ask()
      await alice.api.updateRequest({ id, status: 'fulfilled', fulfilledBy: 'moving-faxes' })
      const carol = await test.makeUser('carol')
      const dave = await test.makeUser('dave')
      await bob.api.transferSkill({ name: 'moving-faxes', newOwner: 'carol' })
      await carol.api.acceptTransfer({ name: 'moving-faxes' })
      async function look(api: RegistryApi) {
        const one = await api.getRequest({ id })
        const { requests } = await api.listRequests({ status: 'fulfilled', sort: 'recent', limit: 1 })
        expect(requests).toEqual([one])
        return one.fulfilledBy
      }
      const everyone = [test.api(), alice.api, bob.api, carol.api, dave.api, admin.api]
      const seen = async () => Promise.all(everyone.map(look))
      const name = 'carol/moving-faxes'
      expect(await seen()).toEqual([name, name, name, name, name, name])
      await carol.api.publishSkill({ name: 'moving-faxes', visibility: 'internal' })
      expect(await seen()).toEqual([null, name, name, name, name, name])
      await carol.api.publishSkill({ name: 'moving-faxes', visibility: 'private' })
      await addCollaborator(test, carol, { name: 'moving-faxes', username: 'dave', role: 'read' })
      expect(await seen()).toEqual([null, null, null, name, name, null])
      await admin.api.moderateSkill({ name, state: 'hidden', reason: '' })
      expect(await seen()).toEqual([null, null, null, name, null, name])
      await admin.api.moderateSkill({ name, state: 'shown', reason: '' })
      await carol.api.deleteSkill({ name })
      expect(await seen()).toEqual([null, null, null, null, null, null])
    })
  })

  describe('votes for a request', () => {
    it('count once per user, and can be sent again', async () => {
      const id = await ask()
      expect(await codeOf(test.api().voteForRequest({ id }))).toBe('unauthorized')
      expect((await bob.api.voteForRequest({ id })).votes).toBe(1)
      await Promise.all([
        bob.api.voteForRequest({ id }),
        bob.api.voteForRequest({ id }),
        alice.api.voteForRequest({ id }),
      ])
      const { votes, updatedAt, createdAt } = await test.api().getRequest({ id })
      expect(votes).toBe(2)
      expect(updatedAt, 'a vote changes nothing of what was asked').toBe(createdAt)
      expect((await bob.api.withdrawRequestVote({ id })).votes).toBe(1)
      expect((await bob.api.withdrawRequestVote({ id })).votes).toBe(1)
      expect((await admin.api.withdrawRequestVote({ id })).votes, 'of a user without a vote').toBe(1)
      expect(await codeOf(test.api().withdrawRequestVote({ id }))).toBe('unauthorized')
      expect((await bob.api.voteForRequest({ id })).votes).toBe(2)
    })

    it.each(['open', 'in_progress'] as const)('are accepted while the request is %s', async (status) => {
      const id = await ask(status)
      for (const user of [alice, bob, admin]) await user.api.voteForRequest({ id })
      expect((await test.api().getRequest({ id })).votes).toBe(3)
    })

    it.each(['fulfilled', 'closed'] as const)(
      'are rejected when the request is %s, but can still be withdrawn',
      async (status) => {
        const id = await ask()
        await alice.api.voteForRequest({ id })
        await admin.api.updateRequest({ id, status })
        for (const user of [alice, bob, admin]) expect(await codeOf(user.api.voteForRequest({ id }))).toBe('conflict')
        expect((await test.api().getRequest({ id })).votes).toBe(1)
        expect((await alice.api.withdrawRequestVote({ id })).votes).toBe(0)
      },
    )

    it('return 404 for an unknown request', async () => {
      expect(await codeOf(bob.api.voteForRequest({ id: 'nothing' }))).toBe('not_found')
      expect(await codeOf(bob.api.withdrawRequestVote({ id: 'nothing' }))).toBe('not_found')
    })
  })

  it('are listed by votes or newest first, filtered by status, in pages', async () => {
    const own = await open()
    const ann = await own.makeUser('ann')
    const ben = await own.makeUser('ben')
    const ids = []
    for (const title of ['first', 'second', 'third', 'fourth', 'fifth']) {
      ids.push((await ann.api.createRequest({ title, description: '' })).id)
      own.clock.advance(1000)
    }
    for (const user of [ann, ben]) await user.api.voteForRequest({ id: ids[1]! })
    for (const i of [0, 3]) await ben.api.voteForRequest({ id: ids[i]! })
    await ann.api.updateRequest({ id: ids[2]!, status: 'closed' })
    const list = async (input?: object) => {
      const { requests, ...paging } = await own.api().listRequests(input)
      return { titles: requests.map(({ title }) => title), ...paging }
    }
    const byVotes = ['second', 'fourth', 'first', 'fifth', 'third']
    expect(await list()).toEqual({ titles: byVotes, total: 5, page: 1, totalPages: 1 })
    expect(await list({ sort: 'votes', limit: 2, page: 2 })).toEqual({
      titles: byVotes.slice(2, 4),
      total: 5,
      page: 2,
      totalPages: 3,
    })
    expect((await list({ sort: 'recent' })).titles).toEqual(['fifth', 'fourth', 'third', 'second', 'first'])
    expect(await list({ status: 'open', sort: 'recent', limit: 2 })).toMatchObject({
      titles: ['fifth', 'fourth'],
      total: 4,
    })
    expect(await list({ status: 'closed' })).toMatchObject({ titles: ['third'], total: 1 })
    expect(await list({ status: 'fulfilled' })).toEqual({ titles: [], total: 0, page: 1, totalPages: 0 })
    expect(await list({ page: 9 })).toMatchObject({ titles: [], total: 5 })
    for (const [input, field] of [
      [{ sort: 'age' }, 'sort'],
      [{ status: 'done' }, 'status'],
      [{ limit: 101 }, 'limit'],
    ] as const)
      expect(await fieldsOf(own.api().listRequests(input as object))).toEqual([field])
  })
})
