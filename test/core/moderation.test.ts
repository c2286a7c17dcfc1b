import { guest, localApi } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, refusalOf, skillMd, textOf } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const states = ['shown', 'flagged', 'hidden'] as const
type State = (typeof states)[number]

const moderate = (api: RegistryApi, name: string, state: State = 'hidden') =>
  api.moderateSkill({ name, state, reason: 'Because.' })
const appeal = (api: RegistryApi, name: string) => api.appealModeration({ name, statement: 'It does no harm.' })

describeApi('moderation', (open, { transport }) => {
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

  let made = 0
  /** A skill of alice's in a moderation state. */
  async function publish(state: State = 'shown', visibility: 'public' | 'private' = 'public'): Promise<string> {
    const name = `subject-${++made}`
    await alice.api.publishSkill({ skillMd: skillMd(name), visibility })
    if (state !== 'shown') await admin.api.moderateSkill({ name: `alice/${name}`, state, reason: `Made ${state}.` })
    return `alice/${name}`
  }

  /** The audit entries about a skill, oldest first. */
  async function auditOf(name: string) {
    const { entries } = await admin.api.listAudit({ limit: 100 })
    return entries.filter(({ subject, actor }) => subject === name && actor === 'root').toReversed()
  }

  describe('of a skill', () => {
    const pairs = states.flatMap((from) => states.map((to) => [from, to] as const))

    it.each(pairs)(
      'from %s to %s is decided by an administrator, with a reason and an audit entry',
      async (from, to) => {
        const name = await publish(from)
        const before = await admin.api.getModeration({ name })
        test.clock.advance(1000)
        const now = new Date(test.clock.now()).toISOString()
        const moderation = await admin.api.moderateSkill({ name, state: to, reason: 'A new reason.' })
        expect(moderation).toEqual({
          skill: { id: expect.any(String), fullName: name },
          state: to,
          reason: 'A new reason.',
          decidedAt: from === to ? before.decidedAt : now,
          appeals: [],
          cases: [],
        })
        expect(await alice.api.getModeration({ name })).toEqual(moderation)
        expect((await auditOf(name)).at(-1)).toMatchObject({
          action: `skill.${to}`,
          at: now,
          data: { reason: 'A new reason.' },
        })
      },
    )

    it.each(pairs)('from %s to %s is refused to everyone else, without effect', async (from, to) => {
      const name = await publish(from)
      const before = await admin.api.getModeration({ name })
      for (const [api, code] of [
        [test.api(), 'unauthorized'],
        [bob.api, 'forbidden'],
        [alice.api, 'forbidden'],
      ] as const)
        expect(await codeOf(moderate(api, name, to))).toBe(code)
      expect(await admin.api.getModeration({ name })).toEqual(before)
    })

    it('is shown only to the skill’s owner and administrators', async () => {
      const shown = await publish('flagged')
      expect(await codeOf(test.api().getModeration({ name: shown }))).toBe('unauthorized')
      expect(await codeOf(bob.api.getModeration({ name: shown }))).toBe('forbidden')
      const hidden = await publish('hidden')
      expect(await codeOf(bob.api.getModeration({ name: hidden }))).toBe('not_found')
      for (const user of [alice, admin])
        expect(await user.api.getModeration({ name: hidden })).toMatchObject({
          state: 'hidden',
          reason: 'Made hidden.',
        })
    })

    it('is possible for private skills by full name, without revealing these skills to others', async () => {
      const name = await publish('shown', 'private')
      expect(await codeOf(admin.api.getSkill({ name }))).toBe('not_found')
      expect(await moderate(admin.api, name)).toMatchObject({ state: 'hidden', skill: { fullName: name } })
      expect((await admin.api.getModeration({ name })).state).toBe('hidden')
      expect(await codeOf(bob.api.getModeration({ name }))).toBe('not_found')
      expect(await codeOf(bob.api.getSkill({ name }))).toBe('not_found')
      expect(await codeOf(moderate(admin.api, 'alice/not-there'))).toBe('not_found')
    })

    it('accepts the short name of a skill and its name before a transfer', async () => {
      const name = await publish()
      const short = name.split('/')[1]!
      expect((await moderate(admin.api, short, 'flagged')).skill.fullName).toBe(name)
      await alice.api.transferSkill({ name, newOwner: 'bob' })
      await bob.api.acceptTransfer({ name })
      expect(await moderate(admin.api, name)).toMatchObject({ state: 'hidden', skill: { fullName: `bob/${short}` } })
      expect(await codeOf(alice.api.getModeration({ name })), 'the former owner').toBe('not_found')
      expect((await bob.api.getModeration({ name: short })).state).toBe('hidden')
    })

    it('does not change a skill that its owner deleted', async () => {
      const name = await publish()
      await alice.api.deleteSkill({ name })
      expect(await codeOf(moderate(admin.api, name))).toBe('not_found')
      expect(await codeOf(admin.api.getModeration({ name }))).toBe('not_found')
      expect(await codeOf(alice.api.getModeration({ name }))).toBe('not_found')
    })

    it('requires a valid state and a reason', async () => {
      const name = await publish()
      const bad = { name, state: 'gone' as State, reason: 'x' }
      expect((await refusalOf(admin.api.moderateSkill(bad))).errors.map(({ path }) => path)).toEqual(['state'])
      const long = { name, state: 'hidden' as const, reason: 'x'.repeat(4001) }
      expect((await refusalOf(admin.api.moderateSkill(long))).errors.map(({ path }) => path)).toEqual(['reason'])
    })
  })

  describe('a hidden skill', () => {
    const reads: [string, (api: RegistryApi, name: string) => Promise<unknown>][] = [
      ['getSkill', (api, name) => api.getSkill({ name })],
      ['getSkillMd', (api, name) => api.getSkillMd({ name })],
      ['getArchive', (api, name) => api.getArchive({ name })],
      ['getFile', (api, name) => api.getFile({ name, path: 'SKILL.md' })],
      ['listVersions', (api, name) => api.listVersions({ name })],
      ['getVersion', (api, name) => api.getVersion({ name, version: '1.0.0' })],
    ]
    const actions: [string, (api: RegistryApi, name: string) => Promise<unknown>][] = [
      ['forkSkill', (api, name) => api.forkSkill({ name, newName: 'taken-along' })],
      ['starSkill', (api, name) => api.starSkill({ name })],
      ['reportSkill', (api, name) => api.reportSkill({ name, reason: 'spam' })],
      ['appealModeration', (api, name) => api.appealModeration({ name, statement: 'Please.' })],
      ['transferSkill', (api, name) => api.transferSkill({ name, newOwner: 'bob' })],
    ]
    let name: string
    beforeAll(async () => {
      name = await publish('hidden')
    })

    it.each([...reads, ...actions])('returns not_found to all but its owner and administrators: %s', async (_, act) => {
      for (const ref of [name, name.split('/')[1]!]) expect(await codeOf(act(bob.api, ref))).toBe('not_found')
    })

    it.each(reads)('is available to its owner and administrators: %s', async (_, read) => {
      expect(await codeOf(read(test.api(), name))).toBe('not_found')
      expect(await read(alice.api, name)).toBeDefined()
      expect(await read(admin.api, name)).toBeDefined()
    })

    it('cannot be forked', async () => {
      for (const { api } of [alice, admin])
        expect(await codeOf(api.forkSkill({ name, newName: 'under-another-name' }))).toBe('conflict')
      expect((await test.api().searchSkills({ q: 'under-another-name' })).total).toBe(0)
    })

    it('is in no list, pack, profile, completion, category or blob until it is shown again', async () => {
      const input = { skillMd: skillMd('quokka', { description: 'Quokka care.' }), category: 'Marsupials' }
      const { skill } = await alice.api.publishSkill(input)
      await alice.api.publishSkill({ skillMd: skillMd('quokka', { description: 'Quokka care.', body: 'Two.' }) })
      await alice.api.createPack({ name: 'Quokkas', description: '', skills: ['quokka'] })
      const digest = skill.files[0]!.digest
      async function look(api: RegistryApi) {
        const lines = await textOf(await api.batchBlobs({ digests: [digest] }))
        return {
          found: (await api.searchSkills({ q: 'quokka' })).total,
          owned: (await api.searchSkills({ owner: 'alice', limit: 100 })).skills.some((one) => one.name === 'quokka'),
          suggested: (await api.suggest({ q: 'quok' })).suggestions.length,
          category: JSON.stringify(await api.listCategories()).includes('Marsupials'),
          packed: (await api.getPack({ slug: 'quokkas' })).skillCount,
          profile: (await api.getUser({ username: 'alice' })).skills.some((one) => one.name === 'quokka'),
          blob: !lines.includes('missing') && (await textOf(await api.getBlob({ digest }))) !== '',
        }
      }
      const seen = { found: 1, owned: true, suggested: 1, category: true, packed: 1, profile: true, blob: true }
      const unseen = { found: 0, owned: false, suggested: 0, category: false, packed: 0, profile: false, blob: false }
      expect(await look(test.api())).toEqual(seen)
      const { head } = await test.api().getFeed()
      await moderate(admin.api, 'quokka')
      expect(await look(test.api())).toEqual(unseen)
      expect(await codeOf(test.api().getBlob({ digest }))).toBe('not_found')
      await moderate(admin.api, 'quokka', 'shown')
      expect(await look(test.api())).toEqual(seen)
      const { entries } = await test.api().getFeed({ since: head })
      expect(entries.map(({ type, subject }) => `${type} ${subject}`)).toEqual([
        'withdrawn alice/quokka',
        'version alice/quokka@1.0.0',
        'version alice/quokka@1.0.1',
        'skill alice/quokka',
      ])
      expect(JSON.stringify(entries), 'why is between the parties').not.toContain('Because.')
    })

    it('keeps its short name, and the short name resolves to no other skill', async () => {
      const hidden = await publish('hidden')
      const short = hidden.split('/')[1]!
      await bob.api.publishSkill({ skillMd: skillMd(short) })
      expect(await codeOf(test.api().getSkill({ name: short }))).toBe('not_found')
      expect((await bob.api.getSkill({ name: short })).fullName).toBe(`bob/${short}`)
      await moderate(admin.api, hidden, 'shown')
      expect((await test.api().getSkill({ name: short })).fullName).toBe(hidden)
    })

    it('stays hidden when its owner publishes, and adds no entries to the feed', async () => {
      const hidden = await publish('hidden')
      const { head } = await test.api().getFeed()
      const short = hidden.split('/')[1]!
      await alice.api.publishSkill({ skillMd: skillMd(short, { body: 'Newer.' }) })
      await alice.api.publishSkill({ name: short, visibility: 'private' })
      await alice.api.publishSkill({ name: short, visibility: 'public' })
      expect(await codeOf(bob.api.getSkill({ name: hidden }))).toBe('not_found')
      expect((await test.api().getFeed()).head).toBe(head)
    })
  })

  describe('under a takedown', () => {
    const claim = {
      claimantName: 'Ada Claim',
      claimantEmail: 'ada@example.org',
      workDescription: 'Our manual.',
      goodFaith: true as const,
      accuracy: true as const,
      signature: 'Ada Claim',
    }

    it('only the skill’s owner and administrators can read the moderation decision and the takedown cases', async () => {
      const name = await publish('flagged')
      const { id, submittedAt } = await test.api().submitDmca({ skillName: name, ...claim })
      await admin.api.updateDmca({ id, status: 'removed', note: 'Clear.' })
      expect(await codeOf(alice.api.getSkill({ name }))).toBe('taken_down')
      for (const ref of [name, name.split('/')[1]!])
        for (const user of [alice, admin]) {
          const moderation = await user.api.getModeration({ name: ref })
          expect(moderation).toMatchObject({ state: 'flagged', reason: 'Made flagged.' })
          expect(moderation.cases).toEqual([{ id, status: 'removed', submittedAt }])
          expect(JSON.stringify(moderation)).not.toContain('Ada')
        }
      expect(await codeOf(bob.api.getModeration({ name }))).toBe('taken_down')
      expect(await codeOf(test.api().getModeration({ name }))).toBe('unauthorized')
      expect((await appeal(alice.api, name)).status).toBe('open')
    })

    it('a skill can be hidden and shown by an administrator, but stays unavailable until the takedown ends', async () => {
      const name = await publish()
      const { id } = await test.api().submitDmca({ skillName: name, ...claim })
      await admin.api.updateDmca({ id, status: 'removed', note: '' })
      const { head } = await test.api().getFeed()
      for (const state of ['hidden', 'shown', 'hidden'] as const) {
        expect((await moderate(admin.api, name, state)).state).toBe(state)
        expect(await codeOf(bob.api.getSkill({ name }))).toBe('taken_down')
      }
      expect((await test.api().getFeed()).head).toBe(head)
      const counterNotice = {
        id,
        name: 'Alice',
        email: 'alice@example.org',
        address: '1 Road',
        statement: 'Ours.',
        signature: 'Alice',
        goodFaith: true as const,
        jurisdictionConsent: true as const,
      }
      await alice.api.submitCounterNotice(counterNotice)
      test.clock.advance(30 * 24 * 60 * 60 * 1000)
      await expect.poll(async () => (await alice.api.getModeration({ name })).cases[0]!.status).toBe('restored')
      expect(await codeOf(bob.api.getSkill({ name })), 'what was hidden meanwhile stays so').toBe('not_found')
      await moderate(admin.api, name, 'shown')
      expect((await bob.api.getSkill({ name })).fullName).toBe(name)
    })
  })

  it('a flagged skill is not hidden, and its flag is visible only to its owner and administrators', async () => {
    const name = await publish()
    const before = await test.api().getSkill({ name })
    const { head } = await test.api().getFeed()
    await moderate(admin.api, name, 'flagged')
    const after = await test.api().getSkill({ name })
    expect({ ...after, updatedAt: before.updatedAt }).toEqual(before)
    expect((await test.api().getFeed()).head).toBe(head)
    expect((await test.api().searchSkills({ owner: 'alice', limit: 100 })).skills.map((one) => one.fullName)).toContain(
      name,
    )
  })

  describe('reports', () => {
    it('are accepted from everyone who may see the skill, with status 202 and no details', async () => {
      const name = await publish()
      const input = { name, reason: 'malware', details: 'It reads keys.' }
      for (const user of [undefined, bob, alice, admin]) {
        expect(await test.statusOf(user, 'reportSkill', input)).toBe(202)
        const report = await (user?.api ?? test.api()).reportSkill(input)
        expect(report).toEqual({ id: expect.any(String), status: 'open', createdAt: expect.any(String) })
      }
      const hidden = await publish('shown', 'private')
      expect(await codeOf(test.api().reportSkill({ ...input, name: hidden }))).toBe('not_found')
      expect(await codeOf(bob.api.reportSkill({ ...input, name: hidden }))).toBe('not_found')
      expect((await refusalOf(bob.api.reportSkill({ name, reason: '' }))).errors.map(({ path }) => path)).toEqual([
        'reason',
      ])
    })

    it('are refused with an API key that has only the scope `read`', async () => {
      const name = await publish()
      const { key } = await bob.api.createApiKey({ name: 'reader', scopes: ['read'] })
      const { total } = await admin.api.listReports()
      expect(await codeOf(test.apiWithKey(key).reportSkill({ name, reason: 'spam' }))).toBe('forbidden')
      expect((await admin.api.listReports()).total).toBe(total)
    })

    it('are limited to one open report per user and skill, even concurrently', async () => {
      const name = await publish()
      const input = { name, reason: 'spam', details: 'First.' }
      const [first, second] = await Promise.all([bob.api.reportSkill(input), bob.api.reportSkill(input)])
      expect(second).toEqual(first)
      expect(await bob.api.reportSkill({ ...input, reason: 'other' })).toEqual(first)
      expect((await test.makeUser().then(({ api }) => api.reportSkill(input))).id).not.toBe(first.id)
      await admin.api.decideReport({ id: first.id, status: 'dismissed' })
      expect((await bob.api.reportSkill(input)).id).not.toBe(first.id)
      const { reports } = await admin.api.listReports({ limit: 100 })
      expect(
        reports.filter((report) => report.skill.fullName === name && report.reporter?.username === 'bob'),
      ).toHaveLength(2)
    })

    it.runIf(transport === 'HTTP')('of guests are limited per address and skill', async () => {
      const name = await publish()
      for (let i = 0; i < 5; i++) await test.api().reportSkill({ name, reason: 'spam' })
      const refusal = await refusalOf(test.api().reportSkill({ name, reason: 'spam' }))
      expect(refusal.code).toBe('rate_limited')
      await test.api().reportSkill({ name: await publish(), reason: 'spam' })
      await bob.api.reportSkill({ name, reason: 'spam' })
      const { reports } = await admin.api.listReports({ limit: 100, status: 'open' })
      expect(reports.filter((report) => report.skill.fullName === name)).toHaveLength(6)
    })

    it('of guests are also limited per address across all skills', async () => {
      const [here, there] = ['203.0.113.1', '203.0.113.2'].map((address) => localApi(test.registry, guest, { address }))
      const names = []
      for (let i = 0; i < 11; i++) names.push(await publish())
      for (const name of names.slice(0, 10))
        for (let i = 0; i < 5; i++) await here!.reportSkill({ name, reason: 'flood' })
      const { total } = await admin.api.listReports()
      const name = names[10]!
      expect(await codeOf(here!.reportSkill({ name, reason: 'flood' }))).toBe('rate_limited')
      expect((await admin.api.listReports()).total).toBe(total)
      expect(await there!.reportSkill({ name, reason: 'flood' })).toMatchObject({ status: 'open' })
    })

    it('are listed only for administrators, oldest first, by state and kind', async () => {
      for (const api of [test.api(), bob.api, alice.api])
        expect(await codeOf(api.listReports())).toMatch(/^(unauthorized|forbidden)$/)
      const own = await open()
      const carol = await own.makeUser('carol')
      await carol.api.publishSkill({ skillMd: skillMd('listed') })
      const names = []
      for (const reason of ['one', 'two', 'three']) {
        own.clock.advance(1000)
        names.push((await own.api().reportSkill({ name: 'listed', reason })).id)
      }
      await own.admin.api.moderateSkill({ name: 'listed', state: 'flagged', reason: 'Looked at.' })
      const plea = await carol.api.appealModeration({ name: 'listed', statement: 'No.' })
      await own.admin.api.decideReport({ id: names[0]!, status: 'dismissed', note: 'Nothing there.' })
      const list = async (input: object) => {
        const { reports, ...paging } = await own.admin.api.listReports(input)
        return { ids: reports.map(({ id }) => id), ...paging }
      }
      expect(await list({})).toEqual({ ids: [...names, plea.id], total: 4, page: 1, totalPages: 1 })
      expect(await list({ limit: 3, page: 2 })).toEqual({ ids: [plea.id], total: 4, page: 2, totalPages: 2 })
      expect(await list({ status: 'open', kind: 'report' })).toMatchObject({ ids: names.slice(1), total: 2 })
      expect(await list({ status: 'dismissed' })).toMatchObject({ ids: [names[0]], total: 1 })
      expect(await list({ kind: 'appeal' })).toMatchObject({ ids: [plea.id] })
      expect(await list({ status: 'upheld' })).toEqual({ ids: [], total: 0, page: 1, totalPages: 0 })
      expect((await refusalOf(own.admin.api.listReports({ kind: 'x' as 'appeal' }))).errors[0]!.path).toBe('kind')
    })
  })

  describe('an appeal', () => {
    it.each([
      ['shown', 'forbidden'],
      ['flagged', 'forbidden'],
      ['hidden', 'not_found'],
    ] as const)('about a %s skill is accepted only from its owner', async (state, code) => {
      const name = await publish(state)
      expect(await codeOf(appeal(test.api(), name))).toBe('unauthorized')
      expect(await codeOf(appeal(bob.api, name))).toBe(code)
      expect(await codeOf(appeal(admin.api, name))).toBe('forbidden')
      expect((await alice.api.getModeration({ name })).appeals).toEqual([])
    })

    it.each(['flagged', 'hidden'] as const)(
      'about a %s skill is accepted only if no other appeal about the skill is open',
      async (state) => {
        const name = await publish(state)
        const settled = await Promise.allSettled([appeal(alice.api, name), appeal(alice.api, name)])
        expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
        expect(await codeOf(appeal(alice.api, name))).toBe('conflict')
        const { appeals } = await alice.api.getModeration({ name })
        expect(appeals).toMatchObject([
          { kind: 'appeal', status: 'open', details: 'It does no harm.', reporter: { username: 'alice' }, note: '' },
        ])
        const { entries } = await admin.api.listAudit({ action: 'appeal.create' })
        expect(entries[0]).toMatchObject({ actor: 'alice', subject: name, data: { id: appeals[0]!.id } })
        expect(JSON.stringify(entries[0])).not.toContain('no harm')
      },
    )

    it('is refused if the skill was never hidden or is shown again', async () => {
      const name = await publish('hidden')
      await moderate(admin.api, name, 'shown')
      expect(await codeOf(appeal(alice.api, name))).toBe('invalid_transition')
      expect((await alice.api.getModeration({ name })).appeals).toEqual([])
    })

    it('returns 201, and allows another appeal once it is decided; the list shows the newest appeals first', async () => {
      const name = await publish('hidden')
      expect(await test.statusOf(alice, 'appealModeration', { name, statement: 'One.' })).toBe(201)
      const [first] = (await alice.api.getModeration({ name })).appeals
      await admin.api.decideReport({ id: first!.id, status: 'dismissed', note: 'No.' })
      await alice.api.appealModeration({ name, statement: 'Two.' })
      const { appeals, state } = await alice.api.getModeration({ name })
      expect(appeals.map(({ details, status, note }) => [details, status, note])).toEqual([
        ['Two.', 'open', ''],
        ['One.', 'dismissed', 'No.'],
      ])
      expect(state).toBe('hidden')
    })
  })

  it('appeals of a former owner and their answers are not shown to the next owner', async () => {
    const name = await publish('flagged')
    const { id } = await alice.api.appealModeration({ name, statement: 'Between us.' })
    await admin.api.decideReport({ id, status: 'dismissed', note: 'As you told us in private.' })
    const waiting = await appeal(alice.api, name)
    await alice.api.transferSkill({ name, newOwner: 'bob' })
    await bob.api.acceptTransfer({ name })
    const moved = name.replace('alice', 'bob')
    expect((await bob.api.getModeration({ name: moved })).appeals).toEqual([])
    const own = await appeal(bob.api, moved)
    expect(await codeOf(appeal(bob.api, moved))).toBe('conflict')
    expect((await bob.api.getModeration({ name: moved })).appeals.map((one) => one.id)).toEqual([own.id])
    const { reports } = await admin.api.listReports({ kind: 'appeal', limit: 100 })
    expect(reports.map((one) => one.id)).toEqual(expect.arrayContaining([id, waiting.id, own.id]))
  })

  describe('a decision', () => {
    const kinds = ['report', 'appeal'] as const
    const verdicts = ['upheld', 'dismissed'] as const
    const follows = { report: 'hidden', appeal: 'shown' } as const
    const decisions = kinds.flatMap((kind) => verdicts.map((verdict) => [kind, verdict] as const))

    async function file(kind: (typeof kinds)[number]) {
      const name = await publish(kind === 'appeal' ? 'hidden' : 'shown')
      const { id } =
        kind === 'appeal'
          ? await alice.api.appealModeration({ name, statement: 'Please.' })
          : await bob.api.reportSkill({ name, reason: 'spam', details: 'All of it.' })
      return { name, id }
    }

    it.each(decisions)('about %s: %s, is reserved for administrators', async (kind, status) => {
      const { name, id } = await file(kind)
      const before = await admin.api.getModeration({ name })
      for (const [api, code] of [
        [test.api(), 'unauthorized'],
        [bob.api, 'forbidden'],
        [alice.api, 'forbidden'],
      ] as const)
        expect(await codeOf(api.decideReport({ id, status }))).toBe(code)
      expect(await admin.api.getModeration({ name })).toEqual(before)
      const decided = await admin.api.decideReport({ id, status, note: 'Looked into.' })
      expect(decided).toMatchObject({ id, kind, status, note: 'Looked into.', skill: { fullName: name } })
      expect(decided.decidedAt).toBe(new Date(test.clock.now()).toISOString())
    })

    it.each(decisions)('about %s: %s, changes the skill and adds an audit entry only once', async (kind, status) => {
      const { name, id } = await file(kind)
      const before = await admin.api.getModeration({ name })
      const audit = await auditOf(name)
      await admin.api.decideReport({ id, status, note: 'Looked into.' })
      const after = await admin.api.getModeration({ name })
      const state = follows[kind]
      const same = { state: before.state, reason: before.reason }
      expect(after).toMatchObject(status === 'upheld' ? { state, reason: 'Looked into.' } : same)
      const verdict = { action: `${kind}.${status}`, data: { id, note: 'Looked into.' } }
      const action = { action: `skill.${state}`, data: { reason: 'Looked into.' } }
      const told = await auditOf(name)
      expect(told.slice(audit.length)).toMatchObject(status === 'upheld' ? [verdict, action] : [verdict])
      for (const again of verdicts)
        expect(await codeOf(admin.api.decideReport({ id, status: again }))).toBe('invalid_transition')
      expect(await admin.api.getModeration({ name })).toEqual(after)
      expect(await auditOf(name)).toEqual(told)
    })

    it.each(kinds)('about a %s is made only once if two administrators decide concurrently', async (kind) => {
      const { id, name } = await file(kind)
      const other = await test.makeUser(undefined, { role: 'admin' })
      const both = [
        admin.api.decideReport({ id, status: 'upheld' }),
        other.api.decideReport({ id, status: 'dismissed' }),
      ]
      const settled = await Promise.allSettled(both)
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const refused = settled.find(({ status }) => status === 'rejected') as PromiseRejectedResult
      expect(refused.reason).toMatchObject({ code: 'invalid_transition' })
      const { entries } = await admin.api.listAudit({ limit: 100 })
      expect(
        entries.filter(
          ({ subject, action }) => subject === name && action.startsWith(`${kind}.`) && action !== 'appeal.create',
        ),
      ).toHaveLength(1)
    })

    it('without a note does not change the reason that the owner sees', async () => {
      const { name, id } = await file('report')
      await moderate(admin.api, name)
      const before = await admin.api.getModeration({ name })
      await admin.api.decideReport({ id, status: 'upheld' })
      expect(await admin.api.getModeration({ name })).toEqual(before)
      const plea = await appeal(alice.api, name)
      await admin.api.decideReport({ id: plea.id, status: 'upheld' })
      expect(await admin.api.getModeration({ name }), 'not where the state is another').toMatchObject({
        state: 'shown',
        reason: '',
      })
    })

    it('can dismiss a report about a deleted skill, but not uphold it', async () => {
      const { name, id } = await file('report')
      await alice.api.deleteSkill({ name })
      expect(await codeOf(admin.api.decideReport({ id, status: 'upheld' }))).toBe('not_found')
      expect(await admin.api.decideReport({ id, status: 'dismissed' })).toMatchObject({ status: 'dismissed' })
      expect(await codeOf(admin.api.decideReport({ id: 'nothing', status: 'upheld' }))).toBe('not_found')
      const bad = admin.api.decideReport({ id, status: 'open' as 'upheld' })
      expect((await refusalOf(bad)).errors.map(({ path }) => path)).toEqual(['status'])
    })

    it('about a report shows the reporter only to administrators', async () => {
      const { name, id } = await file('report')
      await admin.api.decideReport({ id, status: 'upheld', note: 'Hidden for it.' })
      await alice.api.appealModeration({ name, statement: 'Please.' })
      const seen = JSON.stringify(await alice.api.getModeration({ name }))
      for (const trace of ['bob', id, 'All of it.', 'spam']) expect(seen).not.toContain(trace)
      const { reports } = await admin.api.listReports({ limit: 100, status: 'upheld' })
      expect(reports.find((report) => report.id === id)?.reporter).toEqual({ username: 'bob' })
      const feed = JSON.stringify(await test.api().getFeed({ limit: 1000 }))
      for (const trace of [id, 'All of it.', 'Hidden for it.']) expect(feed).not.toContain(trace)
    })
  })
})
