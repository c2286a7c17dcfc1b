import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

function report(api: RegistryApi, agentKey: string, names: readonly string[], version = '1.0.0') {
  return api.heartbeat({ agentKey, installedSkills: names.map((skillName) => ({ skillName, version })) })
}

describeApi('the stored skills of an agent', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let carol: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    carol = await test.makeUser('carol')
    for (const name of ['one', 'two', 'three', 'four']) await alice.api.publishSkill({ skillMd: skillMd(name) })
    await alice.api.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
  })

  const register = async (agentKey: string, user?: TestUser) => {
    const platformId = agentKey.split(':')[0]!
    const { agentToken } = await test.api().registerAgent({ agentKey, displayName: agentKey, platformId })
    return test.apiWith({ agentToken: agentToken! }, user)
  }
  const readStored = (agentKey: string) =>
    partsOf(test.registry)
      .database.read.selectFrom('agent_skills')
      .innerJoin('agents', 'agents.id', 'agent_skills.agent_id')
      .innerJoin('skills', 'skills.id', 'agent_skills.skill_id')
      .select(['full_name', 'version', 'installed_at'])
      .where('agent_key', '=', agentKey)
      .orderBy('full_name')
      .execute()
  const stored = async (agentKey: string) =>
    (await readStored(agentKey)).map((row) => `${row.full_name}@${row.version}`)
  const installsOf = async (fullName: string) =>
    (
      await partsOf(test.registry)
        .database.read.selectFrom('skills')
        .select('agent_installs')
        .where('full_name', '=', fullName)
        .executeTakeFirstOrThrow()
    ).agent_installs
  const activityOf = async (agentKey: string, api = test.admin.api) =>
    (await api.getAgent({ agentKey })).activity.map(({ type, skill, detail }) => `${type} ${skill ?? ''} ${detail}`)

  it('are stored only if the report has the token of the agent, and only differences are written', async () => {
    const api = await register('cli:one', carol)
    await report(api, 'cli:one', ['one', 'alice/two', 'nowhere', 'alice/secret'])
    expect(await stored('cli:one')).toEqual(['alice/one@1.0.0', 'alice/two@1.0.0'])
    test.clock.advance(1000)
    await report(api, 'cli:one', ['one', 'three'])
    await report(api, 'cli:one', ['one', 'three'], '2.0.0')
    const rows = await readStored('cli:one')
    expect(rows).toEqual([
      { full_name: 'alice/one', version: '2.0.0', installed_at: rows[1]!.installed_at - 1000 },
      { full_name: 'alice/three', version: '2.0.0', installed_at: test.clock.now() },
    ])
    expect(await test.api().getAgent({ agentKey: 'cli:one' })).toMatchObject({ installCount: 2 })
    expect((await activityOf('cli:one')).toSorted()).toEqual([
      'installed alice/one Installed the skill.',
      'installed alice/three Installed the skill.',
      'installed alice/two Installed the skill.',
      expect.stringMatching(/^registered/),
      'removed alice/two Removed the skill.',
    ])
    for (const [name, count] of Object.entries({ one: 1, two: 0, three: 1, four: 0 }))
      expect([name, await installsOf(`alice/${name}`)]).toEqual([name, count])

    await report(test.api(), 'cli:one', ['four'])
    await report(test.api(), 'cli:stranger', ['four'])
    expect(await stored('cli:one')).toEqual(['alice/one@2.0.0', 'alice/three@2.0.0'])
    expect(await stored('cli:stranger')).toEqual([])
    await report(api, 'cli:one', [])
    expect(await installsOf('alice/one')).toBe(0)
  })

  it('are stored for the agent of the token if the report has no agent key', async () => {
    const api = await register('cli:keyless')
    await api.heartbeat({ installedSkills: [{ skillName: 'one', version: '1.0.0' }] })
    expect(await stored('cli:keyless')).toEqual(['alice/one@1.0.0'])
    await report(api, 'cli:keyless', [])
  })

  it('count as installs only once the agent is linked to a user other than the owner of the skill', async () => {
    const agentToken = (await test.api().registerAgent({ agentKey: 'cli:own', displayName: 'Own', platformId: 'cli' }))
      .agentToken!
    await bob.api.publishSkill({ skillMd: skillMd('self') })
    const { agentToken: laterToken } = await test
      .api()
      .registerAgent({ agentKey: 'cli:later', displayName: 'Later', platformId: 'cli' })
    await report(test.apiWith({ agentToken }), 'cli:own', ['self'])
    await report(test.apiWith({ agentToken: laterToken! }), 'cli:later', ['self'])
    expect(await installsOf('bob/self')).toBe(0)
    await report(test.apiWith({ agentToken: laterToken! }, carol), 'cli:later', ['self'])
    expect(await installsOf('bob/self')).toBe(1)
    await report(test.apiWith({ agentToken: laterToken! }), 'cli:later', [])
    await report(test.apiWith({ agentToken }, bob), 'cli:own', ['self', 'one'])
    expect([await installsOf('bob/self'), await installsOf('alice/one')]).toEqual([0, 1])
    await report(test.apiWith({ agentToken }, bob), 'cli:own', [])
    expect([await installsOf('bob/self'), await installsOf('alice/one')]).toEqual([0, 0])
    expect((await test.api().getAgent({ agentKey: 'cli:own' })).installCount).toBe(0)
  })

  it('stay stored while a skill is hidden, but the hidden skill is shown to no one', async () => {
    const api = await register('cli:patient', alice)
    await report(api, 'cli:patient', ['alice/secret', 'bob/self'])
    expect(await stored('cli:patient')).toEqual(['alice/secret@1.0.0', 'bob/self@1.0.0'])
    await test.admin.api.moderateSkill({ name: 'bob/self', state: 'hidden', reason: 'For now.' })
    expect((await report(api, 'cli:patient', ['alice/secret', 'bob/self'])).unknown).toEqual(['bob/self'])
    expect(await stored('cli:patient')).toEqual(['alice/secret@1.0.0', 'bob/self@1.0.0'])
    expect(JSON.stringify(await test.api().getAgent({ agentKey: 'cli:patient' }))).not.toMatch(/secret|self/)
    await report(api, 'cli:patient', [])
    expect(await installsOf('bob/self')).toBe(0)
  })

  it('are shown only to the agent, its user and administrators', async () => {
    const agent = await register('cli:shy', bob)
    await alice.api.publishSkill({ skillMd: skillMd('five') })
    await report(agent, 'cli:shy', ['five'])
    const curious = await register('cli:curious')
    const told = [agent, bob.api, test.admin.api, test.api(), alice.api, curious].map(async (api) =>
      (await activityOf('cli:shy', api)).some((entry) => entry.includes('alice/five')),
    )
    expect(await Promise.all(told)).toEqual([true, true, true, false, false, false])
  })

  it('are recorded as one action if many skills change at once', async () => {
    const names = Array.from({ length: 11 }, (_, i) => `many-${i}`)
    for (const name of names) await alice.api.publishSkill({ skillMd: skillMd(name) })
    const api = await register('cli:many')
    await report(api, 'cli:many', names)
    await report(api, 'cli:many', ['one'])
    expect((await activityOf('cli:many')).slice(0, 2)).toEqual([
      'removed  Installed 1 skill and removed 11 skills.',
      'installed  Installed 11 skills.',
    ])
    await report(api, 'cli:many', [])
  })

  it('update the last-seen time of the agent at most once a minute', async () => {
    const api = await register('cli:seen')
    const lastSeen = async () => (await test.api().getAgent({ agentKey: 'cli:seen' })).lastSeenAt
    await report(api, 'cli:seen', ['one'])
    const first = await lastSeen()
    test.clock.advance(59_000)
    await report(api, 'cli:seen', ['one'])
    expect(await lastSeen()).toBe(first)
    test.clock.advance(1000)
    await report(api, 'cli:seen', ['one'])
    expect(await lastSeen()).toBe(new Date(Date.parse(first) + 60_000).toISOString())
    await report(api, 'cli:seen', [])
  })

  it('match the install counts after concurrent heartbeats of the agent', async () => {
    const api = await register('cli:racing', carol)
    const sets = [['one', 'two'], ['two', 'three'], ['four'], ['one', 'two', 'three', 'four'], ['three']]
    await Promise.all([...sets, ...sets, ...sets].map((names) => report(api, 'cli:racing', names)))
    const left = await stored('cli:racing')
    for (const name of ['one', 'two', 'three', 'four'])
      expect(await installsOf(`alice/${name}`)).toBe(left.includes(`alice/${name}@1.0.0`) ? 1 : 0)
    expect((await test.api().getAgent({ agentKey: 'cli:racing' })).installCount).toBe(left.length)
  })
})
