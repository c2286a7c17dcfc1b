import { createSkillClient, type SkillClient } from '@skillstead/client'
import { localApi } from '@skillstead/core'
import { RegistryError, type RegistryApi } from '@skillstead/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeCase } from '../support/dmca-cases.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'

const everyLoad = (outcome: string) => Array.from({ length: 4 }, () => outcome)

describeDatabases('a skill client of a registry in the same process', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let api: RegistryApi
  let client: SkillClient
  let name: string
  let skills = 0
  beforeEach(async () => {
    test ??= await open()
    alice ??= await test.makeUser('alice')
    api = localApi(test.registry)
    client = createSkillClient({ api })
    name = `alice/tea-${++skills}`
    await alice.api.publishSkill({ skillMd: skillMd(name.slice(6)), version: '1.0.0' })
    for (const level of ['full', 'summary'] as const) await client.load(name, { level })
    await client.load(name, { version: '1.0.0', maxTokens: 500 })
  })

  /** The outcomes of all loads that an earlier load could have cached: the version or the code of the error. */
  async function load(): Promise<string[]> {
    const options = [{}, { level: 'summary' }, { level: 'metadata' }, { maxTokens: 500 }] as const
    return Promise.all(
      options.map((each) =>
        client.load(name, each).then(
          ({ metadata }) => metadata.version,
          (error: RegistryError) => error.code,
        ),
      ),
    )
  }

  it('loads a new version at once', async () => {
    await alice.api.publishSkill({ skillMd: skillMd(name.slice(6)), version: '1.1.0' })
    expect(await load()).toEqual(everyLoad('1.1.0'))
  })

  it('loads no yanked version by default', async () => {
    await alice.api.publishSkill({ skillMd: skillMd(name.slice(6)), version: '1.1.0' })
    expect(await load()).toEqual(everyLoad('1.1.0'))
    await alice.api.yankVersion({ name, version: '1.1.0' })
    expect(await load()).toEqual(everyLoad('1.0.0'))
  })

  it('loads and finds no hidden skill, and loads the skill again once it is shown', async () => {
    const search = async () => (await client.search(name.slice(6))).skills.map(({ fullName }) => fullName)
    expect(await search()).toContain(name)
    await test.admin.api.moderateSkill({ name, state: 'hidden', reason: 'It is copied.' })
    expect(await load()).toEqual(everyLoad('not_found'))
    expect(await search()).not.toContain(name)
    await test.admin.api.moderateSkill({ name, state: 'shown', reason: 'It is not copied.' })
    expect(await load()).toEqual(everyLoad('1.0.0'))
  })

  it('loads no skill that became private', async () => {
    await alice.api.publishSkill({ name: name.slice(6), visibility: 'private' })
    expect(await load()).toEqual(everyLoad('not_found'))
  })

  it('loads no skill that was taken down', async () => {
    await makeCase(test, name, alice, 'removed')
    expect(await load()).toEqual(everyLoad('taken_down'))
  })

  it('loads no deleted skill, not even a version by its number', async () => {
    await alice.api.deleteSkill({ name })
    expect(await load()).toEqual(everyLoad('not_found'))
    await expect(client.load(name, { version: '1.0.0' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('loads the new version without waiting for a load that began before the change', async () => {
    const resumed = Promise.withResolvers<void>()
    let calls = 0
    const loadSkill: RegistryApi['loadSkill'] = async (input) => {
      const loaded = await api.loadSkill(input)
      if (++calls === 1) await resumed.promise
      return loaded
    }
    client = createSkillClient({ api: { ...api, loadSkill } })
    const before = client.load(name)
    await expect.poll(() => calls).toBe(1)
    await alice.api.publishSkill({ skillMd: skillMd(name.slice(6)), version: '1.1.0' })
    expect((await client.load(name)).metadata.version).toBe('1.1.0')
    resumed.resolve()
    expect((await before).metadata.version).toBe('1.0.0')
  })

  it('rejects with the error of an overloaded registry, and loads the current version afterwards', async () => {
    let isOverloaded = false
    const refuse = <T>(call: () => Promise<T>): Promise<T> =>
      isOverloaded ? Promise.reject(new RegistryError('overloaded', 'Too many writes are queued.')) : call()
    const { loadSkill, searchSkills } = api
    client = createSkillClient({
      api: {
        ...api,
        loadSkill: (input) => refuse(() => loadSkill(input)),
        searchSkills: (input) => refuse(() => searchSkills(input)),
      },
    })
    expect(await load()).toEqual(everyLoad('1.0.0'))
    await client.search('tea')
    isOverloaded = true
    await alice.api.publishSkill({ skillMd: skillMd(name.slice(6)), version: '1.1.0' })
    expect(await load()).toEqual(everyLoad('overloaded'))
    await expect(client.search('tea')).rejects.toMatchObject({ code: 'overloaded' })
    isOverloaded = false
    expect(await load()).toEqual(everyLoad('1.1.0'))
  })

  it('rejects every call after the registry was closed', async () => {
    const other = await open()
    const local = createSkillClient({ api: localApi(other.registry, await other.registry.getCaller('root')) })
    await other.admin.api.publishSkill({ skillMd: skillMd('tea') })
    await local.load('root/tea')
    await local.search('tea')
    await other.close()
    await expect(local.load('root/tea')).rejects.toMatchObject({ code: 'closed' })
    await expect(local.search('tea')).rejects.toMatchObject({ code: 'closed' })
  })

  it('gives each caller an object of its own', async () => {
    const [first, second] = await client.loadMany([name, name])
    first!.metadata.keywords.push('changed')
    first!.frontmatter.name = 'changed'
    expect(JSON.stringify([second, await client.load(name)])).not.toContain('changed')
  })
})

describe('the options of a skill client with `api`', () => {
  it('may not contain an option of the cache or of a node', () => {
    const api = {} as RegistryApi
    for (const options of [{ cacheTtl: 0 }, { onStale: () => {} }, { now: Date.now }]) {
      expect(() => createSkillClient({ api, ...options })).toThrow(
        new TypeError('A client with `api` has no cache. Leave out `cacheTtl`, `onStale` and `now`.'),
      )
    }
    for (const options of [{ baseUrl: 'http://localhost:7545' }, { apiKey: 'ssk_1' }, { fetch }]) {
      expect(() => createSkillClient({ api, ...options })).toThrow(TypeError)
    }
  })
})
