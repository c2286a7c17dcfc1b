import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { passed, post, publish, ranAt, result } from '../support/evaluation-acts.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { makeSshSigner, toSigned } from '../support/ssh-signer.ts'

const tea = { name: 'alice/tea', version: '1.0.0' }
const reason = 'It deletes files.'

async function findFaults({ registry }: Pick<TestRegistry, 'registry'>): Promise<string[]> {
  const findings = await checkRegistry(registry, { deep: true })
  return findings.filter(({ ok, name }) => !ok && name === 'entries').map(({ detail }) => detail)
}

/** Results and recalls of a skill in all of their states. */
async function fill(test: TestRegistry): Promise<void> {
  const [alice, bob] = [await test.makeUser('alice'), await test.makeUser('bob')]
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) await publish(alice, 'tea', version)
  await post(bob, tea.name, tea.version, passed(10))
  const given = result({ ranAt: ranAt(1), transcripts: `sha256:${'a'.repeat(64)}` })
  await post(bob, tea.name, tea.version, await toSigned(bob, tea, { signer: makeSshSigner(), result: given }))
  await post(alice, tea.name, '1.1.0')
  await alice.api.deleteEvaluation({ ...tea, version: '1.1.0', username: 'alice' })
  const identity = { issuer: 'https://ci.example', claims: { repository: 'alice/skills' } }
  const caller = { ...(await test.registry.getCaller('alice')), identity }
  await post({ api: localApi(test.registry, caller) }, tea.name, '2.0.0')
  const { id } = await alice.api.recallSkill({ name: tea.name, range: '2.0.0', reason })
  await alice.api.endRecall({ name: tea.name, id })
  await alice.api.recallSkill({ name: tea.name, range: '^1.1.0', reason })
  await test.admin.api.recallSkill({ name: tea.name, range: '0.9.0 - 1.0.0', reason })
}

describeDatabases('doctor --deep with evaluation results and recalls', (open) => {
  let test: TestRegistry
  beforeAll(async () => {
    test = await open({ works: false })
    await fill(test)
  })
  afterAll(endMirrors)

  it('finds no fault in undamaged results and recalls', async () => {
    expect(await findFaults(test)).toEqual([])
  })

  const damages: readonly (readonly [what: string, statement: string, told: RegExp])[] = [
    [
      'the runs of a result',
      `update evaluations set result = replace(result, '"passed":90', '"passed":91')`,
      /result\./,
    ],
    ['the time of a result', 'update evaluations set ran_at = 5', /differ in ranAt/],
    ['the author of a result', `update evaluations set author = 'mallory'`, /differ in author/],
    ['who could publish', 'update evaluations set by_owner = 1 - by_owner', /differ in byOwner/],
    ['the CI job of a result', 'update evaluations set identity = null', /alice\/tea@2\.0\.0 .*differ in identity/],
    ['transcripts', `update evaluations set transcripts = ''`, /of bob for alice\/tea@1\.0\.0 .*differ in result/],
    ['a signature', `update evaluations set result = replace(result, 'SSH', 'PGP')`, /differ in result/],
    ['a hidden result', 'update evaluations set withdrawn = 1', /differ in result/],
    ['a withdrawn result', 'update evaluations set withdrawn = 0', /of alice for alice\/tea@1\.1\.0 .*in result/],
    ['a deleted result', `delete from evaluations where author = 'bob'`, /is of a result for .*which is missing/],
    [
      'an added result',
      `update evaluations set version_id = (select id from versions where version = '1.1.0') where author = 'bob'`,
      /of bob for alice\/tea@1\.1\.0 has no entry/,
    ],
    ['a deleted recall', `update skills set recalls = '[]'`, /is of a recall of alice\/tea, which is not active/],
    [
      'the reason of a recall',
      `update skills set recalls = replace(recalls, 'deletes', 'saves')`,
      /\^1\.1\.0 .*differ/,
    ],
    ['an ended recall', `update skills set recalls = replace(recalls, '"endedAt"', '"x"')`, /2\.0\.0 of .*is active/],
    ['a recalled version', 'update versions set recalled_by = null', /tea@1\.1\.0 is not recalled, unlike/],
    ['another recalled version', `update versions set recalled_by = 'x'`, /tea@2\.0\.0 is recalled, unlike/],
    [
      'an added recall',
      `update skills set recalls = '[{"id":"x","range":"1.0.0","reason":"No.","at":5}]'`,
      /recall 1\.0\.0 of alice\/tea has no entry/,
    ],
  ]

  it.each(damages)('reports damage to %s', async (_, statement, told) => {
    const { database } = partsOf(test.registry)
    const before = {
      evaluations: await database.read.selectFrom('evaluations').selectAll().execute(),
      skills: await database.read.selectFrom('skills').select(['id', 'recalls']).execute(),
      versions: await database.read.selectFrom('versions').select(['id', 'recalled_by']).execute(),
    }
    await database.writer.write((trx) => sql.raw(statement).execute(trx))
    const faults = await findFaults(test)
    await database.writer.write(async (trx) => {
      await trx.deleteFrom('evaluations').execute()
      await trx.insertInto('evaluations').values(before.evaluations).execute()
      for (const { id, recalls } of before.skills)
        await trx.updateTable('skills').set({ recalls }).where('id', '=', id).execute()
      for (const { id, recalled_by } of before.versions)
        await trx.updateTable('versions').set({ recalled_by }).where('id', '=', id).execute()
    })
    expect(faults.join('\n')).toMatch(told)
    expect(await findFaults(test)).toEqual([])
  })

  it('finds no fault after a skill with results and recalls was private and then changed its owner', async () => {
    const own = await open({ works: false })
    await fill(own)
    const alice = own.api('alice')
    const setVisibility = (visibility: 'private' | 'public') => alice.publishSkill({ name: tea.name, visibility })
    await setVisibility('private')
    const { recalls } = await alice.listRecalls({ name: tea.name })
    for (const { id, endedAt, byAdministrator } of recalls)
      if (!endedAt && !byAdministrator) await alice.endRecall({ name: tea.name, id })
    await alice.recallSkill({ name: tea.name, range: '1.0.0', reason })
    await alice.deleteEvaluation({ ...tea, version: '2.0.0', username: 'alice' })
    expect(await findFaults(own)).toEqual([])
    await setVisibility('public')
    expect(await findFaults(own)).toEqual([])
    await alice.transferSkill({ name: tea.name, newOwner: 'bob' })
    await own.api('bob').acceptTransfer({ name: tea.name })
    expect(await findFaults(own)).toEqual([])
  })

  it('finds no fault in results and recalls on a mirror', async () => {
    const { test: upstream, url, alice } = await openUpstream(open)
    for (const version of ['1.0.0', '1.1.0']) await publish(alice, 'tea', version)
    await post(alice, tea.name, tea.version)
    await alice.api.recallSkill({ name: tea.name, range: '1.1.0', reason })
    const { mirror, test: copy } = await openMirror(open)
    await mirror.add('main', url)
    await mirror.sync('main')
    for (const one of [upstream, copy]) expect(await findFaults(one)).toEqual([])
    await partsOf(copy.registry).database.writer.write((trx) =>
      trx.updateTable('versions').set({ recalled_by: null }).execute(),
    )
    expect((await findFaults(copy)).join('\n')).toMatch(/tea@1\.1\.0 is not recalled, unlike in the recalls/)
  })
})
