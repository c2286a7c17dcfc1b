import { partsOf } from '@skillstead/core/internal'
import type { HeartbeatResult } from '@skillstead/protocol'
import { beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeCase } from '../support/dmca-cases.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { sampleOf, type Verdict } from '../support/security-samples.ts'

const popularReason = 'Popular on this node.'

/** Without skills that are recommended only because the installed ones have no category. */
function brief({ recommendations }: HeartbeatResult): string[] {
  return recommendations
    .filter(({ reason }) => reason !== popularReason)
    .map(({ skill, reason }) => `${skill.fullName}: ${reason}`)
}

const fullNames = ({ recommendations }: HeartbeatResult) => recommendations.map(({ skill }) => skill.fullName)

describeApi('recommendations', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    const names = [
      'base',
      'rare',
      'wanted',
      'liked',
      'single',
      'left',
      'bad',
      'secret',
      'shut',
      'taken',
      'empty',
      'own',
      'careless',
      'hostile',
      'shadowed',
    ]
    const verdicts: Record<string, Verdict> = { careless: 'caution', hostile: 'dangerous' }
    for (const name of names) {
      const verdict = verdicts[name]
      await alice.api.publishSkill({ skillMd: verdict ? sampleOf(verdict, name) : skillMd(name) })
    }
    // Skills that must not be recommended are as common as the others: they were installed before.
    const everything = names.filter((name) => name !== 'single' && name !== 'own')
    for (const [i, more] of [['single'], [], [], [], []].entries())
      await report(`cli:agent-${i}`, [...everything, ...more], await test.makeUser(`user-of-agent-${i}`))
    await report('cli:agent-5', ['wanted', 'base'], await test.makeUser('user-of-agent-5'))
    await alice.api.publishSkill({ name: 'left', deprecated: true })
    await alice.api.publishSkill({ name: 'secret', visibility: 'private' })
    await alice.api.yankVersion({ name: 'empty', version: '1.0.0' })
    await test.admin.api.moderateSkill({ name: 'alice/bad', state: 'flagged', reason: 'No.' })
    await test.admin.api.moderateSkill({ name: 'alice/shut', state: 'hidden', reason: 'No.' })
    await makeCase(test, 'alice/taken', alice, 'removed')
    const strict = await open({
      at: test.location,
      clock: test.clock,
      works: false,
      scanPolicy: { dangerous: 'quarantine' },
    })
    await strict.apiWithKey(alice.key).publishSkill({ skillMd: sampleOf('dangerous', 'shadowed') })
  })

  const report = async (agentKey: string, names: readonly string[], user?: TestUser): Promise<HeartbeatResult> => {
    const { agentToken } = await test.api().registerAgent({ agentKey, displayName: agentKey, platformId: 'cli' })
    return ask(names, test.apiWith({ agentToken: agentToken! }, user), agentKey)
  }
  const ask = (names: readonly string[], api = test.api(), agentKey?: string) =>
    api.heartbeat({
      ...(agentKey !== undefined && { agentKey }),
      installedSkills: names.map((name) => ({
        skillName: name.includes('/') ? name : `alice/${name}`,
        version: '1.0.0',
      })),
    })
  const scoresInPacks = async (name: string) => {
    const inPacks = (await ask([name])).recommendations.filter(({ pack }) => pack !== null)
    return inPacks.map(({ skill, score }) => [skill.name, score])
  }
  /** Gives the first skill the most downloads; unnamed skills have none. */
  const setDownloads = (names: readonly string[]) =>
    partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('skills').set({ downloads: 0 }).execute()
      for (const [i, name] of names.toReversed().entries())
        await trx
          .updateTable('skills')
          .set({ downloads: i + 1 })
          .where('name', '=', name)
          .execute()
    })

  it('include installable skills of several agents with similar skills', async () => {
    const answer = await ask(['base', 'rare'])
    expect(brief(answer)).toEqual([
      'alice/wanted: Installed by 6 agents with similar skills.',
      'alice/liked: Installed by 5 agents with similar skills.',
    ])
    const scores = answer.recommendations.map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    // Absent: deprecated, flagged, private, hidden, removed, yanked, unsafe and quarantined skills, and those of a
    // single agent. A caller who only claims to be one of the agents gets the same: a difference would reveal what that
    // agent has.
    expect(brief(await ask(['base', 'rare'], test.api(), 'cli:agent-0'))).toEqual(brief(answer))
    expect(brief(await ask(['own']))).toEqual([])
    expect(brief(await ask([]))).toEqual([])
  })

  it('are popular safe skills for an agent without skills or without categories', async () => {
    const popular = ['alice/wanted', 'alice/rare', 'alice/own']
    await setDownloads(['hostile', 'shut', 'bad', 'shadowed', 'careless', ...popular.map((name) => name.slice(6))])
    for (const answer of [await ask([]), await ask(['single'])]) {
      expect(fullNames(answer).slice(0, 3)).toEqual(popular)
      expect(answer.recommendations[0]).toMatchObject({ reason: popularReason })
      for (const name of ['hostile', 'careless', 'shadowed', 'bad', 'left', 'secret', 'shut', 'taken', 'empty'])
        expect(fullNames(answer)).not.toContain(`alice/${name}`)
    }
    expect(fullNames(await ask(['wanted']))).not.toContain('alice/wanted')
    await setDownloads([])
  })

  it("never include the caller's own forks", async () => {
    const fred = await test.makeUser('fred')
    await fred.api.forkSkill({ name: 'alice/own' })
    await setDownloads(['own'])
    expect(fullNames(await ask([], fred.api))).not.toContain('fred/own')
    expect(fullNames(await ask([]))).toContain('fred/own')
    await fred.api.deleteSkill({ name: 'fred/own' })
    await setDownloads([])
  })

  it("never include skills of only one agent, or of one user's agents", async () => {
    await alice.api.publishSkill({ skillMd: skillMd('niche') })
    const dora = await test.makeUser('dora')
    for (const i of [0, 1, 2]) await report(`cli:dora-${i}`, ['niche', 'own'], dora)
    expect(brief(await ask(['niche']))).toEqual([])
    const emil = await test.makeUser('emil')
    await report('cli:emil', ['niche', 'own'], emil)
    expect(brief(await ask(['niche']))).toEqual(['alice/own: Installed by 2 agents with similar skills.'])
    // An agent's own user gets no recommendations from it.
    expect(brief(await ask(['niche'], emil.api))).toEqual([])
    expect(brief(await report('cli:emil-2', ['niche'], emil))).toEqual([])
  })

  it('never include skills of unlinked agents, however many there are', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('cave') })
    for (const i of [0, 1, 2, 3, 4, 5, 6]) await report(`cli:nobody-${i}`, ['cave', 'own'])
    await report('cli:flo', ['cave', 'own'], await test.makeUser('flo'))
    expect(brief(await ask(['cave']))).toEqual([])
    await report('cli:gus', ['cave', 'own'], await test.makeUser('gus'))
    expect(brief(await ask(['cave']))).toEqual(['alice/own: Installed by 2 agents with similar skills.'])
  })

  it('come from packs that contain installed skills if no agent has similar skills', async () => {
    for (const name of ['in-pack', 'beet', 'hidden-beet']) await alice.api.publishSkill({ skillMd: skillMd(name) })
    await alice.api.createPack({ name: 'Garden', description: '', skills: ['in-pack', 'beet', 'left', 'own'] })
    const closed = ['in-pack', 'hidden-beet']
    await alice.api.createPack({ name: 'Closed', description: '', skills: closed, visibility: 'private' })
    await alice.api.createPack({ name: 'Gone', description: '', skills: closed })
    await alice.api.deletePack({ slug: 'gone' })
    for (const api of [test.api(), alice.api]) {
      expect(brief(await ask(['in-pack'], api))).toEqual([
        'alice/beet: In a pack with alice/in-pack.',
        'alice/own: In a pack with alice/in-pack.',
      ])
    }
  })

  it('do not reveal by their scores how many hidden skills a pack has', async () => {
    const names = ['spade', 'rake', 'hidden-hoe']
    for (const name of names) await alice.api.publishSkill({ skillMd: skillMd(name) })
    await alice.api.createPack({ name: 'Shed', description: '', skills: names })
    expect(await scoresInPacks('spade')).toEqual([
      ['hidden-hoe', 0.3],
      ['rake', 0.3],
    ])
    await alice.api.publishSkill({ name: 'hidden-hoe', visibility: 'private' })
    // As in a pack of two, which is what the pack shows.
    expect(await scoresInPacks('spade')).toEqual([['rake', 0.35]])
  })

  it('are filled up to ten with the most downloaded skills of the installed skills’ categories', async () => {
    const names = Array.from({ length: 13 }, (_, i) => `plant-${String(i).padStart(2, '0')}`)
    for (const name of names) await alice.api.publishSkill({ skillMd: skillMd(name), category: 'plants' })
    await alice.api.publishSkill({ name: 'plant-12', visibility: 'private' })
    await setDownloads(names.toReversed())
    const popular = (count: number) =>
      Array.from({ length: count }, (_, i) => `alice/${names[10 - i]}: Popular in its category.`)
    expect(brief(await ask(['plant-11']))).toEqual(popular(10))
    await alice.api.createPack({ name: 'Plants', description: '', skills: ['plant-11', 'plant-00'] })
    expect(brief(await ask(['plant-11']))).toEqual(['alice/plant-00: In a pack with alice/plant-11.', ...popular(9)])
    const { recommendations } = await ask(['plant-11'])
    for (const { score } of recommendations) expect(score).toBeGreaterThan(0)
  })
})
