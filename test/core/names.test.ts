import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { addCollaborator } from '../support/collaboration.ts'
import { skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

interface Named {
  readonly name: string
  readonly fullName: string
}

/** Every skill anywhere in a response. */
function findNamed(value: unknown): Named[] {
  if (typeof value !== 'object' || value === null) return []
  const found = Object.values(value).flatMap(findNamed)
  const { name, fullName } = value as Partial<Named>
  return typeof name === 'string' && typeof fullName === 'string' ? [{ name, fullName }, ...found] : found
}

/** The skills in a response whose name resolves to another skill or to none for the caller. */
async function findMisleading(api: RegistryApi, answer: unknown): Promise<string[]> {
  const wrong: string[] = []
  for (const { name, fullName } of findNamed(answer)) {
    const found = await api.getSkill({ name }).catch(() => undefined)
    if (found?.fullName !== fullName) wrong.push(`${name} for ${fullName} is ${found?.fullName}`)
  }
  return wrong
}

describeApi('the names in responses', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let carol: TestUser
  /** The responses to writes, with their callers. */
  const written: [TestUser, unknown][] = []
  const write = async (user: TestUser, work: Promise<unknown>) => void written.push([user, await work])

  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    carol = await test.makeUser('carol')
    const privately = { visibility: 'private' } as const
    await write(alice, alice.api.publishSkill({ skillMd: skillMd('tool') }))
    await write(bob, bob.api.publishSkill({ skillMd: skillMd('tool') }))
    await write(bob, bob.api.publishSkill({ name: 'tool', description: 'A tool of bob.' }))
    await write(bob, bob.api.publishSkill({ skillMd: skillMd('tool', { body: 'More.' }), dryRun: true }))
    await write(carol, carol.api.publishSkill({ skillMd: skillMd('tool'), ...privately }))
    await write(bob, bob.api.publishSkill({ skillMd: skillMd('draft'), ...privately }))
    await addCollaborator(test, bob, { name: 'draft', username: 'carol', role: 'read' })
    await write(alice, alice.api.publishSkill({ skillMd: skillMd('copy') }))
    await write(carol, carol.api.forkSkill({ name: 'alice/tool', newName: 'copy' }))
    const skills = ['alice/tool', 'bob/tool', 'carol/copy'].map((name) => ({ name }))
    await write(alice, alice.api.createPack({ slug: 'tools', name: 'Tools', description: '', skills }))
    for (const { name } of skills) await test.api().track({ skillName: name })
    for (const user of [alice, bob, carol]) {
      for (const name of ['alice/tool', 'bob/tool', 'carol/copy']) await user.api.starSkill({ name })
    }
    await partsOf(test.registry).telemetry.flush()
  })

  const shared = ['alice/tool', 'bob/tool', 'carol/copy']
  const ofEach = (call: (name: string) => Promise<unknown>) => Promise.all(shared.map(call))
  const answers: [string, (api: RegistryApi, username: string) => Promise<unknown>][] = [
    ['GET /skills', (api) => api.searchSkills({ limit: 100 })],
    ['GET /skills, with q', (api) => api.searchSkills({ q: 'tool', explain: true })],
    ['GET /skills/<name>', (api) => ofEach((name) => api.getSkill({ name }))],
    ['GET /skills/<name>, of a version', (api) => ofEach((name) => api.getSkill({ name, version: '1.0.0' }))],
    ['GET /skills/<name>/load', (api) => ofEach(async (name) => (await api.loadSkill({ name })).metadata)],
    ['GET /skills/<name>/forks', (api) => api.listForks({ name: 'alice/tool' })],
    ['GET /trending', (api) => api.getTrending({})],
    ['GET /packs/<slug>', (api) => api.getPack({ slug: 'tools' })],
    ['GET /users/<username>', (api) => Promise.all(['alice', 'bob'].map((username) => api.getUser({ username })))],
    ['POST /heartbeat', (api) => api.heartbeat({ installedSkills: [] })],
  ]
  const accountAnswers: typeof answers = [
    ['GET /stars', (api) => api.listStars({})],
    ['GET /users/me/skills', (api) => api.listOwnSkills({})],
    ['a write', async (_api, username) => written.filter(([by]) => by.username === username)],
  ]
  /** Users with and without a skill of a shared name. */
  const accounts = () => [alice, bob, carol].map(({ username, api }): [string, RegistryApi] => [username, api])
  const readers = () => [['a guest', test.api()] as const, ...accounts(), ['admin', test.admin.api] as const]

  it.each(answers)('identify the named skill for every reader, guests included: %s', async (_title, ask) => {
    for (const [who, api] of readers()) {
      const answer = await ask(api, who)
      expect(findNamed(answer), who).not.toEqual([])
      expect(await findMisleading(api, answer), who).toEqual([])
    }
  })

  it.each(accountAnswers)('identify the named skill for every signed-in user: %s', async (_title, ask) => {
    for (const [who, api] of accounts()) {
      const answer = await ask(api, who)
      expect(findNamed(answer), who).not.toEqual([])
      expect(await findMisleading(api, answer), who).toEqual([])
    }
  })

  it.each(answers)('are short names only for the skill that holds the short name: %s', async (_title, ask) => {
    const names = new Set(findNamed(await ask(test.api(), '')).map(({ name }) => name))
    const expected = ['tool', 'copy', 'bob/tool', 'carol/copy']
    expect(expected).toEqual(expect.arrayContaining([...names]))
  })

  const nameOf = async (fullName: string, api = test.api()) => (await api.getSkill({ name: fullName })).name

  it('are short in SKILL.md and tool definitions, even if another skill holds the short name', async () => {
    const { metadata, frontmatter, toolDefinition } = await test.api().loadSkill({ name: 'bob/tool', level: 'full' })
    expect([metadata.name, frontmatter['name'], toolDefinition?.name]).toEqual(['bob/tool', 'tool', 'tool'])
  })

  describe('the short name of a skill', () => {
    it('is kept after a transfer of the skill to another owner', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('moving') })
      await bob.api.publishSkill({ skillMd: skillMd('moving') })
      await alice.api.transferSkill({ name: 'alice/moving', newOwner: 'carol' })
      const accepted = await carol.api.acceptTransfer({ name: 'alice/moving' })
      expect(accepted).toMatchObject({ name: 'moving', fullName: 'carol/moving' })
      expect(await nameOf('bob/moving')).toBe('bob/moving')
      for (const [who, api] of readers()) {
        expect(await findMisleading(api, await api.searchSkills({ q: 'moving' })), who).toEqual([])
      }
    })

    it('is not given to another skill after the skill is deleted or made private', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('going') })
      await bob.api.publishSkill({ skillMd: skillMd('going') })
      expect(await nameOf('alice/going')).toBe('going')
      expect(await nameOf('alice/going', bob.api)).toBe('alice/going')
      const closed = await alice.api.publishSkill({ name: 'going', visibility: 'private' })
      expect(await findMisleading(alice.api, closed)).toEqual([])
      expect(await nameOf('bob/going')).toBe('bob/going')
      await alice.api.deleteSkill({ name: 'alice/going' })
      expect(await nameOf('bob/going')).toBe('bob/going')
      for (const [who, api] of readers()) {
        expect(await findMisleading(api, await api.searchSkills({ q: 'going' })), who).toEqual([])
      }
    })

    it('is used in responses once the skill is public', async () => {
      await carol.api.publishSkill({ skillMd: skillMd('coming'), visibility: 'private' })
      expect(await nameOf('carol/coming', carol.api)).toBe('carol/coming')
      await carol.api.publishSkill({ name: 'coming', visibility: 'public' })
      expect(await nameOf('carol/coming')).toBe('coming')
      expect((await test.api().searchSkills({ q: 'coming' })).skills).toMatchObject([{ name: 'coming' }])
    })

    it('is replaced by the full name for a user who owns a skill with the same short name', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('later') })
      expect(await nameOf('alice/later', bob.api)).toBe('later')
      await bob.api.publishSkill({ skillMd: skillMd('later') })
      expect(await nameOf('alice/later', bob.api)).toBe('alice/later')
      await bob.api.deleteSkill({ name: 'bob/later' })
      expect(await nameOf('alice/later', bob.api)).toBe('later')
    })
  })
})
