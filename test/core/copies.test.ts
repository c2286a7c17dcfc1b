import type { RegistryApi } from '@skillstead/protocol'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { measureSimilarity } from '../../packages/core/src/catalogue/sketches/similarity.ts'
import { codeOf, fieldsOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const scripts = ['the', 'file', 'reads', 'Sum', 'API', 'naïve', 'x1', '图', '像', 'する', 'ครับ', '🎉', '—', '**', '']
const word = fc.constantFrom(...scripts)
const bodies = fc.array(word, { maxLength: 40 }).map((words) => words.join(' '))
const telling = bodies.filter((text) => /[\p{L}\p{N}]/u.test(text))

const text = (from: number, words = 60) => Array.from({ length: words }, (_, i) => `word${from + i}`).join(' ')
const withCode = (from: number, fence: string, code: string) => `${text(from, 24)}\n\n${fence}\n${code}\n${fence}\n`
const commented = (from: number) => `${text(from, 24)}\n\n<!-- ${text(900, 12)} -->`

describe('the similarity of two bodies', () => {
  it('is between 0 and 1, and does not depend on the order of the bodies', () => {
    fc.assert(
      fc.property(bodies, fc.oneof(bodies, fc.string({ unit: 'binary' })), (a, b) => {
        const similarity = measureSimilarity(a, b)
        expect(similarity).toBeGreaterThanOrEqual(0)
        expect(similarity).toBeLessThanOrEqual(1)
        expect(measureSimilarity(b, a)).toBe(similarity)
      }),
    )
  })

  it('is 1 for any body and itself', () => {
    fc.assert(
      fc.property(fc.oneof(bodies, fc.string({ unit: 'binary' })), (a) => {
        expect(measureSimilarity(a, a)).toBe(1)
      }),
    )
  })

  it('is 1 for a body and a part of that body', () => {
    fc.assert(
      fc.property(bodies, telling, bodies, (before, part, after) => {
        expect(measureSimilarity(part, `${before} ${part} ${after}`)).toBe(1)
      }),
    )
  })

  it('ignores case, white space and punctuation', () => {
    fc.assert(
      fc.property(telling, bodies, (a, b) => {
        const dressed = a.toUpperCase().replaceAll(' ', ' \n\t- ')
        expect(measureSimilarity(dressed, b)).toBe(measureSimilarity(a, b))
      }),
    )
  })

  it.each([
    ['one two three four five six', 'one two three four five seven', 0.5],
    ['one two three four five', 'six seven eight nine ten', 0],
    ['one two three four five six', 'six one two three four five', 0.5],
    ['一二三四五六', '一二三四五七', 0.5],
    ['一二三四五', '零一二三四五六七', 1],
    ['', 'anything at all', 0],
    ['', '', 1],
    ['one two', 'three one two four five six', 1],
    ['one two', 'two one', 0],
  ])('of %j and %j is %d', (a, b, similarity) => {
    expect(measureSimilarity(a, b)).toBe(similarity)
  })

  it.each(['```', '~~~~'])('gives runs of words in code between %s three times the weight of other text', (fence) => {
    const [a, b, other] = [withCode(0, fence, text(900, 12)), withCode(100, fence, text(900, 12)), text(700, 12)]
    // 8 of 32 runs are in code.
    expect(measureSimilarity(a, b)).toBe((3 * 8) / (3 * 8 + 24))
    expect(measureSimilarity(a, withCode(100, fence, other))).toBe(0)
    expect(measureSimilarity(a, withCode(0, fence, other)), 'not lower because of other code').toBe(20 / 32)
  })

  it('does not take text in comments for code', () => {
    expect(measureSimilarity(commented(0), commented(100))).toBe(8 / 32)
  })
})

const report = (api: RegistryApi, name: string, originalSkillId: string, evidence = 'x') =>
  api.reportCopy({ name, originalSkillId, evidence })

describeApi('reports of copies', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let carol: TestUser
  const ids: Record<string, string> = {}
  async function publish(user: TestUser, name: string, body: string, visibility?: 'private') {
    const { skill } = await user.api.publishSkill({ skillMd: skillMd(name, { body }), visibility })
    ids[name] = skill.id
  }
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    carol = await test.makeUser('carol')
    await publish(alice, 'original', text(0))
    await publish(bob, 'copied', `Mine.\n\n${text(0).toUpperCase()}\n\n${text(1000)}`)
    await publish(bob, 'half', `${text(0, 34)} ${text(500, 30)}`)
    await publish(bob, 'unlike', text(2000))
    await publish(bob, 'private-copy', text(0), 'private')
  })

  it('return 201 with the similarity of the latest versions', async () => {
    test.clock.advance(1000)
    const input = { name: 'bob/copied', originalSkillId: ids.original!, evidence: 'Word for word.' }
    expect(await carol.api.reportCopy(input)).toEqual({
      id: expect.any(String),
      skillId: ids.copied,
      originalSkillId: ids.original,
      status: 'open',
      similarity: 1,
      evidence: 'Word for word.',
      createdAt: new Date(test.clock.now()).toISOString(),
    })
    expect(await test.statusOf(carol, 'reportCopy', { ...input, name: 'half' })).toBe(201)
    const half = await alice.api.reportCopy({ ...input, name: 'half' })
    expect(half.similarity).toBeCloseTo(30 / 56)
    expect((await carol.api.reportCopy({ ...input, name: 'unlike' })).similarity).toBe(0)
  })

  it('compare the bodies of the latest versions, not their frontmatter', async () => {
    const same = { description: 'The very same description in very many words, word for word the same.' }
    for (const [name, from] of [['front-a', 100] as const, ['front-b', 300] as const])
      await alice.api.publishSkill({ skillMd: skillMd(name, { ...same, body: text(from) }) })
    const input = { name: 'front-b', originalSkillId: 'front-a', evidence: 'x' }
    expect((await carol.api.reportCopy(input)).similarity).toBe(0)
    await alice.api.publishSkill({ skillMd: skillMd('front-b', { ...same, body: text(100) }) })
    expect((await bob.api.reportCopy(input)).similarity).toBe(1)
  })

  it('can refer to the original by its id, full name or short name', async () => {
    const user = await test.makeUser()
    for (const [name, originalSkillId] of [
      ['copied', ids.original!],
      ['half', 'alice/original'],
      ['unlike', 'original'],
    ] as const)
      expect(await user.api.reportCopy({ name, originalSkillId, evidence: 'x' })).toMatchObject({
        originalSkillId: ids.original,
      })
  })

  it('require two different skills that the reporter may see', async () => {
    expect(await codeOf(report(test.api(), 'copied', 'original'))).toBe('unauthorized')
    for (const [name, original] of [
      ['bob/private-copy', 'original'],
      ['nowhere', 'original'],
      ['copied', 'bob/private-copy'],
      ['copied', ids['private-copy']!],
      ['copied', 'nowhere'],
      ['copied', '01890000-0000-7000-8000-000000000000'],
      ['copied', ''],
    ] as const)
      expect(await codeOf(report(carol.api, name, original)), `${name} of ${original}`).toBe('not_found')
    for (const itself of [ids.original!, 'alice/original', 'original'])
      expect(await fieldsOf(report(carol.api, 'original', itself))).toEqual(['originalSkillId'])
    expect(await fieldsOf(report(carol.api, 'copied', 'original', ''))).toEqual(['evidence'])
    expect((await report(bob.api, 'bob/private-copy', 'original')).similarity, 'its owner sees it').toBe(1)
  })

  it('are refused for a skill that has no version to compare', async () => {
    await bob.api.publishSkill({ skillMd: skillMd('yanked') })
    await bob.api.yankVersion({ name: 'yanked', version: '1.0.0' })
    const input = { name: 'bob/yanked', originalSkillId: 'original', evidence: 'x' }
    expect(await codeOf(carol.api.reportCopy(input))).toBe('not_found')
  })

  it('are limited to one open report for each user and pair of skills', async () => {
    const user = await test.makeUser()
    const input = { name: 'copied', originalSkillId: 'original', evidence: 'x' }
    const settled = await Promise.allSettled([user.api.reportCopy(input), user.api.reportCopy(input)])
    expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await codeOf(user.api.reportCopy(input))).toBe('conflict')
    await user.api.reportCopy({ ...input, name: 'original', originalSkillId: 'copied' })
    const done = settled.find(({ status }) => status === 'fulfilled') as PromiseFulfilledResult<{ id: string }>
    await test.admin.api.decideCopyReport({ id: done.value.id, status: 'dismissed' })
    expect((await user.api.reportCopy(input)).status).toBe('open')
  })

  describe('are decided', () => {
    const verdicts = ['confirmed', 'dismissed'] as const

    it.each(verdicts)('with the status %s only by an administrator, and only once', async (status) => {
      const user = await test.makeUser()
      const { id, ...filed } = await user.api.reportCopy({
        name: 'copied',
        originalSkillId: 'original',
        evidence: 'x',
      })
      for (const [api, code] of [
        [test.api(), 'unauthorized'],
        [user.api, 'forbidden'],
        [alice.api, 'forbidden'],
        [bob.api, 'forbidden'],
      ] as const)
        expect(await codeOf(api.decideCopyReport({ id, status }))).toBe(code)
      const decided = await test.admin.api.decideCopyReport({ id, status, note: 'Compared.' })
      expect(decided).toEqual({ id, ...filed, status })
      const audit = async () =>
        (await test.admin.api.listAudit({ limit: 100 })).entries.filter(({ data }) => data.id === id)
      const before = await audit()
      expect(before).toMatchObject([
        {
          actor: 'root',
          action: `copy.${status}`,
          subject: 'bob/copied',
          data: { original: 'alice/original', note: 'Compared.' },
        },
      ])
      for (const again of verdicts)
        expect(await codeOf(test.admin.api.decideCopyReport({ id, status: again }))).toBe('invalid_transition')
      expect(await audit()).toEqual(before)
      const { copyReports } = await test.admin.api.listCopyReports({ status, limit: 100 })
      const names = { skill: { fullName: 'bob/copied' }, original: { fullName: 'alice/original' } }
      expect(copyReports).toContainEqual({ ...decided, ...names })
    })

    it('only with a status other than open, and only if the report exists', async () => {
      const bad = test.admin.api.decideCopyReport({ id: 'nothing', status: 'open' as 'confirmed' })
      expect(await fieldsOf(bad)).toEqual(['status'])
      expect(await codeOf(test.admin.api.decideCopyReport({ id: 'nothing', status: 'confirmed' }))).toBe('not_found')
    })
  })

  it('are listed only for administrators, oldest first, by state and page', async () => {
    for (const api of [test.api(), carol.api, alice.api])
      expect(await codeOf(api.listCopyReports())).toMatch(/^(unauthorized|forbidden)$/)
    const own = await open()
    const ann = await own.makeUser('ann')
    for (const name of ['a', 'b', 'c', 'd']) await ann.api.publishSkill({ skillMd: skillMd(name) })
    const made = []
    for (const name of ['b', 'c', 'd'])
      made.push((await ann.api.reportCopy({ name, originalSkillId: 'a', evidence: name })).id)
    await own.admin.api.decideCopyReport({ id: made[1]!, status: 'confirmed' })
    const list = async (input?: object) => {
      const { copyReports, ...paging } = await own.admin.api.listCopyReports(input)
      return { ids: copyReports.map(({ id }) => id), ...paging }
    }
    expect(await list()).toEqual({ ids: made, total: 3, page: 1, totalPages: 1 })
    expect(await list({ limit: 2, page: 2 })).toEqual({ ids: [made[2]], total: 3, page: 2, totalPages: 2 })
    expect(await list({ status: 'open' })).toMatchObject({ ids: [made[0], made[2]], total: 2 })
    expect(await list({ status: 'dismissed' })).toEqual({ ids: [], total: 0, page: 1, totalPages: 0 })
    expect(JSON.stringify(await own.api().getFeed({ limit: 1000 }))).not.toContain(made[0])
  })
})
