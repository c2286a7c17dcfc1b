import { beforeAll, expect, it } from 'vitest'
import { skillMd } from './answers.ts'
import { describeApi, type TestRegistry, type TestUser } from './harness.ts'

describeApi('downloads', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })

  const publish = (name: string) => alice.api.publishSkill({ skillMd: skillMd(name) })

  it('are counted for SKILL.md and the archive by themselves, in lists too, and not for the owner', async () => {
    await publish('counted')
    await test.api().getSkillMd({ name: 'counted' })
    await bob.api.getArchive({ name: 'counted' })
    for (const read of [alice.api.getSkillMd, alice.api.getArchive]) await read({ name: 'counted' })
    await test.api().getSkill({ name: 'counted' })
    await test.api().getFile({ name: 'counted', path: 'SKILL.md' })
    await expect.poll(() => downloadsOf(test, 'counted')).toBe(2)
    // What was counted too much would be there after this.
    await test.registry.counters.flush()
    expect(await downloadsOf(test, 'counted')).toBe(2)
    const { skills } = await test.api().searchSkills({ q: 'counted' })
    expect(skills.find(({ name }) => name === 'counted')!.downloads).toBe(2)
  })

  it.runIf(transport === 'HTTP')('are not counted for HEAD, 304 and update checks', async () => {
    await publish('asked')
    const url = '/api/v1/skills/alice%2Fasked/skill.md'
    const { headers } = await test.request(url, { method: 'HEAD' })
    const known = await test.request(url, { headers: { 'if-none-match': headers.get('etag')! } })
    expect(known.status).toBe(304)
    await test.request(url, { headers: { 'x-skills-update-check': '1' } })
    await test.registry.counters.flush()
    expect(await downloadsOf(test, 'asked')).toBe(0)
    await test.request(url)
    await test.registry.counters.flush()
    expect(await downloadsOf(test, 'asked')).toBe(1)
  })
})

async function downloadsOf(test: TestRegistry, name: string): Promise<number> {
  return (await test.api().getSkill({ name })).downloads
}
