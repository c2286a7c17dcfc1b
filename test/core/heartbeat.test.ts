import { partsOf } from '@skillstead/core/internal'
import { limits } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, fieldsOf, skillMd } from '../support/answers.ts'
import { makeCase } from '../support/dmca-cases.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { sampleOf, type Verdict } from '../support/security-samples.ts'

/** Publishes a version with unique content. */
async function publish(owner: TestUser, name: string, version: string): Promise<void> {
  await owner.api.publishSkill({ skillMd: skillMd(name, { body: `Of ${version}.` }), version })
}

const otherDigest = `sha256:${'0'.repeat(64)}`

describeApi('a heartbeat', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    for (const name of ['fine', 'taken', 'flagged', 'yanked', 'yanked-all', 'drifted', 'left', 'old', 'everything']) {
      await publish(alice, name, '1.0.0')
      await publish(alice, name, '1.1.0')
    }
    await makeCase(test, 'alice/taken', alice, 'removed')
    await test.admin.api.moderateSkill({ name: 'alice/flagged', state: 'flagged', reason: 'For the owner alone.' })
    await alice.api.yankVersion({ name: 'alice/yanked', version: '1.0.0' })
    for (const version of ['1.0.0', '1.1.0']) await alice.api.yankVersion({ name: 'alice/yanked-all', version })
    await alice.api.publishSkill({ name: 'left', deprecated: true, deprecationMessage: 'No one\nmaintains it.' })
    await alice.api.publishSkill({ name: 'everything', deprecated: true })
  })

  const beat = (installed: (readonly [skillName: string, version: string, digest?: string])[], api = test.api()) =>
    api.heartbeat({
      installedSkills: installed.map(([skillName, version, digest]) => ({ skillName, version, digest })),
      platform: 'claude-code',
    })
  const reasonOf = async (...installed: Parameters<typeof beat>[0]) => {
    const { updates } = await beat(installed)
    expect(updates).toHaveLength(1)
    return `${updates[0]!.skillName}@${updates[0]!.installedVersion}: ${updates[0]!.reason}`
  }
  const replacementOf = async (name: string, user?: TestUser) => {
    const { updates } = await beat([[name, '1.0.0']], user?.api)
    return { replacement: updates[0]!.replacement, message: updates[0]!.message }
  }
  const deprecate = (name: string, deprecationMessage: string) =>
    alice.api.publishSkill({ name, deprecated: true, deprecationMessage })
  const setColumns = (fullName: string, columns: { verified?: number; agent_installs?: number }) =>
    partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('skills').set(columns).where('full_name', '=', fullName).execute()
    })

  const setVerdict = (fullName: string, verdict: Verdict) =>
    partsOf(test.registry).database.writer.write(async (trx) => {
      const skills = trx.selectFrom('skills').select('id').where('full_name', '=', fullName)
      await trx.updateTable('scans').set({ verdict }).where('skill_id', 'in', skills).execute()
    })

  describe('the report about an installed skill', () => {
    const cases: [name: string, version: string, digest: string | undefined, expected: object | undefined][] = [
      ['fine', '1.1.0', undefined, undefined],
      ['fine', '2.0.0', undefined, undefined],
      ['fine', '2.0.0', otherDigest, undefined],
      ['taken', '1.1.0', undefined, { reason: 'taken_down', latestVersion: '' }],
      ['flagged', '1.1.0', undefined, { reason: 'flagged', latestVersion: '1.1.0' }],
      ['yanked', '1.0.0', undefined, { reason: 'yanked', latestVersion: '1.1.0' }],
      ['yanked-all', '1.1.0', undefined, { reason: 'yanked', latestVersion: '' }],
      ['yanked-all', '0.9.0', undefined, undefined],
      ['drifted', '1.1.0', otherDigest, { reason: 'drifted', latestVersion: '1.1.0' }],
      ['left', '1.1.0', undefined, { reason: 'deprecated', latestVersion: '1.1.0' }],
      ['old', '1.0.0', undefined, { reason: 'outdated', latestVersion: '1.1.0' }],
      ['old', '0.0.1', otherDigest, { reason: 'outdated' }],
      ['fine', 'v1.1.0', undefined, undefined],
      ['yanked', 'v1.0.0', undefined, { reason: 'yanked', installedVersion: '1.0.0' }],
      ['drifted', 'V1.1.0', otherDigest, { reason: 'drifted', installedVersion: '1.1.0' }],
      ['old', '1.1', undefined, { reason: 'outdated' }],
      ['old', 'latest', undefined, { reason: 'outdated' }],
      ['old', '', undefined, { reason: 'outdated' }],
    ]
    it.each(cases)('for skill %s, version %s, digest %s is %o', async (name, version, digest, expected) => {
      const { updates, unknown } = await beat([[name, version, digest]])
      expect(unknown).toEqual([])
      const item = { skillName: name, fullName: `alice/${name}`, installedVersion: version, replacement: null }
      expect(updates).toMatchObject(expected ? [{ ...item, ...expected }] : [])
    })

    it('is missing if the reported digest is that of the published version', async () => {
      const { digest } = await test.api().getVersion({ name: 'drifted', version: '1.1.0' })
      expect((await beat([['drifted', '1.1.0', digest]])).updates).toEqual([])
    })

    it('contains a message with advice', async () => {
      const { updates } = await beat([
        ['taken', '1.0.0'],
        ['flagged', '1.0.0'],
        ['yanked', '1.0.0'],
        ['yanked-all', '1.0.0'],
        ['drifted', '1.0.0', otherDigest],
        ['left', '1.0.0'],
        ['old', '1.0.0'],
      ])
      expect(updates.map(({ message }) => message)).toEqual([
        'alice/taken is under a takedown and no longer served. Stop using it.',
        'alice/flagged is marked as dangerous. Stop using it.',
        'alice/yanked@1.0.0 was yanked. Install 1.1.0 instead.',
        'alice/yanked-all@1.0.0 was yanked, and there is no other version.',
        'Your copy of alice/drifted@1.0.0 differs from the published version. Install 1.0.0 again, or 1.1.0.',
        'alice/left is deprecated.',
        'alice/old is at 1.1.0, and you have 1.0.0. Update it.',
      ])
      expect(JSON.stringify(updates)).not.toContain('owner alone')
      const written = updates.map(({ fullName, deprecationMessage }) => [fullName, deprecationMessage])
      expect(written.filter(([, text]) => text !== '')).toEqual([['alice/left', 'No one\nmaintains it.']])
    })

    it('contains only the most severe reason, even if the heartbeat lists the skill twice', async () => {
      expect(await reasonOf(['everything', '1.0.0'])).toBe('everything@1.0.0: deprecated')
      expect(await reasonOf(['everything', '1.0.0', otherDigest])).toBe('everything@1.0.0: drifted')
      const twice = [
        ['everything', '1.1.0'],
        ['alice/everything', '1.0.0', otherDigest],
        ['everything', '1.0.0'],
      ] as const
      expect(await reasonOf(...twice)).toBe('alice/everything@1.0.0: drifted')
      await alice.api.yankVersion({ name: 'everything', version: '1.0.0' })
      expect(await reasonOf(...twice)).toBe('alice/everything@1.0.0: yanked')
      await test.admin.api.moderateSkill({ name: 'alice/everything', state: 'flagged', reason: 'No.' })
      expect(await reasonOf(...twice)).toBe('everything@1.1.0: flagged')
      await makeCase(test, 'alice/everything', alice, 'removed')
      expect(await reasonOf(...twice)).toBe('everything@1.1.0: taken_down')
    })

    it('is sent with the current time and the delay until the next heartbeat', async () => {
      expect(await beat([])).toEqual({
        updates: [],
        unknown: [],
        recommendations: expect.any(Array),
        serverTime: new Date(test.clock.now()).toISOString(),
        nextHeartbeatSeconds: 3600,
      })
    })
  })

  describe('the look-up of skills in a heartbeat', () => {
    beforeAll(async () => {
      for (const name of ['secret', 'inner', 'away', 'shut', 'gone']) await publish(alice, name, '1.1.0')
      await alice.api.publishSkill({ name: 'secret', visibility: 'private' })
      await alice.api.publishSkill({ name: 'inner', visibility: 'internal' })
      await alice.api.transferSkill({ name: 'alice/away', newOwner: 'bob' })
      await bob.api.acceptTransfer({ name: 'alice/away' })
      await test.admin.api.moderateSkill({ name: 'alice/shut', state: 'hidden', reason: 'No.' })
      await alice.api.deleteSkill({ name: 'alice/gone' })
    })
    const names = ['alice/secret', 'alice/inner', 'alice/away', 'alice/shut', 'alice/gone', 'alice/never', 'nowhere']
    const seen = async (user: TestUser | undefined, asked = names) => {
      const installed = asked.map((name) => [name, '1.0.0'] as const)
      const { updates, unknown } = await beat([...installed, ...installed], user?.api)
      expect([...updates.map(({ skillName }) => skillName), ...unknown].toSorted()).toEqual(asked.toSorted())
      return { found: updates.map(({ fullName }) => fullName), unknown }
    }

    it('finds skills that the caller may see, and lists every other name once as unknown', async () => {
      const carol = await test.makeUser('carol')
      const missing = ['alice/gone', 'alice/never', 'nowhere']
      expect(await seen(undefined)).toEqual({
        found: ['bob/away'],
        unknown: ['alice/secret', 'alice/inner', 'alice/shut', ...missing],
      })
      expect(await seen(carol)).toEqual({
        found: ['alice/inner', 'bob/away'],
        unknown: ['alice/secret', 'alice/shut', ...missing],
      })
      expect(await seen(alice)).toEqual({
        found: ['alice/secret', 'alice/inner', 'bob/away', 'alice/shut'],
        unknown: missing,
      })
      await addCollaborator(test, alice, { name: 'alice/secret', username: 'carol', role: 'read' })
      expect((await seen(carol)).found).toEqual(['alice/secret', 'alice/inner', 'bob/away'])
    })

    it('resolves a short name to the caller’s own skill, otherwise to the skill that holds the short name', async () => {
      await publish(alice, 'held', '1.1.0')
      await publish(bob, 'held', '1.1.0')
      await bob.api.publishSkill({ skillMd: skillMd('own'), version: '1.1.0', visibility: 'private' })
      await bob.api.publishSkill({ skillMd: skillMd('secret'), version: '1.1.0', visibility: 'private' })
      expect(await seen(bob, ['held', 'own', 'secret'])).toEqual({
        found: ['bob/held', 'bob/own', 'bob/secret'],
        unknown: [],
      })
      expect(await seen(alice, ['held', 'own', 'secret'])).toEqual({
        found: ['alice/held', 'alice/secret'],
        unknown: ['own'],
      })
      expect(await seen(undefined, ['held', 'own', 'secret'])).toEqual({
        found: ['alice/held'],
        unknown: ['own', 'secret'],
      })
    })

    it('reports a takedown only to callers who could see the skill', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('closed-case'), visibility: 'private' })
      const installed = [['alice/closed-case', '1.0.0']] as const
      await partsOf(test.registry).database.writer.write(async (trx) => {
        await trx.updateTable('skills').set({ state: 'taken_down' }).where('name', '=', 'closed-case').execute()
      })
      expect((await beat([...installed], alice.api)).updates).toMatchObject([{ reason: 'taken_down' }])
      expect(await beat([...installed], bob.api)).toMatchObject({ updates: [], unknown: ['alice/closed-case'] })
    })
  })

  describe('the replacement for an installed skill', () => {
    it('is the first safe public skill in the deprecation message', async () => {
      for (const name of ['next', 'also-left', 'bad', 'private-next', 'follower']) await publish(bob, name, '1.0.0')
      await bob.api.publishSkill({ skillMd: sampleOf('dangerous', 'hostile') })
      await bob.api.publishSkill({ skillMd: sampleOf('caution', 'careless') })
      await bob.api.publishSkill({ name: 'also-left', deprecated: true })
      await bob.api.publishSkill({ name: 'private-next', visibility: 'private' })
      await test.admin.api.moderateSkill({ name: 'bob/bad', state: 'flagged', reason: 'No.' })
      await publish(alice, 'replaced', '1.0.0')
      await deprecate('replaced', 'Not alice/replaced, bob/none, bob/also-left, bob/bad or bob/private-next.')
      expect((await replacementOf('replaced')).replacement).toBeNull()
      await deprecate('replaced', 'Not bob/hostile or bob/careless.')
      expect((await replacementOf('replaced')).replacement).toBeNull()
      await deprecate('replaced', 'Use bob/private-next or bob/next, says https://example.com/bob/follower.')
      expect(await replacementOf('replaced')).toEqual({
        replacement: 'bob/next',
        message: 'alice/replaced is deprecated. Use bob/next instead.',
      })
      await deprecate('replaced', 'Moved to alice/away.')
      expect((await replacementOf('replaced')).replacement).toBe('bob/away')
    })

    it('is the most installed fork by a verified author if the deprecation message names no skill', async () => {
      await publish(alice, 'forked', '1.0.0')
      const makers = await Promise.all(['f-1', 'f-2', 'f-3', 'f-4', 'f-5', 'f-6'].map((name) => test.makeUser(name)))
      for (const maker of makers) await maker.api.forkSkill({ name: 'alice/forked' })
      await deprecate('forked', '')
      expect((await replacementOf('forked')).replacement).toBeNull()
      await setColumns('f-1/forked', { verified: 1, agent_installs: 1 })
      await setColumns('f-2/forked', { verified: 1, agent_installs: 5 })
      await setColumns('f-3/forked', { verified: 0, agent_installs: 9 })
      await setColumns('f-4/forked', { verified: 1, agent_installs: 8 })
      await setColumns('f-5/forked', { verified: 1, agent_installs: 7 })
      await setColumns('f-6/forked', { verified: 1, agent_installs: 9 })
      await makers[3]!.api.publishSkill({ name: 'forked', visibility: 'private' })
      await test.admin.api.moderateSkill({ name: 'f-5/forked', state: 'flagged', reason: 'No.' })
      await setVerdict('f-6/forked', 'dangerous')
      expect(await replacementOf('forked')).toEqual({
        replacement: 'f-2/forked',
        message: 'alice/forked is deprecated. Use f-2/forked instead.',
      })
      await setVerdict('f-6/forked', 'safe')
      expect((await replacementOf('forked')).replacement).toBe('f-6/forked')
      expect((await replacementOf('alice/forked', makers[5])).replacement).toBe('f-2/forked')
      await deprecate('forked', 'Use f-6/forked.')
      expect((await replacementOf('alice/forked', makers[5])).replacement).toBe('f-2/forked')
      await setColumns('f-6/forked', { agent_installs: 0 })
      await deprecate('forked', '')
      await alice.api.transferSkill({ name: 'alice/forked', newOwner: 'bob' })
      await bob.api.acceptTransfer({ name: 'alice/forked' })
      expect((await replacementOf('bob/forked')).replacement).toBe('f-2/forked')
      await bob.api.publishSkill({ name: 'forked', deprecated: true, deprecationMessage: 'See bob/next.' })
      expect((await replacementOf('bob/forked')).replacement).toBe('bob/next')
    })

    it('is missing for a skill that only needs an update', async () => {
      await publish(alice, 'kept-up', '1.0.0')
      await publish(alice, 'kept-up', '1.1.0')
      await alice.api.publishSkill({ name: 'kept-up', deprecated: false, deprecationMessage: 'Or bob/next.' })
      expect((await replacementOf('kept-up')).replacement).toBeNull()
    })
  })

  describe('an invalid heartbeat', () => {
    const item = { skillName: 'fine', version: '1.0.0' }
    const tooMany = Array.from({ length: limits.heartbeatSkillsMax + 1 }, () => item)
    it.each([
      ['too many skills', { installedSkills: tooMany }, 'installedSkills'],
      ['a skill without a version', { installedSkills: [{ skillName: 'fine' }] }, 'installedSkills.0.version'],
      ['an unknown field', { installedSkills: [{ ...item, more: 1 }] }, 'installedSkills.0.more'],
      ['a text that no database takes', { installedSkills: [{ ...item, version: '\0' }] }, 'installedSkills.0.version'],
      ['a malformed key', { installedSkills: [item], agentKey: 'no-colon' }, 'agentKey'],
      ['another platform', { installedSkills: [item], agentKey: 'a:1', platform: 'b' }, 'platform'],
    ])('is rejected: %s', async (_, input, path) => {
      expect(await fieldsOf(test.api().heartbeat(input as never))).toEqual([path])
    })

    it("with another agent's token is rejected, and stores nothing", async () => {
      const { agentToken: token } = await test
        .api()
        .registerAgent({ agentKey: 'a:victim', displayName: 'V', platformId: 'a' })
      await test.api().registerAgent({ agentKey: 'a:thief', displayName: 'T', platformId: 'a' })
      const api = test.apiWith({ agentToken: token! })
      for (const agentKey of ['a:thief', 'a:unknown'])
        expect(await codeOf(api.heartbeat({ installedSkills: [item], agentKey }))).toBe('forbidden')
      const forger = test.apiWith({ agentToken: 'sat_forged' })
      expect(await codeOf(forger.heartbeat({ installedSkills: [item] }))).toBe('forbidden')
      for (const agentKey of ['a:victim', 'a:thief'])
        expect(await test.api().getAgent({ agentKey })).toMatchObject({ installCount: 0 })
    })
  })
})
