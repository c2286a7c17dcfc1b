import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { folder, serve } from '../support/discovery-acts.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'

/** Base64 content that a scan treats as an image. */
function toImage(bytes: number): string {
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(bytes)]).toString('base64')
}

describeDatabases('an artifact', (open, dialect) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('notes') })
    await alice.api.createPack({ name: 'Basics', description: '', skills: ['alice/notes'] })
  })

  it('is listed in an index without a request limit, because installers download a whole pack at once', async () => {
    const installer = await serve(test, { rates: { anonymous: 2, files: 2 } })
    const asked = await Promise.all(Array.from({ length: 12 }, () => installer.ask('/packs/basics')))
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 200))
    expect(asked[0]!.headers.get('x-ratelimit-remaining')).toBe('2')
  })

  it('is refused after the allowed number of files per address, for every caller', async () => {
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
    expect((await installer.ask('/alice/notes')).status).toBe(200)
    expect((await installer.get('/api/v1/skills/alice%2Fnotes')).status).toBe(200)
  })

  it('is refused after the allowed number of bytes per address', async () => {
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

  it.runIf(dialect === 'PostgreSQL')('counts towards the bodies in flight while it is read', async () => {
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
