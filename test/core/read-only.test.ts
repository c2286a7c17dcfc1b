import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isRegistryError, localApi, openRegistry as openPlain, systemCaller, type Registry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { endpoints, type EndpointName } from '@skillstead/protocol'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { describeDatabases } from '../support/harness.ts'
import { openRegistry } from '../support/open-registry.ts'
import { makeEmptyPlace, makePlace, type DialectName, type Location } from '../support/places.ts'
import { fillRegistry } from '../support/rich-registry.ts'
import { openHttp } from '../support/ways-in.ts'

type Call = (input: Record<string, unknown>) => Promise<unknown>

describeDatabases('a registry opened for reading', (_open, dialect) => {
  it('searches, loads and downloads skills, and changes nothing, not even counters', async () => {
    const location = await makeLocation(dialect)
    const key = await fill(location)
    const before = readFiles(location)
    const reader = await openRegistry({ ...location, mode: 'read', onError: failAloud })
    const caller = await reader.authenticate(key)
    const api = localApi(reader, caller)
    expect((await api.searchSkills({ q: 'tea' })).skills).toMatchObject([{ fullName: 'alice/tea' }])
    expect((await api.searchByNeed({ q: 'tea' })).skills).toMatchObject([{ fullName: 'alice/tea' }])
    expect(await api.loadSkill({ name: 'alice/tea' })).toMatchObject({ level: 'full' })
    expect((await api.getSkillMd({ name: 'alice/tea' })).body).toBeDefined()
    expect((await api.getArchive({ name: 'alice/tea' })).body).toBeDefined()
    expect(await reader.readiness()).toEqual({ database: true, search: expect.any(Boolean), disk: true })
    expect((await reader.verifierKeys())[0]).toMatchObject({ state: 'current' })
    expect((await reader.metrics()).length).toBeGreaterThan(0)
    await reader.close()
    expect(readFiles(location)).toEqual(before)

    const writer = await open(location)
    const alice = localApi(writer, await writer.getCaller('alice'))
    expect(await alice.getSkill({ name: 'alice/tea' })).toMatchObject({ downloads: 0 })
    expect(await alice.listApiKeys({})).toMatchObject({ apiKeys: [{ lastUsedAt: null }] })
  })

  it('rejects every write with `read_only`', async () => {
    const location = await makeLocation(dialect)
    const key = await fill(location)
    const reader = await open(location, 'read')
    const api = localApi(reader, systemCaller) as unknown as Record<EndpointName, Call>
    const writes = names().filter((name) => !endpoints[name].reads)
    expect(writes.length).toBeGreaterThan(50)
    for (const name of writes) expect([name, await codeOf(api[name]({}))]).toEqual([name, 'read_only'])
    const alice = localApi(reader, await reader.authenticate(key))
    expect(await codeOf(alice.publishSkill({ skillMd: skillMd('milk') }))).toBe('read_only')
    const guest = localApi(reader)
    expect(await codeOf(guest.publishSkill({ skillMd: skillMd('milk') }))).toBe('unauthorized')
    const { database } = partsOf(reader)
    expect(await codeOf(database.writer.write(async () => {}))).toBe('read_only')
    // Also below the writer nothing can be changed.
    const statement = database.read.updateTable('users').set({ disabled: 1 }).execute()
    await expect(statement).rejects.toMatchObject({ code: dialect === 'SQLite' ? 'SQLITE_READONLY' : '25006' })
  })

  it('answers every GET endpoint like a registry opened for writing', async () => {
    const location = await makeLocation(dialect)
    const writer = await open(location)
    await fillRegistry(writer)
    const expected = await callReads(writer)
    await writer.close()
    const reader = await open(location, 'read')
    expect(await callReads(reader)).toEqual(expected)
    const answered = expected.filter(([, code]) => code === undefined).map(([name]) => name)
    expect(answered).toEqual(expect.arrayContaining(['searchSkills', 'getSkill', 'getFeed', 'getCheckpoint']))
    expect(answered.length).toBeGreaterThan(40)
    await reader.close()
  })

  it('makes a node reject writes with 403, and answer reads', async () => {
    const location = await makeLocation(dialect)
    const key = await fill(location)
    const way = await openHttp(await open(location, 'read'))
    onTestFinished(() => way.close())
    const api = way.api(key)
    await expect(api.publishSkill({ skillMd: skillMd('milk') })).rejects.toMatchObject({ status: 403 })
    expect((await api.getArchive({ name: 'alice/tea' })).body).toBeDefined()
  })

  it.runIf(dialect === 'PostgreSQL')(
    'has read-only database sessions, with the options of the database URL',
    async () => {
      const { databaseUrl } = await makeLocation(dialect)
      await (await open({ databaseUrl })).close()
      const reader = await open({ databaseUrl: `${databaseUrl}?options=-c%20statement_timeout%3D7s` }, 'read')
      const { rows } = await sql`select current_setting('transaction_read_only') as "readOnly",
      current_setting('statement_timeout') as timeout`.execute(partsOf(reader).database.read)
      expect(rows).toEqual([{ readOnly: 'on', timeout: '7s' }])
    },
  )

  it('sees the changes of a process that writes', async () => {
    const location = await makeLocation(dialect)
    await fill(location)
    const writer = await open(location)
    const reader = await openRegistry({ ...location, mode: 'read', pollMs: 20 })
    onTestFinished(() => reader.close())
    expect((await localApi(reader).searchSkills({ q: 'milk' })).total).toBe(0)
    await localApi(writer, await writer.getCaller('alice')).publishSkill({ skillMd: skillMd('milk') })
    await expect.poll(async () => (await localApi(reader).searchSkills({ q: 'milk' })).total).toBe(1)
  })

  it('is rejected with `older_schema` if its schema would have to be migrated, and stays as it was', async () => {
    const location = await makeLocation(dialect, { isEmpty: true })
    await (await openPlain({ ...location, works: false })).close()
    const before = readFiles(location)
    await expect(open(location, 'read')).rejects.toMatchObject({
      code: 'older_schema',
      message: expect.stringContaining("Open it once with the mode 'write' to migrate it."),
    })
    expect(readFiles(location)).toEqual(before)
    const plain = await openPlain({ ...location, mode: 'read' })
    expect((await localApi(plain).searchSkills({})).total).toBe(0)
    await plain.close()
    await (await open(location)).close()
    await (await open(location, 'read')).close()
  })

  it('is rejected with `no_registry` if it does not exist, and is not created', async () => {
    const location = await makeLocation(dialect, { isEmpty: true })
    expect(await codeOf(open(location, 'read'))).toBe('no_registry')
    expect(await codeOf(open(location, 'read'))).toBe('no_registry')
    expect(readFiles(location)).toEqual([])
  })
})

describe('an SQLite file that two registries read at once', () => {
  it('has no other SQLite files next to it after both registries were closed', async () => {
    const location = await makeLocation('SQLite')
    await fill(location)
    const before = readFiles(location)
    const [first, second] = [await open(location, 'read'), await open(location, 'read')]
    await first.close()
    expect((await localApi(second).searchSkills({ q: 'tea' })).total).toBe(1)
    await second.close()
    expect(readFiles(location)).toEqual(before)
  })
})

describe('a registry in memory', () => {
  it('cannot be opened for reading, because it would be empty', async () => {
    const opening = openPlain({ path: ':memory:', mode: 'read' })
    await expect(opening).rejects.toThrow("A database in memory is empty, so it cannot be opened with the mode 'read'.")
  })
})

const names = () => Object.keys(endpoints) as EndpointName[]

async function makeLocation(dialect: DialectName, { isEmpty = false } = {}): Promise<Location> {
  const place = isEmpty ? await makeEmptyPlace(dialect) : await makePlace(dialect)
  onTestFinished(place.remove)
  return place.location
}

async function open(location: Location, mode: 'write' | 'read' | 'create' = 'create'): Promise<Registry> {
  const registry = await openRegistry({ ...location, mode, onError: failAloud })
  onTestFinished(() => registry.close())
  return registry
}

/** Adds the user alice with a skill, and closes the registry. Returns the user's key. */
async function fill(location: Location): Promise<string> {
  const registry = await openRegistry(location)
  const { key } = await localApi(registry, systemCaller).createUser({ username: 'alice' })
  await localApi(registry, await registry.getCaller('alice')).publishSkill({ skillMd: skillMd('tea') })
  await registry.close()
  return key
}

/** Calls every GET endpoint as an administrator. Returns the codes of the errors, undefined for an answer. */
async function callReads(registry: Registry): Promise<[name: EndpointName, code: string | undefined][]> {
  const api = localApi(registry, await registry.getCaller('alice')) as unknown as Record<EndpointName, Call>
  const codes: [EndpointName, string | undefined][] = []
  for (const name of names().filter((each) => endpoints[each].method === 'GET')) {
    codes.push([name, await codeOf(api[name](toInput(endpoints[name].path)))])
  }
  return codes
}

/** The files of a location's folder with their digests; empty for PostgreSQL. */
function readFiles({ path }: Location): [name: string, digest: string][] {
  if (path === undefined) return []
  const folder = dirname(path)
  return readdirSync(folder).map((name) => [name, hash('sha256', readFileSync(`${folder}/${name}`))])
}

async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call
    return undefined
  } catch (error) {
    if (isRegistryError(error)) return error.code
    throw error
  }
}

const parameters: Readonly<Record<string, unknown>> = {
  name: 'alice/tool',
  version: '1.0.0',
  path: 'SKILL.md',
  username: 'alice',
  level: 0,
}

function toInput(path: string): Record<string, unknown> {
  const asked = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  return Object.fromEntries(asked.filter((name) => name in parameters).map((name) => [name, parameters[name]]))
}

function failAloud(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
