import { partsOf } from '@skillstead/core/internal'
import { listenNode } from '@skillstead/server'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

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

  it('of SKILL.md and the archive are counted and shown in lists, except downloads by the owner', async () => {
    await publish('counted')
    await test.api().getSkillMd({ name: 'counted' })
    await bob.api.getArchive({ name: 'counted' })
    for (const read of [alice.api.getSkillMd, alice.api.getArchive]) await read({ name: 'counted' })
    await test.api().getSkill({ name: 'counted' })
    await test.api().getFile({ name: 'counted', path: 'SKILL.md' })
    await expect.poll(() => downloadsOf(test, 'counted')).toBe(2)
    // A wrong count would be stored after this.
    await partsOf(test.registry).counters.flush()
    expect(await downloadsOf(test, 'counted')).toBe(2)
    const { skills } = await test.api().searchSkills({ q: 'counted' })
    expect(skills.find(({ name }) => name === 'counted')!.downloads).toBe(2)
  })

  it.runIf(transport === 'HTTP')('count once per address, skill and day, for every kind of download', async () => {
    for (const name of ['often', 'other']) await publish(name)
    const node = await listenNode(test.registry, { port: 0, rates: 'off', trustedProxies: ['127.0.0.1'] })
    onTestFinished(() => node.close())
    const read = async (path: string, from: string, init: RequestInit = {}) => {
      const headers = { 'x-forwarded-for': from, ...init.headers }
      const response = await fetch(node.url + path, { ...init, headers })
      expect(response.status, path).toBe(200)
      await partsOf(test.registry).counters.flush()
      return downloadsOf(test, 'often')
    }
    const skill = '/api/v1/skills/alice%2Foften'
    const key = { headers: { authorization: `Bearer ${bob.key}` } }
    const load = { name: 'load_skill', arguments: { name: 'often' } }
    const message = {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: load }),
    }
    expect(await read(`${skill}/skill.md`, '192.0.2.1')).toBe(1)
    expect(await read(`${skill}/archive`, '192.0.2.1', key)).toBe(1)
    expect(await read(`${skill}/load?level=full`, '192.0.2.1')).toBe(1)
    expect(await read('/alice/often/.well-known/agent-skills/often-1.0.0.md', '192.0.2.1')).toBe(1)
    expect(await read('/mcp', '192.0.2.1', message)).toBe(1)
    expect(await read('/mcp', '192.0.2.2', message)).toBe(2)
    expect(await read(`${skill}/skill.md`, '2001:db8::1')).toBe(3)
    expect(await read(`${skill}/skill.md`, '2001:db8::2')).toBe(3)
    await read('/api/v1/skills/alice%2Fother/skill.md', '192.0.2.1')
    expect(await downloadsOf(test, 'other')).toBe(1)
    test.clock.advance(24 * 60 * 60 * 1000)
    expect(await read(`${skill}/archive`, '192.0.2.1')).toBe(4)
  })

  it.runIf(transport === 'HTTP')('are not counted for HEAD requests, 304 responses and update checks', async () => {
    await publish('asked')
    const url = '/api/v1/skills/alice%2Fasked/skill.md'
    const { headers } = await test.request(url, { method: 'HEAD' })
    const known = await test.request(url, { headers: { 'if-none-match': headers.get('etag')! } })
    expect(known.status).toBe(304)
    await test.request(url, { headers: { 'x-skills-update-check': '1' } })
    await partsOf(test.registry).counters.flush()
    expect(await downloadsOf(test, 'asked')).toBe(0)
    await test.request(url)
    await partsOf(test.registry).counters.flush()
    expect(await downloadsOf(test, 'asked')).toBe(1)
  })
})

async function downloadsOf(test: TestRegistry, name: string): Promise<number> {
  return (await test.api().getSkill({ name })).downloads
}
