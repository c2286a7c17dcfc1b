import { RegistryError, createSkillClient, type LoadedSkill, type SkillClientOptions } from '@skillstead/client'
import { listenNode, type ListeningNode } from '@skillstead/server'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { createClock, describeDatabases, type TestClock, type TestRegistry, type TestUser } from '../support/harness.ts'

const documentOf = (name: string, body = 'Reads them.') =>
  `---\nname: ${name}\ndescription: Reads ${name} files\nlicense: MIT\n---\n# ${name}\n\n${body}\n\n## Steps\n\nOpen it.\n`

describeDatabases('a skill client', (open) => {
  let test: TestRegistry
  let node: ListeningNode
  let alice: TestUser
  let clock: TestClock
  beforeEach(async () => {
    test ??= await open()
    node ??= await listenNode(test.registry, { port: 0, rates: 'off' })
    alice = await test.makeUser(`alice-${Math.random().toString(36).slice(2, 10)}`)
    clock = createClock()
    await alice.api.publishSkill({ skillMd: documentOf('pdf'), version: '1.0.0' })
  })
  afterAll(() => node?.close())

  /** A skill client of the node, and the paths of its requests. */
  function makeClient(user = alice, options: SkillClientOptions = {}) {
    const asked: string[] = []
    const counted: typeof fetch = (url, init) => {
      asked.push(new URL(String(url)).pathname)
      return fetch(url, init)
    }
    const reached = { baseUrl: node.url, apiKey: user.key, fetch: counted }
    return { asked, client: createSkillClient({ ...reached, now: clock.now, ...options }) }
  }

  const nameOf = () => `${alice.username}/pdf`

  it('loads a skill in full by default, or at the requested level', async () => {
    const { client } = makeClient()
    const full = await client.load(nameOf())
    expect(full).toMatchObject({ level: 'full', metadata: { fullName: nameOf(), version: '1.0.0' }, truncated: [] })
    expect(full.fullContent).toBe(documentOf('pdf'))
    expect(full.frontmatter).toEqual({ name: 'pdf', description: 'Reads pdf files', license: 'MIT' })
    client.clear()
    const metadata = await client.load(nameOf(), { level: 'metadata' })
    expect(Object.keys(metadata).toSorted()).toEqual(['frontmatter', 'level', 'metadata', 'truncated'])
  })

  it('returns a cached skill without a request for one hour by default', async () => {
    const { client, asked } = makeClient()
    const first = await client.load(nameOf())
    await alice.api.publishSkill({ skillMd: documentOf('pdf', 'Reads all of them.'), version: '1.1.0' })
    clock.advance(3_599_999)
    expect(await client.load(nameOf())).toEqual(first)
    expect(asked).toHaveLength(1)
    clock.advance(1)
    expect((await client.load(nameOf())).metadata.version).toBe('1.1.0')
    expect(asked).toHaveLength(2)
  })

  it('sends a request for each load if cacheTtl is 0, and after its cache was cleared', async () => {
    const eager = makeClient(alice, { cacheTtl: 0 })
    await eager.client.load(nameOf())
    await eager.client.load(nameOf())
    expect(eager.asked).toHaveLength(2)
    const { client, asked } = makeClient()
    await client.load(nameOf())
    client.clear()
    await client.load(nameOf())
    expect(asked).toHaveLength(2)
  })

  it('does not use cached responses after the system clock was set back', async () => {
    const { client, asked } = makeClient()
    await client.load(nameOf())
    clock.advance(-1)
    await client.load(nameOf())
    expect(asked).toHaveLength(2)
  })

  it('derives a lower level from a higher level in its cache, with the same result as the node', async () => {
    const { client, asked } = makeClient()
    await client.load(nameOf())
    const fresh = makeClient()
    for (const level of ['summary', 'contract', 'metadata'] as const) {
      const projected = await client.load(nameOf(), { level })
      const asking = await fresh.client.load(nameOf(), { level })
      fresh.client.clear()
      expect({ ...projected, metadata: { ...projected.metadata, downloads: 0 } }).toEqual({
        ...asking,
        metadata: { ...asking.metadata, downloads: 0 },
      })
    }
    expect(asked).toHaveLength(1)
    await client.load(nameOf(), { level: 'summary', maxTokens: 900 })
    expect(asked, 'a budget cuts each level in its own way').toHaveLength(2)
  })

  it('caches each combination of version, token budget and priority sections separately', async () => {
    await alice.api.publishSkill({ skillMd: documentOf('pdf', 'Reads all of them.'), version: '1.1.0' })
    const { client, asked } = makeClient()
    const options = [
      {},
      { version: '1.0.0' },
      { version: '1.1.0' },
      { maxTokens: 600 },
      { maxTokens: 601 },
      { maxTokens: 600, priority: ['Steps'] },
    ]
    for (const each of options) await client.load(nameOf(), each)
    expect(asked).toHaveLength(options.length)
    for (const each of options) await client.load(nameOf(), each)
    expect(asked).toHaveLength(options.length)
    expect((await client.load(nameOf(), { version: '1.0.0' })).metadata.version).toBe('1.0.0')
  })

  it('shares one request between concurrent loads of the same skill', async () => {
    const { client, asked } = makeClient()
    const loaded = await Promise.all(Array.from({ length: 50 }, () => client.load(nameOf())))
    expect(asked).toEqual([`/api/v1/skills/${encodeURIComponent(nameOf())}/load`])
    expect(new Set(loaded).size, 'each has his own').toBe(50)
    loaded[0]!.metadata.keywords.push('changed')
    loaded[0]!.frontmatter.name = 'changed'
    expect(JSON.stringify([loaded[1], await client.load(nameOf())])).not.toContain('changed')
  })

  it('does not share its cache with other clients', async () => {
    await alice.api.publishSkill({ skillMd: documentOf('diary'), visibility: 'private' })
    const name = `${alice.username}/diary`
    expect((await makeClient().client.load(name)).metadata.fullName).toBe(name)
    for (const user of [{ ...alice, key: '' }, await test.makeUser()]) {
      const { client } = makeClient(user)
      await expect(client.load(name)).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  it('removes a skill from its cache at every level if the node rejects a request for it', async () => {
    const { client } = makeClient()
    await client.load(nameOf())
    await client.load(nameOf(), { version: '1.0.0' })
    await alice.api.deleteSkill({ name: nameOf() })
    expect((await client.load(nameOf())).level, 'not before the time is over').toBe('full')
    clock.advance(3_600_000)
    await expect(client.load(nameOf(), { version: '1.0.0' })).rejects.toMatchObject({ code: 'not_found' })
    clock.advance(-3_600_000)
    await expect(client.load(nameOf(), { level: 'metadata' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('sends an invalid request to the node, although a similar request is in its cache', async () => {
    const { asked, client } = makeClient()
    await client.load(nameOf())
    for (const options of [{ maxTokens: Number.NaN }, { maxTokens: Infinity }, { level: 'Full' as 'full' }]) {
      await expect(client.load(nameOf(), options)).rejects.toMatchObject({ code: 'invalid_request' })
    }
    expect(asked).toHaveLength(4)
  })

  it('throws the error of a failed request, and does not cache the error', async () => {
    const { client, asked } = makeClient()
    for (const options of [{ maxTokens: -1 }, { maxTokens: 1.5 }, { level: 'all' as 'full' }, { version: '1' }]) {
      const error = await client.load(nameOf(), options).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(RegistryError)
      expect((error as RegistryError).errors.map(({ path }) => path)).toEqual([Object.keys(options)[0]])
    }
    expect(asked).toHaveLength(4)
    await expect(client.load('unknown-user/nothing')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('loads several skills in the given order, and sends only one request for a repeated name', async () => {
    for (const name of ['csv', 'xml']) await alice.api.publishSkill({ skillMd: documentOf(name) })
    const names = ['xml', 'pdf', 'csv', 'pdf'].map((name) => `${alice.username}/${name}`)
    const { client, asked } = makeClient()
    const loaded = await client.loadMany(names, { level: 'summary' })
    expect(loaded.map(({ metadata, level }) => [metadata.fullName, level])).toEqual(
      names.map((name) => [name, 'summary']),
    )
    expect(asked).toHaveLength(3)
    const [one] = await client.loadMany([{ name: nameOf(), level: 'metadata', version: '1.0.0' }], { level: 'full' })
    expect(one!.level).toBe('metadata')
    expect(await client.loadMany([])).toEqual([])
  })

  it('omits skills that fail to load only if onError is given', async () => {
    const names = [`${alice.username}/none`, nameOf()]
    const { client } = makeClient()
    await expect(client.loadMany(names)).rejects.toMatchObject({ code: 'not_found' })
    const failed: [string, unknown][] = []
    const loaded = await client.loadMany(names, { onError: (name, error) => failed.push([name, error]) })
    expect(loaded.map(({ metadata }) => metadata.fullName)).toEqual([nameOf()])
    expect(failed).toEqual([[names[0], expect.any(RegistryError)]])
  })

  it('does not cache searches, and can convert a loaded skill to a tool', async () => {
    const { client, asked } = makeClient()
    const search = async () => (await client.search('pdf files', { owner: alice.username, limit: 5 })).skills
    expect((await search()).map(({ fullName }) => fullName)).toEqual([nameOf()])
    await alice.api.publishSkill({ skillMd: documentOf('pdf-files') })
    expect(await search()).toHaveLength(2)
    expect(asked).toEqual(['/api/v1/skills', '/api/v1/skills'])
    const skill: LoadedSkill = await client.load(nameOf(), { level: 'contract' })
    expect(client.toTool(skill, 'openai')).toMatchObject({ type: 'function', function: { name: 'pdf' } })
    expect(client.toTool(skill, 'anthropic')).toMatchObject({ name: 'pdf', input_schema: { type: 'object' } })
  })
})
