import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import type { ListenOptions } from '@skillstead/server'
import { skillMd } from '../support/answers.ts'
import { folder, serve } from '../support/discovery-acts.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'

/** Base64 content that a scan treats as an image. */
function toImage(bytes: number): string {
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(bytes)]).toString('base64')
}

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

describeDatabases('a discovery index', (open, dialect) => {
  let test: TestRegistry
  let alice: TestUser
  const indexes = ['/alice', '/alice/notes', '/packs/basics'].flatMap((scope) =>
    [folder, '/.well-known/skills'].map((of) => `${scope}${of}/index.json`),
  )
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('notes') })
    await alice.api.publishSkill({ skillMd: skillMd('tables') })
    await alice.api.createPack({ name: 'Basics', description: '', skills: ['alice/notes'] })
  })

  /** A node, and how many lists it has built. */
  async function serveCounted(options: ListenOptions = {}) {
    const installer = await serve(test, options)
    const read = async () => {
      const [, built] = /^skillstead_lists_built_total (\d+)$/m.exec(await (await installer.get('/metrics')).text())!
      return Number(built)
    }
    const before = await read()
    return { ...installer, readBuilt: async () => (await read()) - before }
  }

  it('is refused after the allowed number of files per IP address, while searches from the address continue', async () => {
    const { get } = await serve(test, { rates: { files: 5 }, trustedProxies: ['127.0.0.1'] })
    for (const [i, path] of indexes.entries()) await get(path, from(`192.0.2.${100 + i}`))
    const flood = await Promise.all(
      Array.from({ length: 20 }, (_, i) => get(indexes[i % indexes.length]!, from('192.0.2.7'))),
    )
    expect(flood.map(({ status }) => status).toSorted()).toEqual([...Array(5).fill(200), ...Array(15).fill(429)])
    const refused = flood.find(({ status }) => status === 429)!
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(refused.headers.get('ratelimit-policy')).toBe('"files";q=5;w=60')
    expect((await get('/api/search?q=notes', from('192.0.2.7'))).status).toBe(200)
    expect((await get('/api/search?q=notes', from('192.0.2.8'))).status).toBe(200)
    expect((await get(indexes[0]!, from('192.0.2.8'))).status).toBe(200)
  })

  it('is built once for all requests until the catalogue changes, even for clients with a cached copy', async () => {
    const { get, readBuilt } = await serveCounted()
    const ask = async () => Promise.all([...indexes, ...indexes].map((path) => get(path)))
    const [first] = [await ask(), await ask()]
    expect(await readBuilt()).toBe(indexes.length)
    for (const [i, path] of indexes.entries()) {
      const etag = first[i]!.headers.get('etag')!
      expect((await get(path, { headers: { 'if-none-match': etag } })).status).toBe(304)
      expect((await get(path, { method: 'HEAD' })).headers.get('etag')).toBe(etag)
    }
    expect(await readBuilt()).toBe(indexes.length)
    await alice.api.publishSkill({ skillMd: skillMd('tables'), version: '1.0.1' })
    const owned = await get(indexes[0]!, { headers: { 'if-none-match': first[0]!.headers.get('etag')! } })
    expect(owned.status).toBe(200)
    expect(await owned.text()).toContain('tables-1.0.1.md')
    expect(await readBuilt()).toBe(indexes.length + 1)
  })

  it('is charged one file per skill to the request that builds the index, and one file to each later request', async () => {
    const dan = await test.makeUser('dan')
    for (const name of ['one', 'two', 'three']) await dan.api.publishSkill({ skillMd: skillMd(name) })
    await dan.api.publishSkill({ skillMd: skillMd('hidden'), visibility: 'private' })
    await dan.api.createPack({ name: 'Three', description: '', skills: ['dan/one', 'dan/two', 'dan/three', 'hidden'] })
    const options = { rates: { files: 9 }, trustedProxies: ['127.0.0.1'] }
    for (const [i, scope] of ['/dan', '/packs/three'].entries()) {
      const [first, other, third] = [1, 2, 3].map((n) => `192.0.2.${200 + 10 * i + n}`) as [string, string, string]
      const { ask, readBuilt } = await serveCounted(options)
      const leftAfter = async (address: string) =>
        (await ask(scope, from(address))).headers.get('x-ratelimit-remaining')
      expect([await leftAfter(first), await leftAfter(first)]).toEqual(['6', '5'])
      expect(await leftAfter(other)).toBe('8')
      await dan.api.publishSkill({ skillMd: skillMd('one', { body: `Changed for ${scope}.` }) })
      for (let n = 0; n < 3; n++) await ask('/dan/two', from(first))
      expect(await readBuilt()).toBe(2)
      const refused = await ask(scope, from(first))
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[1-9]/)])
      expect(await readBuilt()).toBe(2)
      expect((await ask(scope, from(third))).status).toBe(200)
    }
    const { ask } = await serve(test, { rates: { files: 2 } })
    expect((await ask('/dan')).status, 'a list of more skills than the allowance').toBe(200)
  })

  it('is charged by its size in bytes, unless the client has a cached copy', async () => {
    const files = Array.from({ length: 200 }, (_, i) => ({ path: `${'x'.repeat(90)}/${i}.md`, content: `${i}` }))
    await alice.api.publishSkill({ skillMd: skillMd('wide'), files })
    const { get } = await serve(test, { rates: { mebibytes: 1 }, trustedProxies: ['127.0.0.1'] })
    const path = '/alice/wide/.well-known/skills/index.json'
    const caller = from('192.0.2.66')
    const first = await get(path, caller)
    const bytes = (await first.arrayBuffer()).byteLength
    const most = Math.floor(1_048_576 / bytes)
    for (let i = 1; i < most; i++) expect((await get(path, caller)).status).toBe(200)
    const refused = await get(path, caller)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('ratelimit-policy')).toBe('"bytes";q=1048576;qu="content-bytes";w=60')
    const known = await get(path, { headers: { ...caller.headers, 'if-none-match': first.headers.get('etag')! } })
    expect([known.status, (await get(path, { ...caller, method: 'HEAD' })).status]).toEqual([304, 200])
  })

  it.runIf(dialect === 'SQLite')('is not evicted from the cache by requests for names that do not exist', async () => {
    const { get, ask, readBuilt } = await serveCounted()
    await ask('/alice')
    for (let i = 0; i < 2400; i += 16) {
      const names = Array.from({ length: 16 }, (_, k) => `${'x'.repeat(15_000)}${i + k}`)
      await Promise.all(names.map(async (name) => (await get(`/alice/${name}${folder}/index.json`)).arrayBuffer()))
    }
    const before = await readBuilt()
    await ask('/alice')
    expect(await readBuilt()).toBe(before)
  })

  it('that would be empty returns 404 without being built for each request, until a skill is published', async () => {
    const bob = await test.makeUser('bob')
    const { names, readBuilt } = await serveCounted()
    expect([await names('/bob'), await names('/bob')]).toEqual([404, 404])
    expect(await readBuilt()).toBe(1)
    await bob.api.publishSkill({ skillMd: skillMd('new') })
    expect(await names('/bob')).toEqual(['new'])
    await bob.api.publishSkill({ name: 'bob/new', visibility: 'private' })
    expect(await names('/bob')).toBe(404)
  })

  it('of a private node is built for each user, and lists no skill that only another user may see', async () => {
    const carol = await test.makeUser('carol')
    await alice.api.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
    const { get } = await serve(test, { requireKey: true })
    const read = async ({ key }: TestUser) =>
      (await get(`/alice/secret${folder}/index.json`, { headers: { authorization: `Bearer ${key}` } })).text()
    expect(await read(alice)).toContain('secret-1.0.0.md')
    expect(await read(carol)).not.toContain('secret-1.0.0.md')
    await alice.api.putCollaborator({ name: 'alice/secret', username: 'carol', role: 'read' })
    await carol.api.acceptCollaboration({ name: 'alice/secret' })
    expect(await read(carol)).toContain('secret-1.0.0.md')
    await alice.api.deleteCollaborator({ name: 'alice/secret', username: 'carol' })
    expect(await read(carol)).not.toContain('secret-1.0.0.md')
    expect((await get(indexes[0]!)).status).toBe(401)
  })
})

describeDatabases('a file of a discovery index', (open, dialect) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('notes') })
    await alice.api.createPack({ name: 'Basics', description: '', skills: ['alice/notes'] })
  })

  it('is listed in an index that is charged as a file, not as a request', async () => {
    const { ask } = await serve(test, { rates: { anonymous: 2, files: 12 }, trustedProxies: ['127.0.0.1'] })
    const asked = await Promise.all(Array.from({ length: 12 }, () => ask('/packs/basics', from('192.0.2.9'))))
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 200))
    expect(asked.map(({ headers }) => headers.get('x-ratelimit-limit'))).toEqual(asked.map(() => '12'))
  })

  it('is refused after the allowed number of files per IP address, for every caller', async () => {
    const installer = await serve(test, { rates: { anonymous: 1, files: 3 } })
    const [url, key] = [`/alice/notes${folder}/notes-1.0.0.md`, { authorization: `Bearer ${alice.key}` }]
    const given = [await installer.get(url), await installer.get(url, { method: 'HEAD' }), await installer.get(url)]
    expect(given.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(given.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['2', '1', '0'])
    for (const headers of [{}, key]) {
      const refused = await installer.get(url, { headers })
      expect(refused.status).toBe(429)
      expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
      expect(refused.headers.get('x-ratelimit-limit')).toBe('3')
      expect(refused.headers.get('ratelimit-policy')).toBe('"files";q=3;w=60')
      expect(refused.headers.get('ratelimit')).toMatch(/^"files";r=0;t=\d+$/)
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    }
    expect((await installer.get('/api/v1/skills/alice%2Fnotes')).status).toBe(200)
  })

  it('is refused after the allowed number of bytes per IP address', async () => {
    const files = [{ path: 'large.bin', content: toImage(600 * 1024), encoding: 'base64' as const }]
    await alice.api.publishSkill({ skillMd: skillMd('large'), files })
    const { get } = await serve(test, { rates: { mebibytes: 1 }, trustedProxies: ['127.0.0.1'] })
    const ask = (url: string, headers = {}) => get(url, { headers: { 'x-forwarded-for': '192.0.2.7', ...headers } })
    const [large, small] = [`/alice/large${folder}/large-1.0.0.zip`, `/alice/notes${folder}/notes-1.0.0.md`]
    const first = await ask(large)
    expect(first.status).toBe(200)
    expect(first.headers.get('ratelimit-policy')).toBe('"files";q=5000;w=60')
    const known = { 'if-none-match': first.headers.get('etag')! }
    expect([await ask(small), await ask(large, known)].map(({ status }) => status)).toEqual([200, 304])
    const refused = await ask(large)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('x-ratelimit-limit')).toBe('1048576')
    expect(refused.headers.get('ratelimit-policy')).toBe('"bytes";q=1048576;qu="content-bytes";w=60')
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  })

  it.runIf(dialect === 'PostgreSQL')('counts towards the limit of bytes in memory while it is read', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('huge') })
    const installer = await serve(test)
    const lock = new pg.Client({ connectionString: test.location.databaseUrl! })
    await lock.connect()
    // As large as a version may be, without the time to publish one.
    await lock.query(
      `update version_files set size = $1 where version_id in
        (select v.id from versions v join skills s on s.id = v.skill_id where s.full_name = 'alice/huge')`,
      [15 * 2 ** 20],
    )
    await lock.query('begin; lock table blobs in access exclusive mode')
    const url = `/alice/huge${folder}/huge-1.0.0.md`
    const asked = Array.from({ length: 7 }, () => installer.get(url))
    const refused = await Promise.race(asked)
    await lock.end()
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ code: 'overloaded' })
    const answers = await Promise.all(asked)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(6)
    expect((await installer.get(url)).status).toBe(200)
  })
})
