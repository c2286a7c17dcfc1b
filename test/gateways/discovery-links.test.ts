import { Writable } from 'node:stream'
import { partsOf } from '@skillstead/core/internal'
import { createLogger } from '@skillstead/server'
import { beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { folder, serve } from '../support/discovery-acts.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'

const dayMs = 24 * 60 * 60 * 1000
const file = { path: 'references/more.md', content: 'More.\n' }

describeDatabases('a link to a private skill', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    for (const name of ['shared', 'other'])
      await alice.api.publishSkill({ skillMd: skillMd(name), files: [file], visibility: 'private' })
  })

  const share = (expiresInDays?: number) => alice.api.createShare({ name: 'alice/shared', expiresInDays })

  it('serves an index of only that skill and its files', async () => {
    const installer = await serve(test)
    const { token } = await share()
    expect(await installer.names(`/t/${token}`)).toEqual(['shared'])
    const response = await installer.download(`/t/${token}`, 'shared')
    expect(response.status).toBe(200)
    for (const path of [`/t/${token}${folder}/other-1.0.0.zip`, `/t/${token}${folder}/shared-9.9.9.zip`])
      expect((await installer.get(path)).status).toBe(404)
    expect(await installer.names('/alice/shared')).toBe(404)
    expect(await installer.names('/alice')).toBe(404)
    expect((await installer.get(`/alice/shared${folder}/shared-1.0.0.zip`)).status).toBe(404)
  })

  it('has headers that keep it out of referrers, search engines and caches', async () => {
    const installer = await serve(test)
    const { token } = await share()
    for (const response of [await installer.ask(`/t/${token}`), await installer.download(`/t/${token}`, 'shared')]) {
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'cache-control': 'private, no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
      })
    }
  })

  it('appears in no log line or metric, and wrong tokens do not appear there either', async () => {
    const lines: string[] = []
    const sink = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) })
    const installer = await serve(test, { logger: createLogger(sink) })
    const { token } = await share()
    await installer.download(`/t/${token}`, 'shared')
    await installer.ask('/t/ssl_guess')
    await installer.get(`/t/${token}/.well-known/skills/index.json`)
    await installer.get(`/t/${token}`)
    await installer.ask(`/t/${token}`, { method: 'POST' })
    const metrics = await (await installer.get('/metrics')).text()
    for (const text of [lines.join(''), metrics]) {
      expect(text).toContain('discoverShared')
      expect(text).not.toContain(token)
      expect(text).not.toContain('ssl_')
    }
  })

  it('returns the same error when expired or deleted as a link that never existed', async () => {
    const installer = await serve(test)
    const short = await share(1)
    const gone = await share(30)
    await alice.api.deleteShare({ name: 'alice/shared', id: gone.id })
    expect(await installer.names(`/t/${short.token}`)).toEqual(['shared'])
    test.clock.advance(dayMs)
    const details = []
    for (const token of [short.token, gone.token, 'ssl_never', 'x'.repeat(2000)]) {
      const response = await installer.ask(`/t/${token}`)
      expect(response.status).toBe(404)
      details.push(((await response.json()) as { detail: string }).detail)
      expect((await installer.get(`/t/${token}${folder}/shared-1.0.0.zip`)).status).toBe(404)
    }
    expect(new Set(details).size).toBe(1)
  })

  it('counts the downloads that its holder makes', async () => {
    const installer = await serve(test)
    const { token } = await share()
    const downloads = async () => {
      await partsOf(test.registry).counters.flush()
      return (await alice.api.getSkill({ name: 'alice/shared' })).downloads
    }
    const before = await downloads()
    await installer.download(`/t/${token}`, 'shared')
    await installer.ask(`/t/${token}`)
    expect(await downloads()).toBe(before + 1)
  })

  it('still works for an IP address that gets 429 after too many wrong tokens', async () => {
    const installer = await serve(test, { rates: { anonymous: 3 } })
    const { token } = await share()
    for (let i = 0; i < 5; i++) expect((await installer.ask(`/t/${token}`)).status).toBe(200)
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push((await installer.ask(`/t/guess-${i}`)).status)
    expect(statuses).toEqual([404, 404, 404, 429, 429])
    expect((await installer.ask(`/t/${token}`)).status).toBe(200)
  })

  it('is the only access to a private node without a key', async () => {
    const installer = await serve(test, { requireKey: true, discoveryPack: 'basics' })
    await alice.api.publishSkill({ skillMd: skillMd('open') })
    await alice.api.publishSkill({ skillMd: skillMd('inside'), visibility: 'internal' })
    await alice.api.createPack({ name: 'Basics', description: '', skills: ['alice/open'] })
    const { token } = await share()
    expect(await installer.names(`/t/${token}`)).toEqual(['shared'])
    expect((await installer.download(`/t/${token}`, 'shared')).status).toBe(200)
    for (const scope of ['', '/alice', '/alice/open', '/packs/basics']) expect(await installer.names(scope)).toBe(401)
    expect((await installer.get('/api/search?q=open')).status).toBe(401)
    const bob = await test.makeUser()
    const headers = { authorization: `Bearer ${bob.key}` }
    const response = await installer.ask('/alice', { headers })
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    const { skills } = (await response.json()) as { skills: { name: string }[] }
    expect(skills.map(({ name }) => name)).toEqual(['inside', 'open'])
  })
})
