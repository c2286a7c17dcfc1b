import { verifyProvenance } from '@skillstead/client/verify'
import { localApi } from '@skillstead/core'
import { createBundle, importBundle, verifyBundle } from '@skillstead/mirror'
import type { RegistryApi } from '@skillstead/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { codeOf } from '../support/answers.ts'
import { alter, bundleOf, makeFile, openPublisher } from '../support/bundle-acts.ts'
import { passed, post, publish, ranAt, result } from '../support/evaluation-acts.ts'
import { openFalseNode, type FalseEntry, type FalseNode } from '../support/false-node.ts'
import { describeDatabases, describeInTurn, startMs, type Open, type TestRegistry } from '../support/harness.ts'
import { openTestMirror } from '../support/mirror-acts.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { readKeys } from '../support/signed-log.ts'
import { makeSshSigner, toSigned } from '../support/ssh-signer.ts'
import { findDamage } from '../support/mirror-state.ts'

afterEach(endMirrors)

const of = { name: 'alice/tea', version: '1.1.0' }

/** The results of two versions in a registry. */
async function readResults(api: RegistryApi) {
  const { evaluations, effectLow } = await api.getSkill({ name: of.name })
  const lists = []
  for (const version of ['1.0.0', '1.1.0']) lists.push(await api.listEvaluations({ ...of, version }))
  return { evaluations, effectLow, lists }
}

async function countEntries(test: Pick<TestRegistry, 'api'>): Promise<number> {
  return (await test.api().getFeed({ limit: 1000 })).entries.filter(({ type }) => type === 'evaluation').length
}

/** Two versions with results of two users; the later is worse. */
async function evaluate(test: TestRegistry): Promise<void> {
  const [alice, bob] = [test.api('alice'), (await test.makeUser('bob')).api]
  for (const version of ['1.0.0', '1.1.0']) await publish({ api: alice }, 'tea', version)
  await post({ api: alice }, of.name, '1.0.0', passed(95))
  await post({ api: bob }, of.name, '1.1.0', passed(30, { transcripts: `sha256:${'c'.repeat(64)}` }))
  await post({ api: alice }, of.name, '1.1.0', passed(50))
}

describeDatabases('evaluation results', (open) => {
  it('are imported by a mirror, with replacements and withdrawals, and relayed to its mirrors', async () => {
    const { test: upstream, url } = await openUpstream(open)
    await evaluate(upstream)
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', url)
    expect(await mirror.sync('main')).toMatchObject({ applied: 5, refusedTotal: 0 })
    const expected = await readResults(upstream.api())
    expect(expected.evaluations).toMatchObject({ voices: 2, byOwner: 1, comparedTo: '1.0.0', change: 'worse' })
    expect(await readResults(test.api())).toEqual(expected)
    const { skills } = await test.api().searchSkills({ sort: 'effect' })
    expect(skills[0]).toMatchObject({ fullName: of.name, effectLow: expected.effectLow })

    await post({ api: upstream.api('bob') }, of.name, of.version, passed(99, { ranAt: ranAt(5) }))
    await upstream.api('alice').deleteEvaluation({ ...of, username: 'alice' })
    await mirror.sync('main')
    const later = await readResults(upstream.api())
    expect(later.evaluations).toMatchObject({ voices: 1 })
    expect(later.evaluations).not.toHaveProperty('change')
    expect(await readResults(test.api())).toEqual(later)
    expect(await countEntries(test)).toBe(5)
    await mirror.sync('main', { full: true })
    expect([await readResults(test.api()), await countEntries(test)]).toEqual([later, 5])
    expect(await findDamage(test.registry)).toEqual([])
  })

  it('keep the signatures of users, on the mirror, in its log and in a bundle', async () => {
    const { test: upstream, url, alice } = await openUpstream(open)
    const { digest } = await publish(alice, 'tea', '1.1.0')
    const signer = makeSshSigner()
    await post(alice, of.name, of.version, await toSigned(alice, of, { signer, result: result() }))
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', url)
    expect(await mirror.sync('main')).toMatchObject({ refusedTotal: 0 })
    const file = await makeFile()
    await createBundle(upstream.registry, file)
    const away = await open({ origin: 'away.example', works: false })
    await importBundle(away.registry, file)
    for (const { registry, api } of [upstream, test, away]) {
      const { evaluations } = await api().listEvaluations(of)
      expect(evaluations).toMatchObject([{ digest, signedBy: { fingerprint: signer.fingerprint } }])
      expect((await api().getSkill(of)).evaluations).toMatchObject({ signedBy: [signer.fingerprint] })
      const logged = (await api().getFeed({ limit: 1000 })).entries.find(({ type }) => type === 'evaluation')
      expect(logged!.data).toMatchObject({ result: { signature: evaluations[0]!.signature } })
      expect(await findDamage(registry)).toEqual([])
    }
  })

  it('name the CI identity that posted them, on the mirror and in the proof', async () => {
    const { test: upstream, url, alice } = await openUpstream(open)
    await publish(alice, 'tea', '1.1.0')
    const identity = { issuer: 'https://ci.example', claims: { repository: 'alice/skills' } }
    const caller = { ...(await upstream.registry.getCaller('alice')), identity }
    await post({ api: localApi(upstream.registry, caller) }, of.name, of.version)
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', url)
    await mirror.sync('main')
    for (const api of [upstream.api(), test.api()])
      expect((await api.listEvaluations(of)).evaluations).toMatchObject([{ author: { username: 'alice' }, identity }])
    const record = await test.api().getProvenance({ ...of, evaluations: true })
    const report = verifyProvenance(record, { keys: await readKeys(upstream.api()) })
    expect(report.ok && report.evaluations.map(({ data }) => data.identity)).toEqual([identity])
  })

  it('are read through a mirror that has not imported the skill', async () => {
    const { test: upstream, url } = await openUpstream(open)
    await evaluate(upstream)
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', url, { mode: 'pull-through' })
    expect(await test.api().listEvaluations(of)).toEqual(await upstream.api().listEvaluations(of))
  })

  it('of a mirrored skill are posted and withdrawn at its upstream', async () => {
    const { test: upstream, url } = await openUpstream(open)
    await evaluate(upstream)
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', url)
    await mirror.sync('main')
    const dora = await test.makeUser('dora')
    expect(await codeOf(post(dora, of.name, of.version))).toBe('conflict')
    expect(await codeOf(test.admin.api.deleteEvaluation({ ...of, username: 'bob' }))).toBe('conflict')
    expect(await readResults(test.api())).toEqual(await readResults(upstream.api()))
  })

  it('are imported from a bundle, even after the skill got a new full name', async () => {
    const origin = await openPublisher(open)
    await evaluate(origin.test)
    const away = await open({ origin: 'away.example', works: false })
    await importBundle(away.registry, await bundleOf(origin))
    expect(await readResults(away.api())).toEqual(await readResults(origin.test.api()))
    const bob = origin.test.api('bob')
    await origin.alice.api.transferSkill({ name: of.name, newOwner: 'bob' })
    await bob.acceptTransfer({ name: of.name })
    await importBundle(away.registry, await bundleOf(origin))
    const { evaluations } = await away.api().getSkill({ name: 'bob/tea' })
    expect(evaluations).toEqual((await origin.test.api().getSkill({ name: 'bob/tea' })).evaluations)
    const { entries } = await away.api().getFeed({ limit: 1000 })
    const renamed = entries.filter(({ type, subject }) => type === 'evaluation' && subject.startsWith('bob/'))
    expect(renamed).toHaveLength(3)
  })
})

describe('a forged evaluation result in a bundle', () => {
  it('is refused with the whole bundle, even if the header is signed again', async () => {
    const { registry, user } = await openTestMirror({ origin: 'origin.example' })
    const api = await user('alice')
    await publish({ api }, 'tea', '1.1.0')
    await post({ api }, of.name, of.version, passed(12))
    const file = await makeFile()
    await createBundle(registry, file)
    await expect(verifyBundle(file)).resolves.toMatchObject({ header: { origin: 'origin.example' } })
    const forged = await alter(registry, file, (parts) => {
      const log = parts.find(({ bytes }) => Buffer.from(bytes).includes('"passed":12'))!
      log.bytes = Buffer.from(Buffer.from(log.bytes).toString().replace('"passed":12', '"passed":99'))
    })
    await expect(verifyBundle(forged)).rejects.toThrow(/^The bundle is damaged/)
  })
})

describeInTurn('evaluation results in the log of a malicious upstream', (open: Open) => {
  const author = { id: '019b0000-0000-7000-8000-00000000000b', username: 'bob' }

  function append(
    node: FalseNode,
    version: FalseEntry,
    more: Record<string, unknown>,
    entry: Partial<FalseEntry> = {},
  ) {
    const { skill, owner, version: number } = version.data
    const times = { ranAt: ranAt(0), postedAt: ranAt(1) }
    const data = { skill, owner, version: number, author, byOwner: false, ...times, result: result(), ...more }
    node.append({ type: 'evaluation', subject: version.subject, digest: version.digest, data, ...entry })
  }

  async function follow(spoil: (node: FalseNode, version: FalseEntry) => void) {
    const node = await openFalseNode(startMs)
    const version = node.publish('alice/tea', { version: '1.1.0' })
    spoil(node, version)
    node.publish('alice/after')
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', node.url, { everySeconds: 0, maxAgeSeconds: 0 })
    await mirror.sync('main')
    expect(await test.api().getSkill({ name: 'alice/after' })).toMatchObject({ latestVersion: '1.0.0' })
    return (await test.api().listEvaluations(of)).evaluations
  }

  it('are applied if they are valid, and a replayed or older result changes nothing', async () => {
    const later = { ranAt: ranAt(9), result: passed(70, { ranAt: ranAt(9) }) }
    const evaluations = await follow((node, version) => {
      append(node, version, {})
      append(node, version, later)
      append(node, version, {})
      append(node, version, { postedAt: ranAt(10) })
    })
    expect(evaluations).toMatchObject([{ author: { username: 'bob' }, ranAt: ranAt(9), withSkill: { passed: 70 } }])
  })

  it.each<[string, Record<string, unknown>, Partial<FalseEntry>?]>([
    ['under another digest', {}, { digest: `sha256:${'d'.repeat(64)}` }],
    ['without a digest', {}, { digest: null }],
    ['of a version that does not exist', { version: '9.9.9' }, { subject: 'alice/tea@9.9.9' }],
    ['under the subject of another skill', {}, { subject: 'alice/other@1.1.0' }],
    ['with more passed runs than runs', { result: result({ withSkill: { runs: 1, passed: 2 } }) }],
    ['with more cases than runs', { result: result({ cases: 101 }) }],
    ['with absurd numbers', { result: result({ withSkill: { runs: 1e300, passed: 1 } }) }],
    ['with control characters', { result: result({ model: 'a\u0000\u001b[2J' }) }],
    ['with a very long name', { result: result({ runner: 'x'.repeat(40_000) }) }],
    ['with an author without a name', { author: { ...author, username: '../root' } }],
    ['with a time that is none', { ranAt: 'never' }],
    ['without a result', { result: null }],
    ['with a result that is a text', { result: 'good' }],
    ['with the signature of another text', { result: result({ signature: makeSshSigner().sign('other') }) }],
    ['with a signature that is a text', { result: result({ signature: 'signed by bob' }) }],
  ])('are refused: %s', async (_, more, entry) => {
    expect(await follow((node, version) => append(node, version, more, entry))).toEqual([])
  })
})
