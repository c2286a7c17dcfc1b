import { partsOf } from '@skillstead/core/internal'
import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, fieldsOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const dayMs = 24 * 60 * 60 * 1000

describeApi('installs', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    for (const name of ['pdf', 'csv', 'xml'])
      await alice.api.publishSkill({ skillMd: skillMd(name), category: name === 'xml' ? 'markup' : 'documents' })
    await alice.api.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
  })

  const installsOf = async (fullName: string, period: 'day' | 'week' | 'month' = 'week') => {
    await partsOf(test.registry).telemetry.flush()
    const { entries } = await test.api().getTrending({ period })
    return entries.find(({ skill }) => skill.fullName === fullName)?.installs ?? 0
  }

  it('are accepted from anyone with 202, and counted as installs and downloads', async () => {
    expect(await test.statusOf(undefined, 'track', { skillName: 'alice/pdf' })).toBe(202)
    expect(await test.api().track({ skillName: 'pdf', agents: ['claude-code'] })).toEqual({ accepted: true })
    expect(await bob.api.track({ skillName: 'pdf', source: 'registry' })).toEqual({ accepted: true })
    expect(await installsOf('alice/pdf')).toBe(3)
    expect(await test.api().getSkill({ name: 'alice/pdf' })).toMatchObject({ downloads: 3 })
    const { skills } = await test.api().searchSkills({ sort: 'downloads' })
    expect(skills[0]).toMatchObject({ fullName: 'alice/pdf', downloads: 3 })
  })

  it('by owners of their own skills are accepted, but not counted', async () => {
    await alice.api.track({ skillName: 'alice/csv' })
    expect(await installsOf('alice/csv')).toBe(0)
    expect(await test.api().getSkill({ name: 'alice/csv' })).toMatchObject({ downloads: 0 })
  })

  it("by agents are refused with a wrong token, and not counted for the owner's own agent", async () => {
    const forged = test.apiWith({ agentToken: 'sat_forged' })
    expect(await codeOf(forged.track({ skillName: 'alice/csv' }))).toBe('forbidden')
    const repoUrl = 'https://github.com/acme/forged'
    expect(await codeOf(forged.track({ skillName: 'forged', source: 'github', repoUrl }))).toBe('forbidden')
    expect((await test.api().listExternal()).total).toBe(0)
    const agent = { agentKey: 'cli:alice', displayName: 'Hers', platformId: 'cli' }
    const { agentToken } = await test.api().registerAgent(agent)
    await test.apiWith({ agentToken: agentToken! }, alice).registerAgent(agent)
    await test.apiWith({ agentToken: agentToken! }).track({ skillName: 'alice/csv' })
    expect(await installsOf('alice/csv')).toBe(0)
  })

  it('of invisible skills are refused like those of unknown skills', async () => {
    for (const skillName of ['alice/secret', 'secret', 'unknown-user/nothing'])
      expect(await codeOf(test.api().track({ skillName }))).toBe('not_found')
    expect(await codeOf(bob.api.track({ skillName: 'alice/secret' }))).toBe('not_found')
  })

  it('must name a repository if and only if the source is github', async () => {
    const repoUrl = 'https://github.com/acme/skills'
    expect(await fieldsOf(test.api().track({ skillName: 'pdf', source: 'github' }))).toEqual(['repoUrl'])
    expect(await fieldsOf(test.api().track({ skillName: 'pdf', source: 'registry', repoUrl }))).toEqual(['repoUrl'])
    expect(await fieldsOf(test.api().track({ skillName: 'pdf', repoUrl: 'no address' }))).toContain('repoUrl')
    expect(await fieldsOf(test.api().track({ skillName: 'pdf', source: 'elsewhere' as never }))).toEqual(['source'])
  })

  it('store nothing about the caller', async () => {
    await test.api().track({ skillName: 'alice/xml', agents: ['agent-of-a-user'] })
    const journal = await partsOf(test.registry).database.read.selectFrom('install_journal').selectAll().execute()
    await partsOf(test.registry).telemetry.flush()
    const hours = await partsOf(test.registry).database.read.selectFrom('install_hours').selectAll().execute()
    expect(JSON.stringify([journal, hours])).not.toContain('agent-of-a-user')
    expect(hours.every((row) => Object.keys(row).toSorted().join() === 'hour,installs,skill_id')).toBe(true)
  })

  it('are rejected as soon as the skill is no longer public', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('shy') })
    await test.api().track({ skillName: 'shy' })
    await alice.api.publishSkill({ name: 'shy', visibility: 'private' })
    expect(await codeOf(test.api().track({ skillName: 'shy' }))).toBe('not_found')
    expect(await installsOf('alice/shy')).toBe(0)
  })

  describe('trending skills', () => {
    it('are ranked by installs and growth over the previous period', async () => {
      const fresh = await open()
      const author = await fresh.makeUser('author')
      for (const name of ['steady', 'rising', 'idle']) await author.api.publishSkill({ skillMd: skillMd(name) })
      const install = async (name: string, times: number) => {
        for (let i = 0; i < times; i++) await fresh.api().track({ skillName: `author/${name}` })
        await partsOf(fresh.registry).telemetry.flush()
      }
      await install('steady', 4)
      await install('rising', 1)
      fresh.clock.advance(dayMs)
      await install('steady', 4)
      await install('rising', 3)
      const { period, entries, total } = await fresh.api().getTrending({ period: 'day' })
      expect({ period, total }).toEqual({ period: 'day', total: 2 })
      expect(entries.map(({ skill: { fullName }, ...rest }) => ({ fullName, ...rest }))).toEqual([
        { fullName: 'author/rising', rank: 1, installs: 3, previousInstalls: 1, growth: 2, score: 5 },
        { fullName: 'author/steady', rank: 2, installs: 4, previousInstalls: 4, growth: 0, score: 4 },
      ])
      const week = await fresh.api().getTrending({})
      expect(week.period).toBe('week')
      expect(week.entries.map(({ skill, installs, growth }) => [skill.name, installs, growth])).toEqual([
        ['steady', 8, 8],
        ['rising', 4, 4],
      ])
      fresh.clock.advance(dayMs)
      expect((await fresh.api().getTrending({ period: 'day' })).entries).toEqual([])
      fresh.clock.advance(60 * dayMs)
      expect((await fresh.api().getTrending({ period: 'month' })).entries).toEqual([])
    })

    it('can be filtered by category and limited', async () => {
      await test.api().track({ skillName: 'alice/xml' })
      await partsOf(test.registry).telemetry.flush()
      const markup = await test.api().getTrending({ category: 'markup' })
      expect(markup.entries.map(({ skill }) => skill.fullName)).toEqual(['alice/xml'])
      expect((await test.api().getTrending({ category: 'nothing-of-this' })).entries).toEqual([])
      await test.api().track({ skillName: 'alice/pdf' })
      await partsOf(test.registry).telemetry.flush()
      const first = await test.api().getTrending({ limit: 1 })
      expect(first.entries).toHaveLength(1)
      expect(first.total, 'all that trend').toBe((await test.api().getTrending({ limit: 100 })).entries.length)
      expect(first.total).toBeGreaterThan(1)
      expect(await fieldsOf(test.api().getTrending({ limit: 101 }))).toEqual(['limit'])
      expect(await fieldsOf(test.api().getTrending({ period: 'year' as never }))).toEqual(['period'])
    })

    it('do not include private, withdrawn and yanked skills', async () => {
      for (const name of ['gone', 'hushed', 'pulled']) {
        await alice.api.publishSkill({ skillMd: skillMd(name) })
        await test.api().track({ skillName: `alice/${name}` })
      }
      expect(await installsOf('alice/gone')).toBe(1)
      await alice.api.deleteSkill({ name: 'alice/gone' })
      await alice.api.publishSkill({ name: 'hushed', visibility: 'private' })
      await alice.api.yankVersion({ name: 'alice/pulled', version: '1.0.0' })
      const { entries } = await alice.api.getTrending({ limit: 100 })
      const names = entries.map(({ skill }) => skill.name)
      for (const name of ['gone', 'hushed', 'pulled']) expect(names).not.toContain(name)
    })
  })
})
