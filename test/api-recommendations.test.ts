import type { HeartbeatResult } from '@skillstead/protocol'
import { beforeAll, expect, it } from 'vitest'
import { skillMd } from './answers.ts'
import { makeCase } from './dmca-cases.ts'
import { describeApi, type TestRegistry, type TestUser } from './harness.ts'

function brief({ recommendations }: HeartbeatResult): string[] {
  return recommendations.map(({ skill, reason }) => `${skill.fullName}: ${reason}`)
}

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
    ]
    for (const name of names) await alice.api.publishSkill({ skillMd: skillMd(name) })
    // What nobody may be sent to is as common as what they are: it was installed before.
    const everything = names.filter((name) => name !== 'single' && name !== 'own')
    for (const [i, more] of [['single'], [], [], [], []].entries())
      await report(`cli:agent-${i}`, [...everything, ...more])
    await report('cli:agent-5', ['wanted', 'base'])
    await alice.api.publishSkill({ name: 'left', deprecated: true })
    await alice.api.publishSkill({ name: 'secret', visibility: 'private' })
    await alice.api.yankVersion({ name: 'empty', version: '1.0.0' })
    await test.admin.api.moderateSkill({ name: 'alice/bad', state: 'flagged', reason: 'No.' })
    await test.admin.api.moderateSkill({ name: 'alice/shut', state: 'hidden', reason: 'No.' })
    await makeCase(test, 'alice/taken', alice, 'removed')
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
  it('are what several agents with similar skills have, and can be installed', async () => {
    const answer = await ask(['base', 'rare'])
    expect(brief(answer)).toEqual([
      'alice/wanted: Installed by 6 agents with similar skills.',
      'alice/liked: Installed by 5 agents with similar skills.',
    ])
    const scores = answer.recommendations.map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    // Nothing else is in it: what was left, marked, hidden, taken down or emptied, nor what one alone has.
    // Who only claims to be one of them is told nothing else, or the difference would tell what that one has.
    expect(brief(await ask(['base', 'rare'], test.api(), 'cli:agent-0'))).toEqual(brief(answer))
    expect(brief(await ask(['own']))).toEqual([])
    expect(brief(await ask([]))).toEqual([])
  })

  it('never are what one agent alone has, nor what the agents of one user have', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('niche') })
    const dora = await test.makeUser('dora')
    for (const i of [0, 1, 2]) await report(`cli:dora-${i}`, ['niche', 'own'], dora)
    expect(brief(await ask(['niche']))).toEqual([])
    const emil = await test.makeUser('emil')
    await report('cli:emil', ['niche', 'own'], emil)
    expect(brief(await ask(['niche']))).toEqual(['alice/own: Installed by 2 agents with similar skills.'])
    // To its own user an agent says nothing new.
    expect(brief(await ask(['niche'], emil.api))).toEqual([])
    expect(brief(await report('cli:emil-2', ['niche'], emil))).toEqual([])
  })

  it('never are what a few agents of nobody have: anyone can register those around the one he asks about', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('cave') })
    for (const i of [0, 1, 2, 3]) await report(`cli:nobody-${i}`, ['cave', 'own'])
    await report('cli:flo', ['cave', 'own'], await test.makeUser('flo'))
    expect(brief(await ask(['cave']))).toEqual([])
    await report('cli:nobody-4', ['cave', 'own'])
    expect(brief(await ask(['cave']))).toEqual(['alice/own: Installed by 6 agents with similar skills.'])
  })

  it('come from packs with installed skills where agents tell nothing', async () => {
    for (const name of ['in-pack', 'beside', 'hidden-beside']) await alice.api.publishSkill({ skillMd: skillMd(name) })
    await alice.api.createPack({ name: 'Garden', description: '', skills: ['in-pack', 'beside', 'left', 'own'] })
    const closed = ['in-pack', 'hidden-beside']
    await alice.api.createPack({ name: 'Closed', description: '', skills: closed, visibility: 'private' })
    await alice.api.createPack({ name: 'Gone', description: '', skills: closed })
    await alice.api.deletePack({ slug: 'gone' })
    for (const api of [test.api(), alice.api]) {
      expect(brief(await ask(['in-pack'], api))).toEqual([
        'alice/beside: In the pack Garden beside alice/in-pack.',
        'alice/own: In the pack Garden beside alice/in-pack.',
      ])
    }
  })

  it('and then from the most downloaded of their categories, ten at most', async () => {
    const names = Array.from({ length: 13 }, (_, i) => `plant-${String(i).padStart(2, '0')}`)
    for (const name of names) await alice.api.publishSkill({ skillMd: skillMd(name), category: 'plants' })
    await alice.api.publishSkill({ name: 'plant-12', visibility: 'private' })
    await test.registry.database.writer.write(async (trx) => {
      for (const [i, name] of names.entries())
        await trx.updateTable('skills').set({ downloads: i }).where('name', '=', name).execute()
    })
    const popular = (count: number) =>
      Array.from({ length: count }, (_, i) => `alice/${names[10 - i]}: Popular in the category plants.`)
    expect(brief(await ask(['plant-11']))).toEqual(popular(10))
    await alice.api.createPack({ name: 'Plants', description: '', skills: ['plant-11', 'plant-00'] })
    expect(brief(await ask(['plant-11']))).toEqual([
      'alice/plant-00: In the pack Plants beside alice/plant-11.',
      ...popular(9),
    ])
    const { recommendations } = await ask(['plant-11'])
    for (const { score } of recommendations) expect(score).toBeGreaterThan(0)
  })
})
