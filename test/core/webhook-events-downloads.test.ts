import { guest, localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { EventData, RegistryApi } from '@skillstead/protocol'
import fc from 'fast-check'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { addCollaborator } from '../support/collaboration.ts'
import { skillMd } from '../support/answers.ts'
import { describeApi, describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { reviewAsAgent, makeAgent } from '../support/reputation-acts.ts'
import { hookUp, openSilent, readEvents, type Hook } from '../support/webhook-emitted.ts'

type Downloaded = EventData<'skill.downloaded'>

const downloadsOf = async (hook: Hook) => (await hook.take()).map(({ data }) => data as Downloaded)

/** An author on the Pro plan with a skill, and a webhook for its downloads. */
async function makeWatched(test: TestRegistry, username: string, plan: 'pro' | 'free' = 'pro') {
  const owner = await test.makeUser(username, { plan })
  const { skill } = await owner.api.publishSkill({ skillMd: skillMd('tool') })
  const hook = plan === 'pro' ? await hookUp(test, owner, { events: ['skill.downloaded'] }) : undefined
  return { owner, name: `${username}/tool`, skill, hook: hook! }
}

describeApi('events of downloads', (open, { transport }) => {
  let test: TestRegistry
  let bob: TestUser
  let watched: Awaited<ReturnType<typeof makeWatched>>
  let owners = 0
  beforeAll(async () => {
    test = await openSilent(open)
    bob = await test.makeUser('bob')
  })
  beforeEach(async () => {
    watched = await makeWatched(test, `owner-${++owners}`)
  })

  /** The default client name of this transport. */
  const client = transport === 'HTTP' ? 'node' : 'unknown'
  const toData = (downloadCount: number): Downloaded => {
    const { id, name, fullName } = watched.skill
    return { skill: { id, name, fullName }, client, downloadCount }
  }

  const ways: [way: string, use: (api: RegistryApi, name: string) => Promise<unknown>][] = [
    ['SKILL.md', (api, name) => api.getSkillMd({ name })],
    ['SKILL.md of a version', (api, name) => api.getSkillMd({ name, version: '1.0.0' })],
    ['the archive', (api, name) => api.getArchive({ name })],
    ['an install', (api, name) => api.track({ skillName: name })],
  ]

  it.each(ways)('are sent once per counted download, with the new count: %s', async (_way, use) => {
    for (const api of [test.api(), bob.api, test.api()]) await use(api, watched.name)
    expect(await downloadsOf(watched.hook)).toEqual([toData(1), toData(2), toData(3)])
    await use(test.api(), watched.name)
    expect(await downloadsOf(watched.hook)).toEqual([toData(4)])
    expect((await test.api().getSkill({ name: watched.name })).downloads).toBe(4)
  })

  it('are not sent for uncounted downloads', async () => {
    const agent = await makeAgent(test, `codex:${watched.owner.username}`)
    await reviewAsAgent(test, agent, watched.name, 4, watched.owner)
    for (const [, use] of ways) await use(watched.owner.api, watched.name)
    await test.apiWith({ agentToken: agent.agentToken }, watched.owner).track({ skillName: watched.name })
    await bob.api.getSkill({ name: watched.name })
    await bob.api.getFile({ name: watched.name, path: 'SKILL.md' })
    await bob.api.track({ skillName: watched.name, source: 'external' })
    expect(await downloadsOf(watched.hook)).toEqual([])
  })

  it.runIf(transport === 'HTTP')('are not sent for HEAD, 304 and update checks', async () => {
    const url = `/api/v1/skills/${encodeURIComponent(watched.name)}/skill.md`
    const { headers } = await test.request(url, { method: 'HEAD' })
    await test.request(url, { headers: { 'if-none-match': headers.get('etag')! } })
    await test.request(url, { headers: { 'x-skills-update-check': '1' } })
    expect(await downloadsOf(watched.hook)).toEqual([])
  })

  const named: [what: string, headers: Record<string, string>, client: string][] = [
    ['the product of the User-Agent', { 'user-agent': 'curl/8.5.0' }, 'curl'],
    ['its first product', { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101' }, 'Mozilla'],
    ['no product', { 'user-agent': '(curl)' }, 'unknown'],
    ['the name that it gives', { 'x-skillstead-client': ' Claude Code ', 'user-agent': 'curl/8.5.0' }, 'Claude Code'],
    ['a name with its version', { 'x-skillstead-client': 'cursor/1.2' }, 'cursor/1.2'],
    ['an empty name', { 'x-skillstead-client': ' ', 'user-agent': 'pip/24' }, 'pip'],
    ['a name that cannot be shown', { 'x-skillstead-client': '\u00ad\u0080', 'user-agent': 'pip/24' }, 'unknown'],
    ['a very long name', { 'x-skillstead-client': 'a'.repeat(5000) }, 'a'.repeat(64)],
  ]
  it.runIf(transport === 'HTTP').each(named)('name the client by its headers: %s', async (_what, headers, expected) => {
    const name = encodeURIComponent(watched.name)
    expect((await test.request(`/api/v1/skills/${name}/skill.md`, { headers })).status).toBe(200)
    const body = JSON.stringify({ skillName: watched.name })
    const post = { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } }
    expect((await test.request('/api/v1/track', post)).status).toBe(202)
    expect((await downloadsOf(watched.hook)).map((each) => each.client)).toEqual([expected, expected])
  })

  it('name the platform of the first reported agent, but never its instance', async () => {
    const { name, hook } = watched
    const reported: [agents: string[], platform: string | undefined][] = [
      [['claude-code:laptop-of-carol', 'cursor:two'], 'claude-code'],
      [['codex'], 'codex'],
      [['Claude Code:Laptop'], 'claude-code'],
      [['VSCode'], 'vscode'],
      [[':laptop-of-carol'], undefined],
      [[], undefined],
    ]
    for (const [agents] of reported) await bob.api.track({ skillName: name, agents })
    const own = transport === 'HTTP' ? 'node' : 'unknown'
    expect((await downloadsOf(hook)).map((told) => told.client)).toEqual(
      reported.map(([, platform]) => platform ?? own).toSorted(),
    )
  })

  it('go only to the owner, for the skills of the webhook', async () => {
    const { owner } = watched
    await owner.api.publishSkill({ skillMd: skillMd('other') })
    const names = [watched.skill.fullName, `${owner.username}/other`]
    const other = await hookUp(test, owner, { skills: names.slice(1) })
    const stranger = await hookUp(test, await test.makeUser(undefined, { plan: 'enterprise' }))
    for (const each of names) await bob.api.getSkillMd({ name: each })
    expect((await downloadsOf(watched.hook)).map(({ skill }) => skill.fullName)).toEqual(names)
    expect((await downloadsOf(other)).map(({ skill }) => skill.fullName)).toEqual(names.slice(1))
    expect(await stranger.take()).toEqual([])
  })

  it('are not sent for a skill that is deleted before the count', async () => {
    const { owner, name, skill } = watched
    await owner.api.deleteSkill({ name })
    const used = { id: skill.id, ownerId: (await owner.api.getMe()).id, version: '1.0.0' }
    partsOf(test.registry).counters.countDownload(used, { client: 'cli' })
    await partsOf(test.registry).telemetry.record(used, 'cli')
    expect(await downloadsOf(watched.hook)).toEqual([])
  })

  it('notify the owner of a private skill of downloads by its readers', async () => {
    const { owner } = watched
    const name = `${owner.username}/closed`
    await owner.api.publishSkill({ skillMd: skillMd('closed'), visibility: 'private' })
    await addCollaborator(test, owner, { name, username: 'bob', role: 'read' })
    await bob.api.track({ skillName: name })
    expect((await downloadsOf(watched.hook)).map(({ skill }) => skill.fullName)).toEqual([name])
  })
})

describeDatabases('downloads by many clients', (open, dialect) => {
  let test: TestRegistry
  beforeAll(async () => {
    test = await openSilent(open)
  })

  const apiOf = (client: string | undefined, { registry } = test) =>
    localApi(registry, guest, client === undefined ? {} : { client })

  const batches = fc.array(
    fc.record({
      client: fc.option(fc.constantFrom('cli', 'Claude Code', 'a b c', '__proto__'), { nil: undefined }),
      way: fc.constantFrom('skillMd', 'track'),
      times: fc.integer({ min: 1, max: 5 }),
      flushes: fc.boolean(),
      hours: fc.constantFrom(0, 0, 1),
    }),
    { minLength: 1, maxLength: 8 },
  )

  it('each cause one event, with counts without gaps, whichever node counts the download', async () => {
    const { name, hook } = await makeWatched(test, 'author')
    const twin = await openSilent(open, { at: test.location, clock: test.clock })
    let base = 0
    await fc.assert(
      fc.asyncProperty(batches, async (list) => {
        const expected: string[] = []
        for (const [i, { client, way, times, flushes, hours }] of list.entries()) {
          const api = apiOf(client, i % 2 === 0 ? test : twin)
          await Promise.all(
            Array.from({ length: times }, () =>
              way === 'track' ? api.track({ skillName: name }) : api.getSkillMd({ name }),
            ),
          )
          for (let n = 0; n < times; n++) expected.push(client ?? 'unknown')
          if (flushes) await partsOf((i % 3 === 0 ? test : twin).registry).telemetry.flush()
          test.clock.advance(hours * 60 * 60 * 1000)
        }
        await partsOf(twin.registry).counters.flush()
        await partsOf(twin.registry).telemetry.flush()
        const told = await downloadsOf(hook)
        expect(told.map(({ client }) => client).toSorted()).toEqual(expected.toSorted())
        const counts = told.map(({ downloadCount }) => downloadCount).toSorted((a, b) => a - b)
        expect(counts).toEqual(expected.map((_, i) => base + i + 1))
        base += expected.length
        // Otherwise the node reads what the other one has counted at its next poll.
        await partsOf(test.registry).changes.catchUp()
        expect((await test.api().getSkill({ name })).downloads).toBe(base)
      }),
      { numRuns: dialect === 'SQLite' ? 40 : 15 },
    )
  })

  it('cause events by another process if a process ends before it counts the downloads', async () => {
    const { name, hook } = await makeWatched(test, 'survivor')
    const first = await openSilent(open, { at: test.location, clock: test.clock })
    const { database, telemetry } = partsOf(first.registry)
    // From here on nothing is counted automatically, not even half a second later.
    await telemetry.stop()
    await Promise.all(['cli', 'cli', 'web'].map((client) => apiOf(client, first).track({ skillName: name })))
    const rows = await database.read.selectFrom('install_journal').select('counts').execute()
    expect(rows.length, 'nothing is counted yet').toBeGreaterThan(0)
    await partsOf(test.registry).telemetry.flush()
    await telemetry.flush()
    const told = await downloadsOf(hook)
    expect(told.map(({ client, downloadCount }) => [downloadCount, client]).toSorted()).toEqual([
      [1, 'cli'],
      [2, 'cli'],
      [3, 'web'],
    ])
  })

  it('are counted in the same transaction that stores their events', async () => {
    const errors: unknown[] = []
    const { name, hook } = await makeWatched(test, 'careful')
    const failing = await openSilent(open, {
      at: test.location,
      clock: test.clock,
      onError: (error) => void errors.push(error),
    })
    const { database, counters, telemetry, changes } = partsOf(failing.registry)
    const countOf = async () => (await localApi(failing.registry).getSkill({ name })).downloads
    await changes.catchUp()
    // First of all, since both are counted automatically half a second later.
    await database.writer.write((trx) => trx.schema.alterTable('outbox').renameTo('outbox_away').execute())
    await apiOf('cli', failing).getSkillMd({ name })
    await apiOf('cli', failing).track({ skillName: name })
    await counters.flush()
    await telemetry.flush()
    expect(errors.length).toBeGreaterThan(1)
    expect(await countOf()).toBe(0)
    await database.writer.write((trx) => trx.schema.alterTable('outbox_away').renameTo('outbox').execute())
    await counters.flush()
    await telemetry.flush()
    expect((await downloadsOf(hook)).map(({ downloadCount }) => downloadCount)).toEqual([1, 2])
    expect(await countOf()).toBe(2)
  })

  it('store their events in several transactions if there are very many downloads', async () => {
    const { owner, name, skill, hook } = await makeWatched(test, 'popular')
    const second = await hookUp(test, owner)
    const countChanges = async () => {
      const { database } = partsOf(test.registry)
      return (await database.read.selectFrom('changes').select('seq').where('kind', '=', 'counters').execute()).length
    }
    const before = await countChanges()
    const installs = Array.from({ length: 700 }, (_, i) => apiOf(`client-${i % 3}`).track({ skillName: name }))
    await Promise.all(installs)
    for (let i = 0; i < 700; i++)
      partsOf(test.registry).counters.countDownload(
        { id: skill.id, ownerId: 'not yet known', version: '1.0.0' },
        { client: 'cli' },
      )
    const told = await downloadsOf(hook)
    const counts = told.map(({ downloadCount }) => downloadCount).toSorted((a, b) => a - b)
    expect(counts).toEqual(Array.from({ length: 1400 }, (_, i) => i + 1))
    expect(await downloadsOf(second)).toEqual(told)
    const clients = Map.groupBy(told, ({ client }) => client)
    expect([...clients].map(([client, { length }]) => [client, length]).toSorted()).toEqual([
      ['client-0', 234],
      ['client-1', 233],
      ['client-2', 233],
      ['unknown', 700],
    ])
    expect((await countChanges()) - before, '2,800 deliveries').toBeGreaterThan(9)
  })

  it('cause events shortly afterwards, by a timer', async () => {
    const { name, hook } = await makeWatched(test, 'awaited')
    await Promise.all(Array.from({ length: 600 }, () => apiOf('cli').track({ skillName: name })))
    await expect.poll(async () => (await readEvents(test, hook.id)).length).toBe(600)
  })

  it('have valid client names, even if the length limit falls inside a character', async () => {
    const { name, hook } = await makeWatched(test, 'cutter')
    await apiOf(`${'a'.repeat(63)}\u{1f600}`).track({ skillName: name })
    expect((await downloadsOf(hook)).map(({ client }) => client)).toEqual([`${'a'.repeat(63)}\ufffd`])
  })

  it('are stored without client names if there are no subscribers', async () => {
    const { name } = await makeWatched(test, 'quiet', 'free')
    await apiOf('a very special client').track({ skillName: name })
    const rows = await partsOf(test.registry).database.read.selectFrom('install_journal').select('counts').execute()
    expect(JSON.stringify(rows)).not.toContain('special')
    await partsOf(test.registry).telemetry.flush()
  })

  it('cause events that name the client, also on a node where the webhook was not created', async () => {
    const node = await openSilent(open, { at: test.location, clock: test.clock })
    const { name, hook } = await makeWatched(test, 'distant')
    await partsOf(node.registry).changes.catchUp()
    await apiOf('cli', node).track({ skillName: name })
    await partsOf(node.registry).telemetry.flush()
    expect((await downloadsOf(hook)).map(({ client }) => client)).toEqual(['cli'])
  })

  it('cause events that name the client, also for skills from GitHub', async () => {
    const { owner } = await makeWatched(test, 'hubber')
    const repository = 'https://github.com/hubber/tools'
    await owner.api.publishSkill({ skillMd: skillMd('from-hub'), repository })
    const hook = await hookUp(test, owner)
    await apiOf('cli').track({ skillName: 'from-hub', source: 'github', repoUrl: repository })
    expect((await downloadsOf(hook)).map(({ skill, client }) => [skill.name, client])).toEqual([['from-hub', 'cli']])
  })
})
