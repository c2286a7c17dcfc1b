import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { DmcaCase, RegistryApi, RegistryError } from '@skillstead/protocol'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, fieldsOf, refusalOf, skillMd } from '../support/answers.ts'
import {
  counterNotice,
  dayMs,
  isHidden,
  makeCase,
  notice,
  personalTraces,
  publish,
  runOut,
  statusOf,
  submitCase,
  type Submitted,
} from '../support/dmca-cases.ts'
import { describeApi, startMs, type TestRegistry, type TestUser } from '../support/harness.ts'

type Status = DmcaCase['status']
const statuses = [
  ...(['submitted', 'under_review', 'rejected', 'removed'] as const),
  ...(['counter_noticed', 'restored', 'upheld'] as const),
]
const hiding: ReadonlySet<Status> = new Set(['removed', 'counter_noticed', 'upheld'])

/**
 * The statuses that an administrator may set, by current status. `removed` to `counter_noticed` needs a counter-notice
 * to confirm.
 */
const decisions: Record<Status, readonly Status[]> = {
  submitted: ['under_review', 'rejected', 'removed'],
  under_review: ['rejected', 'removed'],
  rejected: [],
  removed: ['counter_noticed'],
  counter_noticed: ['upheld'],
  restored: [],
  upheld: [],
}

describeApi('takedown cases', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let count = 0
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })

  /** A case in a status, about a new skill of alice's. */
  async function makeFresh(status: Status): Promise<Submitted & { name: string }> {
    const name = `claimed-${(count += 1)}`
    await publish(alice, name)
    return { name, ...(await makeCase(test, `alice/${name}`, alice, status)) }
  }

  /** The audit entries of a case. */
  async function readAudit(id: string) {
    const { entries } = await test.admin.api.listAudit({ limit: 100 })
    return entries.filter(({ subject }) => subject === id)
  }

  /** Moves three cases of a skill, and returns the actual and expected state after each step. */
  async function walk(moves: readonly { which: number; to: Status }[]) {
    const name = `walked-${(count += 1)}`
    await publish(alice, name)
    const cases = [await submitCase(test, name), await submitCase(test, name), await submitCase(test, name)]
    const known: Status[] = ['submitted', 'submitted', 'submitted']
    const steps = []
    for (const { which, to } of moves) {
      const { id } = cases[which]!
      const from = known[which]!
      const byOwner = from === 'removed' && to === 'counter_noticed'
      const action = byOwner
        ? alice.api.submitCounterNotice({ id, ...counterNotice })
        : test.admin.api.updateDmca({ id, status: to })
      const answer = await action.then(
        ({ status }) => status,
        (error: RegistryError) => error.code,
      )
      const isAllowed = decisions[from].includes(to)
      if (isAllowed) known[which] = to
      steps.push({
        seen: { from, to, answer, hidden: await isHidden(test, name) },
        meant: {
          from,
          to,
          answer: isAllowed ? to : 'invalid_transition',
          hidden: known.some((status) => hiding.has(status)),
        },
      })
    }
    return steps
  }

  describe('are submitted', () => {
    it('by anyone, with 201, the full case and a token that is shown once', async () => {
      await publish(alice, 'garden')
      test.clock.set(startMs)
      expect(await test.statusOf(undefined, 'submitDmca', { skillName: 'garden', ...notice })).toBe(201)
      const made = await test.api().submitDmca({ skillName: 'garden', ...notice })
      expect(made).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        status: 'submitted',
        submittedAt: '2026-01-02T12:00:00.000Z',
        history: [{ status: 'submitted', at: '2026-01-02T12:00:00.000Z', note: '' }],
        skill: { fullName: 'alice/garden' },
        notice,
        counterNotices: [],
        caseToken: expect.stringMatching(/^sct_[\w-]{43}$/),
      })
      const rows = await partsOf(test.registry).database.read.selectFrom('dmca_cases').selectAll().execute()
      expect(JSON.stringify(rows)).not.toContain(made.caseToken!.slice(4))
      expect((await test.api().getSkill({ name: 'garden' })).fullName, 'a claim alone hides nothing').toBe(
        'alice/garden',
      )
    })

    it.each([
      ['claimantName', { claimantName: '' }],
      ['claimantEmail', { claimantEmail: 'not-an-email' }],
      ['workDescription', { workDescription: undefined }],
      ['workDescription', { workDescription: 'x'.repeat(10_001) }],
      ['goodFaith', { goodFaith: false }],
      ['accuracy', { accuracy: undefined }],
      ['signature', { signature: '' }],
      ['originalUrl', { originalUrl: 'javascript:alert(1)' }],
      ['status', { status: 'removed' }],
    ])('not with an invalid %s, which the error names', async (field, wrong) => {
      await publish(alice, 'refused')
      const before = (await test.admin.api.listDmca()).total
      expect(await fieldsOf(test.api().submitDmca({ skillName: 'refused', ...notice, ...wrong } as never))).toEqual([
        field,
      ])
      expect((await test.admin.api.listDmca()).total).toBe(before)
    })

    it("about skills that the claimant may see: another user's private skill is not_found", async () => {
      await alice.api.publishSkill({ skillMd: skillMd('unseen'), visibility: 'private' })
      const before = (await test.admin.api.listDmca()).total
      for (const skillName of ['alice/unseen', 'unseen', 'alice/not-there', 'not-there']) {
        for (const api of [test.api(), bob.api])
          expect(await codeOf(api.submitDmca({ skillName, ...notice }))).toBe('not_found')
      }
      expect((await test.admin.api.listDmca()).total).toBe(before)
      await addCollaborator(test, alice, { name: 'unseen', username: 'bob', role: 'read' })
      expect((await bob.api.submitDmca({ skillName: 'alice/unseen', ...notice })).skill).toEqual({
        fullName: 'alice/unseen',
      })
    })

    it('even about a skill that is already taken down, by any of its names', async () => {
      const { name } = await makeFresh('removed')
      for (const skillName of [name, `alice/${name}`])
        expect((await test.api().submitDmca({ skillName, ...notice })).skill!.fullName).toBe(`alice/${name}`)
    })

    it('but not about a skill that was deleted by its owner', async () => {
      await publish(alice, 'deleted')
      await alice.api.deleteSkill({ name: 'deleted' })
      expect(await codeOf(test.api().submitDmca({ skillName: 'alice/deleted', ...notice }))).toBe('not_found')
    })
  })

  describe('are read', () => {
    let made: Submitted
    beforeAll(async () => {
      made = await makeFresh('submitted')
      await test.admin.api.updateDmca({ id: made.id, status: 'removed', note: 'Private note.' })
      await test.api().submitCounterNotice({ id: made.id, ...counterNotice })
    })

    it('by everyone, but only with their status and dates', async () => {
      for (const api of [test.api(), alice.api, bob.api]) {
        const shown = await api.getDmca({ id: made.id })
        expect(Object.keys(shown).toSorted()).toEqual(['history', 'id', 'status', 'submittedAt'])
        expect(shown.history.map((step) => Object.keys(step))).toEqual([
          ['status', 'at'],
          ['status', 'at'],
        ])
        for (const trace of [...personalTraces, 'Private note', 'alice'])
          expect(JSON.stringify(shown)).not.toContain(trace)
      }
    })

    it('in full by administrators and by the holder of the case token', async () => {
      for (const api of [test.apiWith({ caseToken: made.caseToken }), test.admin.api]) {
        const shown = await api.getDmca({ id: made.id })
        expect(shown).toMatchObject({ status: 'removed', notice, skill: { fullName: /alice/ } })
        expect(shown.history.map(({ status, note }) => ({ status, note }))).toEqual([
          { status: 'submitted', note: '' },
          { status: 'removed', note: 'Private note.' },
        ])
        expect(shown.counterNotices).toMatchObject([{ ...counterNotice, confirmed: false }])
        expect(JSON.stringify(shown)).not.toContain(made.caseToken)
      }
    })

    it('not in full with a wrong token, and an unknown id returns not_found', async () => {
      const other = await makeFresh('submitted')
      for (const caseToken of ['x', `sct_${'A'.repeat(43)}`, other.caseToken]) {
        expect(await codeOf(test.apiWith({ caseToken }).getDmca({ id: made.id }))).toBe('forbidden')
        expect(await codeOf(test.apiWith({ caseToken }, alice).getDmca({ id: made.id }))).toBe('forbidden')
      }
      for (const id of ['x', made.id.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))]) {
        expect(await codeOf(test.api().getDmca({ id }))).toBe('not_found')
        expect(await codeOf(test.apiWith({ caseToken: made.caseToken }).getDmca({ id }))).toBe('not_found')
      }
    })

    it('in full with an administrator’s key only if the key has the scope `manage`', async () => {
      const { key } = await test.admin.api.createApiKey({ name: 'reader', scopes: ['read'] })
      const api = test.apiWithKey(key)
      expect(await codeOf(api.listDmca())).toBe('forbidden')
      expect(Object.keys(await api.getDmca({ id: made.id }))).not.toContain('notice')
    })

    it.runIf(transport === 'HTTP')('over HTTP without being cached if a token or key was used', async () => {
      const path = `/api/v1/dmca/${made.id}`
      const plain = await test.request(path)
      expect(plain.headers.get('cache-control')).toBe('no-cache')
      const etag = plain.headers.get('etag')!
      for (const [name, value] of [
        ['x-case-token', made.caseToken],
        ['authorization', `Bearer ${test.admin.key}`],
      ] as const) {
        const response = await test.request(path, { headers: { [name]: value, 'if-none-match': etag } })
        expect(response.status).toBe(200)
        expect(response.headers.get('cache-control')).toBe('private, no-store')
      }
      const wrong = await test.request(path, { headers: { 'x-case-token': 'x' } })
      expect({ status: wrong.status, cache: wrong.headers.get('cache-control') }).toEqual({
        status: 403,
        cache: 'private, no-store',
      })
    })

    it('as a list only by administrators, newest first, filtered by status, in pages', async () => {
      for (const [user, code] of [
        [undefined, 'unauthorized'],
        [alice, 'forbidden'],
      ] as const) {
        expect(await codeOf((user?.api ?? test.api()).listDmca())).toBe(code)
      }
      const other = await open()
      const owner = await other.makeUser('owner')
      await publish(owner, 'listed')
      const ids: string[] = []
      for (const status of ['submitted', 'rejected', 'submitted', 'under_review'] as const)
        ids.push((await makeCase(other, 'listed', owner, status)).id)
      const first = await other.admin.api.listDmca({ limit: 3 })
      expect(first.cases.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 3))
      expect(first).toMatchObject({ total: 4, page: 1, totalPages: 2 })
      expect(first.cases[0]).toMatchObject({ notice, skill: { fullName: 'owner/listed' } })
      expect((await other.admin.api.listDmca({ limit: 3, page: 2 })).cases.map(({ id }) => id)).toEqual([ids[0]])
      const submitted = await other.admin.api.listDmca({ status: 'submitted' })
      expect(submitted.cases.map(({ id }) => id)).toEqual([ids[2], ids[0]])
      expect(await other.admin.api.listDmca({ status: 'upheld' })).toEqual({
        cases: [],
        total: 0,
        page: 1,
        totalPages: 0,
      })
      expect(await fieldsOf(other.admin.api.listDmca({ status: 'gone' } as never))).toEqual(['status'])
    })
  })

  describe('change their status', () => {
    it.each(statuses)('from %s only if an administrator decides', async (from) => {
      const { id, caseToken } = await makeFresh(from)
      const before = await test.admin.api.getDmca({ id })
      const others: [string, RegistryApi, string][] = [
        ['a guest', test.api(), 'unauthorized'],
        ['the claimant', test.apiWith({ caseToken }), 'unauthorized'],
        ['a stranger', bob.api, 'forbidden'],
        ['the owner', alice.api, 'forbidden'],
      ]
      for (const [who, api, code] of others) {
        for (const status of statuses)
          expect(await codeOf(api.updateDmca({ id, status })), `${who}: ${from} to ${status}`).toBe(code)
      }
      expect(await test.admin.api.getDmca({ id })).toEqual(before)
    })

    const pairs = statuses.flatMap((from) => statuses.map((to) => ({ from, to })))
    const allowed = pairs.filter(({ from, to }) => decisions[from].includes(to))
    const refused = pairs.filter(({ from, to }) => !decisions[from].includes(to))

    it.each(allowed)('from $from to $to if an administrator decides', async ({ from, to }) => {
      const { id, name } = await makeFresh(from)
      if (to === 'counter_noticed') await bob.api.submitCounterNotice({ id, ...counterNotice })
      const decided = await test.admin.api.updateDmca({ id, status: to, note: 'Why.' })
      expect(decided).toMatchObject({ id, status: to })
      expect(decided.history.at(-1)).toMatchObject({ status: to, note: 'Why.' })
      expect(await statusOf(test, id)).toBe(to)
      const [entry] = (await test.admin.api.listAudit({ action: `dmca.${to}`, limit: 1 })).entries
      expect(entry).toMatchObject({ actor: 'root', subject: id })
      expect(await isHidden(test, name)).toBe(hiding.has(to))
    })

    it.each(statuses)('from %s only to an allowed status', async (from) => {
      const { id, name } = await makeFresh(from)
      const before = await test.admin.api.getDmca({ id })
      const audit = await readAudit(id)
      for (const { to } of refused.filter((pair) => pair.from === from))
        expect(await codeOf(test.admin.api.updateDmca({ id, status: to })), to).toBe('invalid_transition')
      expect(await test.admin.api.getDmca({ id })).toEqual(before)
      expect(await readAudit(id)).toEqual(audit)
      expect(await isHidden(test, name)).toBe(hiding.has(from))
    })

    it('from removed to counter_noticed only if a counter-notice is confirmed', async () => {
      const { id } = await makeFresh('removed')
      const decision = { id, status: 'counter_noticed' } as const
      expect(await codeOf(test.admin.api.updateDmca(decision))).toBe('invalid_transition')
      expect(await codeOf(test.admin.api.updateDmca({ ...decision, counterNoticeId: id }))).toBe('invalid_transition')
      expect(await statusOf(test, id)).toBe('removed')
    })

    it('neither with an unknown case id nor to an unknown status', async () => {
      expect(await codeOf(test.admin.api.updateDmca({ id: 'x', status: 'removed' }))).toBe('not_found')
      const { id } = await makeFresh('submitted')
      expect(await fieldsOf(test.admin.api.updateDmca({ id, status: 'gone' } as never))).toEqual(['status'])
    })

    it('only once, even if two administrators decide at the same moment', async () => {
      const { id } = await makeFresh('submitted')
      const both = await Promise.allSettled([
        test.admin.api.updateDmca({ id, status: 'rejected' }),
        test.admin.api.updateDmca({ id, status: 'rejected' }),
      ])
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect((await test.api().getDmca({ id })).history).toHaveLength(2)
    })
  })

  describe('are answered by a counter-notice', () => {
    it.each(statuses.filter((status) => status !== 'removed'))('from no one while the status is %s', async (status) => {
      const { id, caseToken } = await makeFresh(status)
      const before = await test.admin.api.getDmca({ id })
      for (const api of [test.api(), test.apiWith({ caseToken }), bob.api, alice.api, test.admin.api])
        expect(await codeOf(api.submitCounterNotice({ id, ...counterNotice }))).toBe('invalid_transition')
      expect(await test.admin.api.getDmca({ id })).toEqual(before)
    })

    it('from the owner, and then have a new status and a deadline', async () => {
      const { id, name } = await makeFresh('removed')
      expect((await refusalOf(alice.api.getSkill({ name }))).message, 'which the owner is told').toContain(id)
      expect((await refusalOf(bob.api.getSkill({ name }))).message).not.toContain(id)
      expect(await test.statusOf(alice, 'submitCounterNotice', { id, ...counterNotice })).toBe(201)
      const shown = await test.api().getDmca({ id })
      expect(shown).toMatchObject({ status: 'counter_noticed', counterNoticeUntil: expect.stringMatching(/Z$/) })
      expect((await test.admin.api.getDmca({ id })).counterNotices).toMatchObject([
        { ...counterNotice, confirmed: true },
      ])
      expect(await codeOf(test.api().getSkill({ name })), 'and the content stays hidden').toBe('taken_down')
      const [entry] = (await test.admin.api.listAudit({ action: 'dmca.counter_noticed', limit: 1 })).entries
      expect(entry).toMatchObject({ actor: 'alice', subject: id })
    })

    it('from another sender, without a new status until an administrator confirms the sender', async () => {
      const { id, caseToken } = await makeFresh('removed')
      const { key } = await alice.api.createApiKey({ name: 'reader', scopes: ['read'] })
      const senders = [test.api(), test.apiWith({ caseToken }), bob.api, test.admin.api, test.apiWithKey(key)]
      for (const [i, api] of senders.entries()) {
        const answer = await api.submitCounterNotice({ id, ...counterNotice, statement: `Statement ${i}.` })
        expect(answer).toMatchObject({ id, status: 'removed' })
        expect(answer).not.toHaveProperty('counterNoticeUntil')
        expect(JSON.stringify(answer)).not.toContain('Statement')
      }
      const { counterNotices } = await test.admin.api.getDmca({ id })
      expect(counterNotices!.map(({ statement, confirmed }) => [statement, confirmed])).toEqual(
        senders.map((_, i) => [`Statement ${i}.`, false]),
      )
      expect(
        await codeOf(test.admin.api.updateDmca({ id, status: 'counter_noticed' })),
        'which of them has to be said',
      ).toBe('conflict')
      const other = await makeFresh('removed')
      const unknown = { id, status: 'counter_noticed', counterNoticeId: other.id } as const
      expect(await codeOf(test.admin.api.updateDmca(unknown))).toBe('not_found')
      expect(await statusOf(test, id)).toBe('removed')
      const decided = await test.admin.api.updateDmca({
        id,
        status: 'counter_noticed',
        counterNoticeId: counterNotices![2]!.id,
      })
      expect(decided).toMatchObject({ status: 'counter_noticed' })
      expect(decided.counterNotices, 'the other counter-notices are no longer shown').toMatchObject([
        { statement: 'Statement 2.', confirmed: true },
      ])
    })

    it('from the owner, even if other senders answered before', async () => {
      const { id } = await makeFresh('removed')
      for (let i = 0; i < 20; i++) {
        // In-process calls have no address to count.
        await localApi(test.registry).submitCounterNotice({ id, ...counterNotice, name: `Stranger ${i}` })
      }
      expect(await codeOf(bob.api.submitCounterNotice({ id, ...counterNotice }))).toBe('conflict')
      await alice.api.submitCounterNotice({ id, ...counterNotice })
      expect((await test.admin.api.getDmca({ id })).counterNotices).toMatchObject([
        { name: counterNotice.name, confirmed: true },
      ])
      expect(await codeOf(bob.api.submitCounterNotice({ id, ...counterNotice }))).toBe('invalid_transition')
      expect(await codeOf(alice.api.submitCounterNotice({ id, ...counterNotice }))).toBe('invalid_transition')
    })

    it('from the current owner if the skill was transferred meanwhile', async () => {
      const { id, name } = await makeFresh('submitted')
      await alice.api.transferSkill({ name, newOwner: 'bob' })
      await bob.api.acceptTransfer({ name: `alice/${name}` })
      await test.admin.api.updateDmca({ id, status: 'removed' })
      for (const ref of [name, `alice/${name}`, `bob/${name}`])
        expect(await codeOf(test.api().getSkill({ name: ref })), ref).toBe('taken_down')
      expect(await alice.api.submitCounterNotice({ id, ...counterNotice })).toMatchObject({ status: 'removed' })
      expect(await bob.api.submitCounterNotice({ id, ...counterNotice })).toMatchObject({ status: 'counter_noticed' })
    })

    it.each([
      ['email', { email: 'x' }],
      ['address', { address: '' }],
      ['goodFaith', { goodFaith: false }],
      ['jurisdictionConsent', { jurisdictionConsent: undefined }],
      ['confirmed', { confirmed: true }],
    ])('but not with an invalid %s', async (field, wrong) => {
      const { id } = await makeFresh('removed')
      const input = { id, ...counterNotice, ...wrong } as never
      expect(await fieldsOf(alice.api.submitCounterNotice(input))).toEqual([field])
      expect(await statusOf(test, id)).toBe('removed')
      expect((await test.admin.api.getDmca({ id })).counterNotices).toEqual([])
    })

    it('only if the case exists', async () => {
      expect(await codeOf(alice.api.submitCounterNotice({ id: 'x', ...counterNotice }))).toBe('not_found')
    })
  })

  describe('the deadline after a counter-notice', () => {
    it.each([
      ['a Friday', '2026-02-06T12:00:00.000Z', '2026-02-20T12:00:00.000Z'],
      ['a Monday', '2026-02-09T23:30:00.000Z', '2026-02-23T23:30:00.000Z'],
      ['a Wednesday before a change of clocks', '2026-03-25T09:00:00.000Z', '2026-04-08T09:00:00.000Z'],
      ['a Saturday', '2026-02-07T08:00:00.000Z', '2026-02-20T08:00:00.000Z'],
      ['a Sunday', '2026-02-08T08:00:00.000Z', '2026-02-20T08:00:00.000Z'],
    ])('is ten business days after %s', async (_, at, until) => {
      const other = await open()
      const owner = await other.makeUser('owner')
      await publish(owner, 'timed')
      other.clock.set(Date.parse(at))
      const { id } = await makeCase(other, 'timed', owner, 'counter_noticed')
      expect((await other.api().getDmca({ id })).counterNoticeUntil).toBe(until)
    })
  })

  describe('with an expired deadline', () => {
    it('end at the deadline, and everyone can read the skill again', async () => {
      const { id, name } = await makeFresh('counter_noticed')
      const until = Date.parse((await test.api().getDmca({ id })).counterNoticeUntil!)
      test.clock.set(until - 1)
      await wake(test)
      expect(await statusOf(test, id)).toBe('counter_noticed')
      expect(await codeOf(test.api().getSkill({ name }))).toBe('taken_down')
      test.clock.set(until)
      await expect.poll(() => statusOf(test, id)).toBe('restored')
      expect((await test.api().getSkill({ name })).name).toBe(name)
      const shown = await test.api().getDmca({ id })
      expect(shown.history.map(({ status }) => status)).toEqual(['submitted', 'removed', 'counter_noticed', 'restored'])
      const { entries } = await test.admin.api.listAudit({ action: 'dmca.restored', limit: 100 })
      expect(entries.find(({ subject }) => subject === id)?.actor, 'the entry has no actor').toBeNull()
    })

    it('are checked again later if the clock went back after the deadline', async () => {
      const { id } = await makeFresh('counter_noticed')
      const { database, outbox } = partsOf(test.registry)
      // Due by another node's clock.
      await database.writer.write((trx) => outbox.enqueue(trx, { topic: 'dmca.restore', payload: { caseId: id } }))
      const readTries = () =>
        database.read
          .selectFrom('outbox')
          .select(['state', 'attempt_log'])
          .where('topic', '=', 'dmca.restore')
          .where('attempts', '>', 0)
          .where('payload', 'like', `%${id}%`)
          .execute()
      const waits = [{ state: 'pending', attempt_log: expect.stringContaining('has not expired') }]
      await expect.poll(readTries).toEqual(waits)
      expect(await statusOf(test, id)).toBe('counter_noticed')
    })

    it('stay in force if a court action was recorded before the deadline', async () => {
      const { id, name } = await makeFresh('upheld')
      test.clock.advance(30 * dayMs)
      await expect.poll(() => pendingRows(test, id)).toBe(0)
      expect(await statusOf(test, id)).toBe('upheld')
      expect(await codeOf(test.api().getSkill({ name }))).toBe('taken_down')
    })

    it('end when a node starts that was stopped at the deadline', async () => {
      const before = await open()
      const owner = await before.makeUser('owner')
      await publish(owner, 'asleep')
      const { id } = await makeCase(before, 'asleep', owner, 'counter_noticed')
      // The location stays until the suite ends; only the node stops.
      await before.registry.close()
      const { clock } = before
      clock.advance(100 * dayMs)
      const after = await open({ at: before.location, clock })
      await expect.poll(() => statusOf(after, id)).toBe('restored')
      expect((await after.api().getSkill({ name: 'asleep' })).fullName).toBe('owner/asleep')
    })
  })

  describe('about one skill', () => {
    it('hide the skill while at least one of the cases is a takedown in force', async () => {
      await publish(alice, 'twice')
      const first = await makeCase(test, 'twice', alice, 'removed')
      const second = await makeCase(test, 'twice', alice, 'removed')
      await alice.api.submitCounterNotice({ id: first.id, ...counterNotice })
      await runOut(test, first.id)
      expect(await isHidden(test, 'twice'), 'the second still hides it').toBe(true)
      await alice.api.submitCounterNotice({ id: second.id, ...counterNotice })
      await runOut(test, second.id)
      expect(await isHidden(test, 'twice')).toBe(false)
      const third = await makeCase(test, 'twice', alice, 'rejected')
      expect(await statusOf(test, third.id)).toBe('rejected')
      expect(await isHidden(test, 'twice')).toBe(false)
    })

    it('hide the skill exactly while the status of one case is removed, counter_noticed or upheld', async () => {
      const move = fc.record({ which: fc.nat(2), to: fc.constantFrom(...statuses) })
      await fc.assert(
        fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 15 }), async (moves) => {
          for (const { seen, meant } of await walk(moves)) expect(seen).toEqual(meant)
        }),
        { numRuns: 12 },
      )
    })

    it('continue after the owner deleted the skill, and the skill stays deleted', async () => {
      const { id, name } = await makeFresh('submitted')
      await alice.api.deleteSkill({ name })
      const { head } = await test.api().getFeed({ limit: 1 })
      await test.admin.api.updateDmca({ id, status: 'removed' })
      expect(await codeOf(test.api().getSkill({ name: `alice/${name}` }))).toBe('not_found')
      await alice.api.submitCounterNotice({ id, ...counterNotice })
      await runOut(test, id)
      expect(await codeOf(alice.api.getSkill({ name: `alice/${name}` }))).toBe('not_found')
      // The deadlines of other cases in this suite may expire as well.
      const since = JSON.stringify(await test.api().getFeed({ since: head, limit: 1000 }))
      expect(since).not.toContain(`alice/${name}"`)
    })
  })

  it('leave no personal data in the feed, the audit log or pending jobs', async () => {
    const { id } = await makeFresh('restored')
    await test.admin.api.listDmca()
    const feed = JSON.stringify(await test.api().getFeed({ limit: 1000 }))
    const database = partsOf(test.registry).database.read
    const stored = JSON.stringify([
      await database.selectFrom('audit').selectAll().execute(),
      await database.selectFrom('outbox').selectAll().execute(),
      await database.selectFrom('log').selectAll().execute(),
      await database.selectFrom('changes').selectAll().execute(),
    ])
    for (const trace of personalTraces) {
      expect(feed).not.toContain(trace)
      expect(stored).not.toContain(trace)
    }
    expect(feed, 'the feed knows of no cases').not.toContain(id)
  })

  it.runIf(transport === 'HTTP')('are limited per address and hour', async () => {
    const other = await open()
    const owner = await other.makeUser('owner')
    await publish(owner, 'flooded')
    for (let i = 0; i < 20; i++) await other.api().submitDmca({ skillName: 'flooded', ...notice })
    const refusal = await refusalOf(other.api().submitDmca({ skillName: 'flooded', ...notice }))
    expect(refusal.code).toBe('rate_limited')
    // The hour began with the first of them, and a test ends after two minutes.
    expect(refusal.retryAfterSeconds).toBeGreaterThan(3600 - 120)
    expect(refusal.retryAfterSeconds).toBeLessThanOrEqual(3600)
    expect((await other.admin.api.listDmca()).total).toBe(20)
  })
})

/** Workers poll once a second; a commit makes them poll at once. */
const wake = ({ registry }: TestRegistry) => partsOf(registry).database.writer.write(async () => {})

async function pendingRows({ registry }: TestRegistry, caseId: string): Promise<number> {
  const rows = await partsOf(registry)
    .database.read.selectFrom('outbox')
    .select('payload')
    .where('topic', '=', 'dmca.restore')
    .where('state', '=', 'pending')
    .execute()
  return rows.filter(({ payload }) => payload.includes(caseId)).length
}
