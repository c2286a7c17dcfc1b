import { verifyProvenance } from '@skillstead/client/verify'
import { localApi } from '@skillstead/core'
import { withParts } from '@skillstead/core/internal'
import type { Provenance } from '@skillstead/protocol'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { passed, post, publish, ranAt } from '../support/evaluation-acts.ts'
import { describeApi, describeInTurn, type TestRegistry, type TestUser } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { readKeys } from '../support/signed-log.ts'

type Proof = NonNullable<Provenance['evaluations']>[number]

const tea = { name: 'alice/tea', version: '1.0.0', evaluations: true }

describeApi('the results of evaluations in a record', (open) => {
  let test: TestRegistry
  let [alice, bob]: TestUser[] = []
  let keys: string[] = []
  let record: Provenance
  let other: Proof | undefined
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    keys = await readKeys(test.api())
    for (const name of ['tea', 'cake']) await publish(alice, name, '1.0.0')
    await post(bob, 'alice/cake', '1.0.0')
    await post(bob, tea.name, tea.version, passed(10))
    await post(bob, tea.name, tea.version, passed(80, { ranAt: ranAt(1) }))
    await post(alice, tea.name, tea.version, passed(70))
    await post(test.admin, tea.name, tea.version, passed(60))
    await test.admin.api.deleteEvaluation({ name: tea.name, version: tea.version, username: 'root' })
    record = await test.api().getProvenance(tea)
    other = (await test.api().getProvenance({ ...tea, name: 'alice/cake' })).evaluations![0]
  })
  const problemsOf = (changed: unknown) => verifyProvenance(changed, { keys }).problems.map(({ part }) => part)

  it('are proven by the log: the last result of each user, unless withdrawn', async () => {
    const report = verifyProvenance(record, { keys })
    expect(report.ok && report.evaluations.map(({ data }) => [data.author.username, data.result.withSkill])).toEqual([
      ['alice', { runs: 100, passed: 70 }],
      ['bob', { runs: 100, passed: 80 }],
    ])
  })

  it('are absent unless requested', async () => {
    const plain = await test.api().getProvenance({ name: tea.name })
    expect(plain).not.toHaveProperty('evaluations')
    expect(verifyProvenance(plain, { keys })).toMatchObject({ ok: true, evaluations: [] })
  })

  it('are an empty list for a version without results, or that is not public', async () => {
    await publish(alice!, 'plain', '1.0.0')
    expect((await test.api().getProvenance({ ...tea, name: 'alice/plain' })).evaluations).toEqual([])
    await publish(alice!, 'secret', '1.0.0', { visibility: 'private' })
    await post(alice!, 'alice/secret', '1.0.0')
    const secret = await alice!.api.getProvenance({ ...tea, name: 'alice/secret' })
    expect([secret.log, secret.evaluations]).toEqual([null, undefined])
    expect(verifyProvenance({ ...secret, evaluations: record.evaluations }, { keys }).ok).toBe(false)
  })

  it.each<[string, (first: Proof) => unknown, string]>([
    ['with another rate', (first) => ({ ...first, entry: first.entry.replace('"passed":70', '"passed":99') }), 'leaf'],
    ['under the author of another', (first) => ({ ...first, entry: first.entry.replace('"alice"', '"bob"') }), 'leaf'],
    ['at another place', (first) => ({ ...first, index: first.index - 1 }), 'inclusion'],
    ['of another version', () => other, 'entry'],
    ['that is the entry of the version', () => toVersionProof(), 'entry'],
    ['with a proof of nothing', (first) => ({ ...first, inclusionProof: [] }), 'inclusion'],
    ['that is no proof', () => ({ entry: 'bob says 99' }), 'record'],
  ])('are rejected if a result is replaced by one %s', (_, forge, part) => {
    const [first, ...others] = record.evaluations!
    expect(problemsOf({ ...record, evaluations: [forge(first!), ...others] })).toEqual([part])
  })

  it('are rejected if there are more than a record may have', () => {
    expect(problemsOf({ ...record, evaluations: Array(11).fill(other) })).toEqual(['record'])
  })

  function toVersionProof(): Proof {
    const { index, leafHash, inclusionProof, entry } = record.log!
    return { index, leafHash, inclusionProof, entry }
  }
})

describe('the results of evaluations in a record', () => {
  afterEach(endMirrors)

  describeInTurn('of a mirror', (open) => {
    it('are limited to one per user, so that a user with many results displaces no other user', async () => {
      const { test: upstream, url, alice } = await openUpstream(open)
      await publish(alice, 'tea', '1.0.0')
      await post(alice, tea.name, tea.version)
      await post(await upstream.makeUser('bob'), tea.name, tea.version)
      await upstream.makeUser('mallory')
      const addressLimits = { take: async () => true, require: async () => {} }
      const unlimited = withParts(upstream.registry, { addressLimits })
      const mallory = { api: localApi(unlimited, await upstream.registry.getCaller('mallory')) }
      for (let minute = 0; minute < 55; minute++)
        await post(mallory, tea.name, tea.version, passed(minute, { ranAt: ranAt(minute) }))
      const { mirror, test } = await openMirror(open)
      await mirror.add('main', url)
      await mirror.sync('main')
      for (const api of [upstream.api(), test.api()]) {
        const report = verifyProvenance(await api.getProvenance(tea), { keys: await readKeys(upstream.api()) })
        const proven = report.ok
          ? report.evaluations.map(({ data }) => [data.author.username, data.result.withSkill])
          : []
        expect(proven).toHaveLength(3)
        expect(Object.fromEntries(proven)).toMatchObject({ alice: {}, bob: {}, mallory: { passed: 54 } })
      }
    })

    it('are proven by the key of the publishing node', async () => {
      const { test: upstream, url, alice } = await openUpstream(open)
      await publish(alice, 'tea', '1.0.0')
      await post(alice, tea.name, tea.version)
      const { mirror, test } = await openMirror(open)
      await mirror.add('main', url)
      await mirror.sync('main')
      const record = await test.api().getProvenance(tea)
      const report = verifyProvenance(record, { keys: await readKeys(upstream.api()) })
      expect(report.ok && report.evaluations.map(({ data }) => data.author.username)).toEqual(['alice'])
    })
  })
})
