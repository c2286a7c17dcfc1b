import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { differenceInterval, type EvaluationSummary, wilsonInterval } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, fieldsOf, refusalOf } from '../support/answers.ts'
import { makeOrganisation } from '../support/collaboration.ts'
import { passed, post, publish, ranAt, result } from '../support/evaluation-acts.ts'
import { describeApi, describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'

const round = (value: number) => Math.round(value * 10_000) / 10_000

async function entriesOf(test: TestRegistry) {
  return (await test.api().getFeed({ limit: 1000 })).entries.filter(({ type }) => type === 'evaluation')
}

describeApi('results of evaluations', (open) => {
  let test: TestRegistry
  let [alice, bob, carol]: TestUser[] = []
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    carol = await test.makeUser('carol')
  })

  it('are listed, summarized in the details, and entered into the log', async () => {
    const { digest } = await publish(alice!, 'first', '1.0.0')
    const details = await test.api().getSkill({ name: 'first' })
    expect(details).not.toHaveProperty('evaluations')
    expect(details).not.toHaveProperty('effectLow')
    const given = result({
      withSkill: { runs: 100, passed: 90, tokens: 12_345, seconds: 61.5 },
      transcripts: `sha256:${'a'.repeat(64)}`,
    })
    const posted = { author: { username: 'bob' }, byOwner: false, version: '1.0.0', digest, ...given }
    const of = { name: 'first', version: '1.0.0' }
    expect(await test.statusOf(bob!, 'createEvaluation', { ...of, digest, ...given })).toBe(201)
    const { evaluations, total } = await test.api().listEvaluations(of)
    expect(evaluations).toEqual([{ ...posted, postedAt: '2026-01-02T12:00:00.000Z' }])
    expect(total).toBe(1)

    const both = [
      { runs: 100, passed: 90 },
      { runs: 100, passed: 50 },
    ] as const
    const [rate, rateWithout] = both.map(({ runs, passed: count }) => wilsonInterval(count, runs))
    const effect = differenceInterval(...both)
    const summary = {
      voices: 1,
      byOwner: 0,
      models: ['model-a'],
      withSkill: { rate: 0.9, low: round(rate!.low), high: round(rate!.high) },
      withoutSkill: { rate: 0.5, low: round(rateWithout!.low), high: round(rateWithout!.high) },
      effect: { value: 0.4, low: round(effect.low), high: round(effect.high) },
      effectLow: round(effect.low),
    }
    const shown = await test.api().getSkill({ name: 'first' })
    expect(shown).toMatchObject({ evaluations: summary, effectLow: summary.effect.low, updatedAt: details.updatedAt })
    expect((await test.api().getVersion(of)).evaluations).toEqual(summary)
    expect((await test.api().listVersions({ name: 'first' })).versions[0]!.evaluations).toEqual(summary)
    expect((await test.api().getSkill(of)).evaluations).toEqual(summary)

    const [entry, ...others] = (await entriesOf(test)).filter(({ subject }) => subject === 'alice/first@1.0.0')
    expect(others).toEqual([])
    expect(entry).toMatchObject({ digest, data: { author: { username: 'bob' }, byOwner: false, result: given } })
    expect(entry!.data).not.toHaveProperty('identity')
  })

  it('count once per user and version: a user’s later result replaces the earlier result', async () => {
    await publish(alice!, 'voices', '1.0.0')
    const of = { name: 'voices', version: '1.0.0' }
    await post(bob!, of.name, of.version, passed(10, { ranAt: ranAt(5) }))
    await post(carol!, of.name, of.version, passed(100, { model: 'model-b' }))
    for (const minute of [5, 4]) {
      const replay = await refusalOf(post(bob!, of.name, of.version, passed(100, { ranAt: ranAt(minute) })))
      expect([replay.code, replay.message]).toEqual(['conflict', expect.stringContaining(ranAt(5))])
    }
    expect((await test.api().getSkill(of)).evaluations).toMatchObject({ voices: 2, withSkill: { rate: 0.55 } })
    const { digest } = await bob!.api.getVersion(of)
    const later = { ...of, digest, ...passed(50, { ranAt: ranAt(6) }) }
    expect(await test.statusOf(bob, 'createEvaluation', later)).toBe(200)
    const { evaluations } = await test.api().getSkill(of)
    expect(evaluations).toMatchObject({ voices: 2, models: ['model-a', 'model-b'], withSkill: { rate: 0.75 } })
    expect((await test.api().listEvaluations(of)).total).toBe(2)
  })

  it('of a million runs weigh no more than results of a hundred runs', async () => {
    await publish(alice!, 'weights', '1.0.0')
    const count = 1_000_000
    await post(bob!, 'weights', '1.0.0', result({ withSkill: { runs: count, passed: count }, withoutSkill: undefined }))
    await post(carol!, 'weights', '1.0.0', result({ withSkill: { runs: 100, passed: 0 }, withoutSkill: undefined }))
    const { evaluations } = await test.api().getSkill({ name: 'weights' })
    const { rate, low, high } = wilsonInterval(100, 200)
    expect(evaluations!.withSkill).toEqual({ rate, low: round(low), high: round(high) })
    expect(evaluations).not.toHaveProperty('effect')
    expect(await test.api().getSkill({ name: 'weights' })).not.toHaveProperty('effectLow')
  })

  it('can be withdrawn by their author or an administrator, are logged as withdrawn, and cannot be posted again', async () => {
    await publish(alice!, 'withdrawn', '1.0.0')
    const of = { name: 'withdrawn', version: '1.0.0' }
    await post(bob!, of.name, of.version)
    await post(carol!, of.name, of.version)
    expect(await codeOf(alice!.api.deleteEvaluation({ ...of, username: 'bob' }))).toBe('forbidden')
    expect(await codeOf(test.api().deleteEvaluation({ ...of, username: 'bob' }))).toBe('unauthorized')
    await bob!.api.deleteEvaluation({ ...of, username: 'bob' })
    expect((await test.api().getSkill(of)).evaluations).toMatchObject({ voices: 1 })
    await test.admin.api.deleteEvaluation({ ...of, username: 'carol' })
    expect(await codeOf(carol!.api.deleteEvaluation({ ...of, username: 'carol' }))).toBe('not_found')
    expect(await test.api().getSkill(of)).not.toHaveProperty('evaluations')
    expect(await test.api().getSkill(of)).not.toHaveProperty('effectLow')
    expect((await test.api().listEvaluations(of)).total).toBe(0)
    expect(await codeOf(post(bob!, of.name, of.version))).toBe('conflict')
    const entries = (await entriesOf(test)).filter(({ subject }) => subject === 'alice/withdrawn@1.0.0')
    expect(entries.map(({ data }) => data['result'] === null)).toEqual([false, false, true, true])
    const { digest } = await bob!.api.getVersion(of)
    const later = { ...of, digest, ...passed(50, { ranAt: ranAt(9) }) }
    expect(await test.statusOf(bob, 'createEvaluation', later)).toBe(201)
  })
})

/** How a version of alice/tool compares with a lower one. */
async function changeOf(test: TestRegistry, version: string) {
  const { evaluations } = await test.api().getVersion({ name: 'tool', version })
  return [evaluations?.comparedTo, evaluations?.comparedBy, evaluations?.change]
}

/** Posts results of a user for both versions of alice/tool, of which so many of 100 runs passed. */
async function postBoth(user: TestUser, before: number, after: number): Promise<void> {
  await post(user, 'tool', '1.0.0', passed(before))
  await post(user, 'tool', '1.1.0', passed(after))
}

describeDatabases('results of evaluations', (open) => {
  const none = [undefined, undefined, undefined]

  async function openTool(versions: readonly string[]) {
    const test = await open()
    const [alice, bob, carol, dora] = await Promise.all(
      ['alice', 'bob', 'carol', 'dora'].map((name) => test.makeUser(name)),
    )
    for (const version of versions) await publish(alice!, 'tool', version)
    return { test, alice: alice!, bob: bob!, carol: carol!, dora: dora! }
  }

  it('are all counted if several users post at the same time', async () => {
    const { test, alice, bob, carol } = await openTool(['1.0.0'])
    await Promise.all([alice, bob, carol].map((user) => post(user, 'tool', '1.0.0')))
    expect((await test.api().getSkill({ name: 'tool' })).evaluations).toMatchObject({ voices: 3, byOwner: 1 })
  })

  it('mark a version that does worse than the previous version in results of the same users', async () => {
    const { test, alice, bob } = await openTool(['1.0.0', '1.1.0', '1.2.0', '1.3.0'])
    await post(alice, 'tool', '1.3.0', passed(50))
    expect(await changeOf(test, '1.3.0')).toEqual(none)
    await post(bob, 'tool', '1.2.0', passed(90))
    expect(await changeOf(test, '1.3.0')).toEqual(none)
    await post(alice, 'tool', '1.1.0', passed(55))
    expect(await changeOf(test, '1.3.0')).toEqual(['1.1.0', 1, 'same'])
    await post(alice, 'tool', '1.2.0', passed(90))
    expect(await changeOf(test, '1.3.0')).toEqual(['1.2.0', 1, 'worse'])
    expect(await changeOf(test, '1.2.0')).toEqual(['1.1.0', 1, 'better'])
    expect((await test.api().getSkill({ name: 'tool' })).evaluations).toMatchObject({ change: 'worse' })
    await alice.api.deleteEvaluation({ name: 'tool', version: '1.2.0', username: 'alice' })
    expect(await changeOf(test, '1.2.0')).toEqual(none)
    expect(await changeOf(test, '1.3.0')).toEqual(['1.1.0', 1, 'same'])
  })

  it('compare two versions only if at least three users other than the owner have results for both', async () => {
    const { test, alice, bob, carol, dora } = await openTool(['1.0.0', '1.1.0'])
    await post(dora, 'tool', '1.0.0', passed(100))
    await postBoth(bob, 100, 0)
    await postBoth(carol, 100, 0)
    expect(await changeOf(test, '1.1.0')).toEqual(none)
    await post(dora, 'tool', '1.1.0', passed(0, { model: 'model-b' }))
    expect(await changeOf(test, '1.1.0')).toEqual(none)
    await post(dora, 'tool', '1.1.0', passed(0, { ranAt: ranAt(1), cases: 10 }))
    expect(await changeOf(test, '1.1.0')).toEqual(none)
    await post(dora, 'tool', '1.1.0', passed(0, { ranAt: ranAt(2) }))
    expect(await changeOf(test, '1.1.0')).toEqual(['1.0.0', 3, 'worse'])
    // Most users, and not the extreme of one, make a change.
    await dora.api.deleteEvaluation({ name: 'tool', version: '1.1.0', username: 'dora' })
    await postBoth(alice, 90, 90)
    await post(carol, 'tool', '1.1.0', passed(100, { ranAt: ranAt(3) }))
    expect(await changeOf(test, '1.1.0')).toEqual(['1.0.0', 3, 'same'])
  })

  it('are accepted even if only the oldest of a thousand results for the previous version has the same model', async () => {
    const { test, alice, bob } = await openTool(['1.0.0', '1.1.0'])
    await post(bob, 'tool', '1.0.0', passed(90, { model: 'model-z' }))
    await partsOf(test.registry).database.writer.write(async (trx) => {
      const row = await trx.selectFrom('evaluations').selectAll().executeTakeFirstOrThrow()
      const rows = Array.from({ length: 1000 }, (_, n) => ({
        ...row,
        author_id: `user-${n}`,
        author: `user-${n}`,
        model: 'model-a',
        posted_at: row.posted_at + 1,
      }))
      await trx.insertInto('evaluations').values(rows).execute()
    })
    await post(alice, 'tool', '1.1.0', passed(90, { model: 'model-z' }))
    expect(await changeOf(test, '1.1.0')).toEqual(none)
    expect((await test.api().getSkill({ name: 'tool' })).evaluations).toMatchObject({ voices: 1, models: ['model-z'] })
  })

  it('are not compared with versions that are yanked or recalled', async () => {
    const { test, alice } = await openTool(['1.0.0', '1.1.0', '1.2.0', '1.3.0'])
    await alice.api.yankVersion({ name: 'tool', version: '1.2.0' })
    await alice.api.recallSkill({ name: 'tool', range: '1.1.0', reason: 'It deletes files.' })
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await post(alice, 'tool', version, passed(95))
    await post(alice, 'tool', '1.3.0', passed(10))
    expect(await changeOf(test, '1.3.0')).toEqual(['1.0.0', 1, 'worse'])
  })

  it('drop a comparison while the compared version is yanked or recalled', async () => {
    const { test, alice } = await openTool(['1.0.0', '1.1.0'])
    await postBoth(alice, 95, 10)
    const [of, tool] = [{ name: 'tool', version: '1.1.0' }, { name: 'alice/tool' }]
    const places: Readonly<Record<string, () => Promise<EvaluationSummary | undefined>>> = {
      details: async () => (await test.api().getSkill(tool)).evaluations,
      'details of a version': async () => (await test.api().getSkill({ ...tool, version: '1.1.0' })).evaluations,
      version: async () => (await test.api().getVersion(of)).evaluations,
      list: async () => (await test.api().listVersions({ ...tool, limit: 1 })).versions[0]!.evaluations,
      loading: async () => (await test.api().loadSkill({ ...tool, level: 'metadata' })).metadata.evaluations,
    }
    const expectCompared = async (change: string | undefined) => {
      const worse = change === undefined ? {} : { comparedTo: '1.0.0', comparedBy: 1, change }
      for (const [place, read] of Object.entries(places)) {
        const { voices, ...shown } = (await read())!
        const compared = Object.entries(shown).filter(([field]) => /^compared|^change/.test(field))
        expect([place, voices, Object.fromEntries(compared)]).toEqual([place, 1, worse])
      }
      const { updates } = await test
        .api()
        .heartbeat({ installedSkills: [{ skillName: 'alice/tool', version: '0.9.0' }] })
      expect(updates.map(({ worseThan }) => worseThan)).toEqual([worse.comparedTo])
    }
    await expectCompared('worse')
    await alice.api.yankVersion({ name: 'tool', version: '1.0.0' })
    await expectCompared(undefined)
    await alice.api.unyankVersion({ name: 'tool', version: '1.0.0' })
    await expectCompared('worse')
    const { id } = await alice.api.recallSkill({ name: 'tool', range: '1.0.0', reason: 'It deletes files.' })
    await expectCompared(undefined)
    await alice.api.endRecall({ name: 'tool', id })
    await expectCompared('worse')
  })

  it('make the confidence interval of the effect wider if they have few runs or few cases', async () => {
    const test = await open()
    const [alice, bob, carol] = [await test.makeUser('alice'), await test.makeUser('bob'), await test.makeUser('carol')]
    await publish(alice, 'tool', '1.0.0')
    await post(bob, 'tool', '1.0.0', passed(50))
    const one = { cases: 1, withSkill: { runs: 1, passed: 1 }, withoutSkill: { runs: 1, passed: 0 } }
    await post(carol, 'tool', '1.0.0', result(one))
    const { evaluations } = await test.api().getSkill({ name: 'tool' })
    expect(evaluations!.effect!.value).toBe(0.5)
    expect(evaluations!.effect!.low).toBeLessThan(0)
    const repeated = { cases: 1, withSkill: { runs: 100, passed: 100 }, withoutSkill: { runs: 100, passed: 0 } }
    await publish(alice, 'repeated', '1.0.0')
    await post(bob, 'repeated', '1.0.0', result(repeated))
    const { low } = wilsonInterval(5, 5)
    expect((await test.api().getSkill({ name: 'repeated' })).evaluations!.withSkill).toMatchObject({ low: round(low) })
  })

  it('warn an agent before an update that the latest version does worse', async () => {
    const test = await open()
    const [alice, bob] = [await test.makeUser('alice'), await test.makeUser('bob')]
    for (const name of ['tool', 'other']) for (const version of ['1.0.0', '1.1.0']) await publish(alice, name, version)
    const beat = async (version: string) => {
      const names = ['alice/tool', 'alice/other']
      const { updates } = await test.api().heartbeat({
        installedSkills: names.map((skillName) => ({ skillName, version })),
      })
      return updates.map(({ fullName, reason, worseThan, message }) => ({ fullName, reason, worseThan, message }))
    }
    await post(alice, 'tool', '1.0.0', passed(90))
    await post(bob, 'other', '1.0.0', passed(90))
    await post(alice, 'tool', '1.1.0', passed(30))
    await post(bob, 'other', '1.1.0', passed(0))
    const outdated = { fullName: 'alice/tool', reason: 'outdated', worseThan: '1.0.0' }
    const message = 'alice/tool is at 1.1.0, and you have 1.0.0. Update it.'
    const other = expect.objectContaining({
      fullName: 'alice/other',
      worseThan: undefined,
      message: expect.not.stringContaining('worse'),
    })
    const warning = `${message} 1 user reports that 1.1.0 does worse than 1.0.0.`
    expect(await beat('1.0.0')).toEqual([{ ...outdated, message: warning }, other])
    expect(await beat('1.1.0')).toEqual([])
    expect(await beat('0.9.0')).toMatchObject([{ worseThan: '1.0.0' }, {}])
    await alice.api.recallSkill({ name: 'tool', range: '1.0.0', reason: 'It deletes files.' })
    for (const version of ['1.0.0', '0.9.0']) {
      const [{ worseThan, message: advice }] = (await beat(version)) as [Awaited<ReturnType<typeof beat>>[number]]
      expect([worseThan, advice]).toEqual([undefined, expect.not.stringContaining('worse')])
    }
  })

  it('never warn an agent about an update that replaces a yanked or recalled version', async () => {
    const { test, alice, bob, carol, dora } = await openTool(['1.0.0', '1.1.0', '1.2.0'])
    for (const version of ['1.0.0', '1.1.0', '1.2.0'])
      for (const user of [bob, carol, dora]) await post(user, 'tool', version, passed(version === '1.2.0' ? 0 : 100))
    const beat = async () => {
      const { updates } = await test
        .api()
        .heartbeat({ installedSkills: [{ skillName: 'alice/tool', version: '1.0.0' }] })
      return [updates[0]!.reason, updates[0]!.worseThan, updates[0]!.message.includes('worse')]
    }
    expect(await beat()).toEqual(['outdated', '1.1.0', true])
    await alice.api.yankVersion({ name: 'tool', version: '1.0.0' })
    expect(await beat()).toEqual(['yanked', undefined, false])
    await alice.api.recallSkill({ name: 'tool', range: '1.0.0', reason: 'It deletes files.' })
    expect(await beat()).toEqual(['recalled', undefined, false])
  })

  it('are in the metadata that an agent loads, for the loaded version', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    for (const version of ['1.0.0', '1.1.0']) await publish(alice, 'tool', version)
    await post(alice, 'tool', '1.0.0')
    const load = async (version?: string) =>
      (await test.api().loadSkill({ name: 'tool', level: 'metadata', version })).metadata.evaluations
    expect(await load('1.0.0')).toEqual((await test.api().getVersion({ name: 'tool', version: '1.0.0' })).evaluations)
    expect(await load()).toBeUndefined()
  })

  it('sort lists and searches by the lower bound of the effect, skills without results last', async () => {
    const test = await open()
    const [alice, bob] = [await test.makeUser('alice'), await test.makeUser('bob')]
    for (const name of ['tool-a', 'tool-b', 'tool-c', 'tool-d']) await publish(alice, name, '1.0.0')
    await post(bob, 'tool-b', '1.0.0', passed(20))
    await post(bob, 'tool-c', '1.0.0', passed(95))
    await post(bob, 'tool-d', '1.0.0', passed(95, { cases: 3, withSkill: { runs: 3, passed: 3 } }))
    for (const q of ['', 'tool']) {
      const { skills } = await test.api().searchSkills({ q, sort: 'effect' })
      expect(skills.map(({ name }) => name)).toEqual(['tool-c', 'tool-d', 'tool-b', 'tool-a'])
      expect(skills.map(({ effectLow }) => effectLow !== undefined)).toEqual([true, true, true, false])
    }
    // Evidence belongs to a version: the next one has none yet.
    await publish(alice, 'tool-c', '1.1.0')
    const { skills } = await test.api().searchSkills({ q: 'tool', sort: 'effect' })
    expect(skills.map(({ name }) => name)).toEqual(['tool-d', 'tool-b', 'tool-a', 'tool-c'])
  })

  it('affect the order of lists if they come from trusted CI, but not if only the owner posted them', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    for (const name of ['own', 'built']) await publish(alice, name, '1.0.0')
    await post(alice, 'own', '1.0.0', passed(100))
    const identity = { issuer: 'https://ci.example', claims: { repository: 'alice/skills' } }
    const caller = { ...(await test.registry.getCaller('alice')), identity }
    await post({ api: localApi(test.registry, caller) }, 'built', '1.0.0', passed(70))
    const { skills } = await test.api().searchSkills({ q: '', sort: 'effect' })
    expect(skills.map(({ name, effectLow }) => [name, effectLow !== undefined])).toEqual([
      ['built', true],
      ['own', false],
    ])
    const { evaluations } = await test.api().getSkill({ name: 'own' })
    expect(evaluations).toMatchObject({ byOwner: 1, effect: { value: 0.5 } })
    expect(evaluations).not.toHaveProperty('effectLow')
  })

  it('of skills that are not public stay on the node, until the skill becomes public', async () => {
    const test = await open()
    const [alice, bob] = [await test.makeUser('alice'), await test.makeUser('bob')]
    const { digest } = await publish(alice, 'secret', '1.0.0', { visibility: 'private' })
    await publish(alice, 'secret', '1.1.0')
    const of = { name: 'alice/secret', version: '1.0.0' }
    for (const caller of [bob.api, test.api()]) {
      expect(await codeOf(caller.listEvaluations(of))).toBe('not_found')
    }
    expect(await codeOf(bob.api.createEvaluation({ ...of, digest, ...result() }))).toBe('not_found')
    await post(alice, of.name, of.version)
    await post(alice, of.name, '1.1.0')
    await alice.api.deleteEvaluation({ ...of, version: '1.1.0', username: 'alice' })
    expect(await entriesOf(test)).toEqual([])
    await alice.api.publishSkill({ name: of.name, visibility: 'public' })
    const { entries } = await test.api().getFeed({})
    expect(entries.map(({ type, subject }) => [type, subject])).toEqual([
      ['version', 'alice/secret@1.0.0'],
      ['version', 'alice/secret@1.1.0'],
      ['evaluation', 'alice/secret@1.0.0'],
      ['skill', 'alice/secret'],
    ])
  })

  it('are marked as results of the owner if their author may publish the skill', async () => {
    const test = await open()
    const [alice, bob] = [await test.makeUser('alice'), await test.makeUser('bob')]
    await makeOrganisation(test, 'acme', { alice: 'owner', bob: 'reader' })
    await publish(alice, 'acme/tool', '1.0.0')
    expect(await post(alice, 'acme/tool', '1.0.0')).toMatchObject({ byOwner: true })
    expect(await post(bob, 'acme/tool', '1.0.0')).toMatchObject({ byOwner: false })
    expect((await test.api().getSkill({ name: 'acme/tool' })).evaluations).toMatchObject({ voices: 2, byOwner: 1 })
  })

  it('may be posted with a key that is limited to the skill, but not with a key that is limited to another skill', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    for (const name of ['tool', 'other']) await publish(alice, name, '1.0.0')
    const { key } = await alice.api.createApiKey({ name: 'CI', limitedTo: 'alice/tool' })
    const limited: TestUser = { ...alice, key, api: test.apiWithKey(key) }
    expect(await post(limited, 'tool', '1.0.0')).toMatchObject({ author: { username: 'alice' } })
    expect(await codeOf(post(limited, 'other', '1.0.0'))).toBe('forbidden')
    await post(alice, 'other', '1.0.0')
    const other = { name: 'other', version: '1.0.0', username: 'alice' }
    expect(await codeOf(limited.api.deleteEvaluation(other))).toBe('forbidden')
    const { key: reading } = await alice.api.createApiKey({ name: 'reader', scopes: ['read'] })
    expect(await codeOf(post({ ...alice, api: test.apiWithKey(reading) }, 'tool', '1.0.0'))).toBe('forbidden')
  })

  describe('that a user posts', () => {
    let test: TestRegistry
    let [alice, bob]: TestUser[] = []
    let digest = ''
    const of = { name: 'tool', version: '1.0.0' }
    beforeAll(async () => {
      test = await open()
      alice = await test.makeUser('alice')
      bob = await test.makeUser('bob')
      digest = (await publish(alice, 'tool', '1.0.0')).digest
      await publish(alice, 'tool', '1.1.0')
    })

    it.each<[string, object, string]>([
      ['without a digest', { digest: undefined }, 'digest'],
      ['from the future', { ranAt: '2026-01-02T12:06:00.000Z' }, 'ranAt'],
      ['from before computers', { ranAt: '0001-01-01T00:00:00.000Z' }, 'ranAt'],
      ['with a time that JavaScript cannot read', { ranAt: '2026-01-01T00:00:00+01' }, 'ranAt'],
      ['at no time', { ranAt: 'yesterday' }, 'ranAt'],
      ['with more passed runs than runs', { withSkill: { runs: 10, passed: 11 } }, 'withSkill'],
      ['without runs', { withSkill: { runs: 0, passed: 0 } }, 'withSkill.runs'],
      ['with negative runs', { withSkill: { runs: 10, passed: -1 } }, 'withSkill.passed'],
      ['with half a run', { withSkill: { runs: 10, passed: 0.5 } }, 'withSkill.passed'],
      ['with absurdly many runs', { withSkill: { runs: 1e9, passed: 1 } }, 'withSkill.runs'],
      ['with absurdly many tokens', { withSkill: { runs: 1_000_000, passed: 1, tokens: 1e13 } }, 'withSkill.tokens'],
      ['with absurdly many seconds', { withSkill: { runs: 1, passed: 1, seconds: 1e300 } }, 'withSkill.seconds'],
      ['with negative seconds', { withoutSkill: { runs: 1, passed: 1, seconds: -1 } }, 'withoutSkill.seconds'],
      ['with absurdly many cases', { cases: 1e9 }, 'cases'],
      ['with a control character in the model', { model: 'model\u0000a' }, 'model'],
      ['with a line break in the model', { model: 'model\na' }, 'model'],
      ['with an invisible character in the runner', { runner: 'skillstead\u200b eval' }, 'runner'],
      ['with an escape sequence in the runner', { runner: '\u001b[31mred' }, 'runner'],
      ['with an empty runner', { runner: '' }, 'runner'],
      ['with a very long model', { model: 'a'.repeat(81) }, 'model'],
      ['with markup in the model', { model: '<img src=x>' }, 'model'],
      ['with more cases than runs', { cases: 101 }, 'cases'],
      ['with more cases than runs without the skill', { withoutSkill: { runs: 19, passed: 1 } }, 'cases'],
      ['with absurdly many tokens of a run', { withSkill: { runs: 20, passed: 1, tokens: 1e8 * 20 + 1 } }, 'withSkill'],
      ['with a transcript in place of its digest', { transcripts: 'the secret is 1234' }, 'transcripts'],
      ['with a list of digests', { transcripts: [`sha256:${'a'.repeat(64)}`] }, 'transcripts'],
      ['with unknown fields', { author: 'alice' }, 'author'],
    ])('are refused: %s', async (_, more, field) => {
      const call = bob!.api.createEvaluation({ ...of, digest, ...result(), ...more })
      expect(await fieldsOf(call)).toEqual([field])
      expect((await test.api().listEvaluations(of)).total).toBe(0)
    })

    it('are refused with the digest of another version, for an unknown version or skill, and from guests', async () => {
      const given = { digest, ...result() }
      const create = (user: TestUser, where: object) => user.api.createEvaluation({ ...of, ...where, ...given })
      expect(await codeOf(create(bob!, { version: '9.9.9' }))).toBe('not_found')
      expect(await codeOf(create(bob!, { name: 'missing' }))).toBe('not_found')
      expect(await codeOf(test.api().createEvaluation({ ...of, ...given }))).toBe('unauthorized')
      const other = await refusalOf(create(bob!, { version: '1.1.0' }))
      expect([other.code, other.message]).toEqual([
        'conflict',
        expect.stringContaining('alice/tool@1.1.0 has the digest'),
      ])
      expect((await test.api().listEvaluations({ ...of, version: '1.1.0' })).total).toBe(0)
    })

    it('are refused after many results of one user in an hour, or for one version in a day', async () => {
      let count = 0
      const postAt = async (name: string, minute: number) => {
        await post(alice!, name, '1.0.0', result({ ranAt: ranAt(minute) }))
        count += 1
      }
      const flood = async (name: string) => {
        for (let minute = 0; ; minute++) await postAt(name, minute)
      }
      await publish(alice!, 'flooded', '1.0.0')
      const refusal = await refusalOf(flood('flooded'))
      expect([refusal.code, refusal.message]).toEqual(['rate_limited', expect.stringContaining('in the last day')])
      expect(count).toBe(6)
      expect(await post(bob!, 'flooded', '1.0.0')).toMatchObject({ author: { username: 'bob' } })
      expect((await test.api().listEvaluations({ name: 'flooded', version: '1.0.0' })).total).toBe(2)
      const names = Array.from({ length: 19 }, (_, i) => `flooded-${i}`)
      await Promise.all(names.map((name) => publish(alice!, name, '1.0.0')))
      for (let minute = 0; minute < 5; minute++) await Promise.all(names.map((name) => postAt(name, minute)))
      const many = async () => {
        for (const name of names) await postAt(name, 5)
      }
      const later = await refusalOf(many())
      expect([later.code, later.message]).toEqual(['rate_limited', expect.stringContaining('in the last hour')])
      expect(count).toBe(119)
    })
  })
})
