import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { toLimitKey } from '../../packages/server/src/context/addresses.ts'
import { createQuotas } from '../../packages/server/src/context/quotas.ts'
import { createNode } from '@skillstead/server'
import { json, startNode } from '../support/server-harness.ts'

const rates = { anonymous: 3, free: 5, pro: 7 }
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const remaining = (response: Response) => Number(response.headers.get('x-ratelimit-remaining'))

describe('callers of the API', () => {
  it('with an invalid API key are rejected, even by public endpoints', async () => {
    const { get, key } = await startNode()
    const wrong = [
      'Bearer',
      'Bearer ',
      'Bearer nonsense',
      `Bearer ${key}x`,
      `Bearer ${key.slice(0, -1)}!`,
      `Basic ${key}`,
      key,
      'Bearer a b',
    ]
    for (const authorization of wrong) {
      for (const path of ['/skills', '/skills/pdf', '/users/me', '/nothing']) {
        const response = await get(path, { headers: { authorization } })
        expect(response.status, `${authorization} ${path}`).toBe(401)
        expect(response.headers.get('www-authenticate')).toBe('Bearer')
        const text = await response.text()
        expect(JSON.parse(text)).toMatchObject({ code: 'unauthorized' })
        expect(text).not.toContain(key.slice(4, 20))
      }
    }
    expect((await get('/users/me')).status).toBe(401)
    expect((await get('/users/me', { headers: { authorization: `bearer ${key}` } })).status).toBe(200)
  })

  it('without an API key share the rate limit of their IP address', async () => {
    const { get } = await startNode({ rates })
    const seen = [await get('/skills'), await get('/nothing'), await get('/skills/pdf', { method: 'HEAD' })]
    expect(seen.map(remaining)).toEqual([2, 1, 0])
    const refused = await get('/skills')
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
    const nowSeconds = Date.now() / 1000
    const retryAfter = Number(refused.headers.get('retry-after'))
    const reset = Number(refused.headers.get('x-ratelimit-reset'))
    expect(retryAfter).toBeGreaterThan(0)
    expect(retryAfter).toBeLessThanOrEqual(60)
    expect(Number.isInteger(reset)).toBe(true)
    expect(reset - nowSeconds).toBeGreaterThan(0)
    expect(reset - nowSeconds).toBeLessThanOrEqual(62)
    expect(refused.headers.get('x-ratelimit-limit')).toBe('3')
    expect(refused.headers.get('ratelimit-policy')).toBe('"anonymous";q=3;w=60')
    expect(refused.headers.get('ratelimit')).toMatch(/^"anonymous";r=0;t=\d+$/)
  })

  it('have to wait no longer than a minute after the clock was set back', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { get } = await startNode({ rates: { ...rates, anonymous: 1 } })
    await get('/skills')
    vi.setSystemTime(Date.now() - 365 * 24 * 3_600_000)
    const { status, headers } = await get('/skills')
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBe(60)
    expect(headers.get('ratelimit')).toBe('"anonymous";r=0;t=60')
  })

  it('see the anti-abuse limit that they exceeded in the rate limit headers, instead of the limit of their plan', async () => {
    const { get, node } = await startNode({ rates: { anonymous: 1000 } })
    const report = () => get('/skills/pdf/report', json({ reason: 'spam' }))
    const taken = await report()
    expect(taken.status).toBe(202)
    expect(taken.headers.get('x-ratelimit-limit')).toBe('1000')
    expect(taken.headers.get('ratelimit-policy')).toBe(
      '"anonymous";q=1000;w=60, "report";q=5;w=3600, "reports";q=50;w=3600',
    )
    for (let i = 0; i < 4; i++) await report()
    const refused = await report()
    expect(refused.status).toBe(429)
    expect(refused.headers.get('x-ratelimit-limit')).toBe('5')
    expect(remaining(refused)).toBe(0)
    const left = Number(refused.headers.get('retry-after'))
    expect(left).toBeGreaterThan(3000)
    expect(refused.headers.get('ratelimit')).toBe(`"report";r=0;t=${left}`)
    expect(refused.headers.get('ratelimit-policy')).toBe('"report";q=5;w=3600, "reports";q=50;w=3600')
    expect(Number(refused.headers.get('x-ratelimit-reset')) - Date.now() / 1000).toBeGreaterThan(3000)
    expect((await get('/skills')).headers.get('ratelimit-policy')).toBe('"anonymous";q=1000;w=60')

    const document = await (await fetch(`${node.url}/openapi.json`)).json()
    const { description } =
      document.paths['/api/v1/skills/{name}/report']?.post ?? document.paths['/skills/{name}/report'].post
    expect(description).toContain('at most 5 reports of one skill by guests at one address an hour (`report`)')
  })

  it('with an API key have a rate limit per user, which depends on the plan', async () => {
    const { get, createUser } = await startNode({ rates })
    const [bob, carol] = [await createUser('bob'), await createUser('carol', 'pro')]
    for (let index = 0; index < 4; index++) await get('/skills')
    const first = await get('/skills', bearer(bob))
    expect(first.status).toBe(200)
    expect(first.headers.get('x-ratelimit-limit')).toBe('5')
    expect(remaining(first)).toBe(4)
    const other = await get('/skills', bearer(carol))
    expect(other.headers.get('ratelimit-policy')).toBe('"pro";q=7;w=60')
    expect(remaining(other)).toBe(6)
    for (let index = 0; index < 4; index++) await get('/users/me', bearer(bob))
    expect((await get('/users/me', bearer(bob))).status).toBe(429)
    expect((await get('/users/me', bearer(carol))).status).toBe(200)
  })

  it('are charged for requests to /api/search', async () => {
    const { node, get, key } = await startNode({ rates: { ...rates, enterprise: 7 } })
    const search = (init?: RequestInit) => fetch(`${node.url}/api/search?q=pdf`, init)
    expect([await search(), await get('/skills'), await search()].map(remaining)).toEqual([2, 1, 0])
    expect((await search()).status).toBe(429)
    expect(remaining(await search(bearer(key)))).toBe(6)
    expect((await search(bearer('ssk_guess'))).status).toBe(429)
  })

  it('who guess API keys are charged to the rate limit of their IP address', async () => {
    const { get } = await startNode({ rates })
    for (let index = 0; index < 3; index++) expect((await get('/skills', bearer('ssk_guess'))).status).toBe(401)
    expect((await get('/skills', bearer('ssk_guess'))).status).toBe(429)
    expect((await get('/skills')).status).toBe(429)
  })

  it('are charged one file download for a page outside the API, and nothing for health checks, metrics and preflights', async () => {
    const pages = ['/', '/openapi.json', '/nothing', '/api/v1x', '/%', '/.well-known/clawhub.json']
    const { node, get } = await startNode({ rates: { ...rates, files: pages.length } })
    for (const [index, path] of pages.entries()) {
      expect(remaining(await fetch(node.url + path)), path).toBe(pages.length - 1 - index)
    }
    for (const path of pages) {
      const refused = await fetch(node.url + path)
      expect(refused.status, path).toBe(429)
      expect(refused.headers.get('retry-after'), path).toMatch(/^[1-9]\d*$/)
    }
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      const { status, headers } = await fetch(node.url + path)
      expect([path, status, headers.get('x-ratelimit-remaining')]).toEqual([path, 200, '3'])
    }
    expect(remaining(await get('/skills', { method: 'OPTIONS' }))).toBe(3)
    expect(remaining(await get('/skills'))).toBe(2)
  })

  it('are not limited if the operator turns rate limits off, and the headers report that', async () => {
    const { get } = await startNode({ rates: 'off' })
    const { headers } = await get('/skills')
    expect(headers.get('x-ratelimit-remaining')).toBe(headers.get('x-ratelimit-limit'))
    expect(headers.get('ratelimit-policy')).toMatch(/^"unlimited";q=\d{1,15};w=60$/)
  })

  it('of a private node without an API key can read only its health checks', async () => {
    const { node, get, as } = await startNode({ requireKey: true })
    for (const path of ['/', '/openapi.json', '/nothing', '/%', '/api/v1/skills', '/api/v1/feed', '/api/v1/nothing']) {
      const response = await fetch(node.url + path)
      expect(response.status, path).toBe(401)
      expect(await response.text()).not.toMatch(/pdf|<html/)
    }
    for (const path of ['/healthz', '/readyz']) expect((await fetch(node.url + path)).status).toBe(200)
    expect((await as('/skills')).status).toBe(200)
    expect((await get('/skills', { method: 'POST' })).status).toBe(401)
  })
})

const ask = (url: string, forwarded: string) =>
  fetch(`${url}/api/v1/skills`, { headers: { 'x-forwarded-for': forwarded } })

describe('the IP address of a caller', () => {
  it('is the address of the socket; X-Forwarded-For of an untrusted client is ignored', async () => {
    const { node } = await startNode({ rates })
    expect(remaining(await ask(node.url, '203.0.113.1'))).toBe(2)
    expect(remaining(await ask(node.url, '203.0.113.2'))).toBe(1)
  })

  it('is the last entry of X-Forwarded-For that is not a trusted proxy', async () => {
    const { node } = await startNode({ rates, trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] })
    expect(remaining(await ask(node.url, '203.0.113.1'))).toBe(2)
    // What a caller writes himself stands further left and changes nothing.
    expect(remaining(await ask(node.url, '198.51.100.7, 203.0.113.1'))).toBe(1)
    expect(remaining(await ask(node.url, '198.51.100.8, 203.0.113.1:5555, 10.1.2.3'))).toBe(0)
    expect(remaining(await ask(node.url, '203.0.113.2'))).toBe(2)
    expect(remaining(await ask(node.url, 'nonsense'))).toBe(2)
  })

  it('shares the rate limit of its /64 network in IPv6, and of its IPv4 address if it is IPv4-mapped', () => {
    expect(toLimitKey('2001:db8:1:2:3:4:5:6')).toBe(toLimitKey('2001:db8:1:2:ffff::1'))
    expect(toLimitKey('2001:db8:1:3::1')).not.toBe(toLimitKey('2001:db8:1:2::1'))
    expect(toLimitKey('::ffff:192.0.2.1')).toBe(toLimitKey('192.0.2.1'))
  })

  it('shares a rate limit with unrelated addresses only if too many new addresses arrive at once', async () => {
    const guest = { kind: 'guest' } as const
    const quotas = createQuotas({ rates: { anonymous: 10 } }, undefined, 5)
    await quotas.spend(guest, () => '192.0.2.1')
    for (let index = 0; index < 20_000; index++) {
      await quotas.spend(guest, () => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`)
    }
    expect(await quotas.peek(guest, () => '192.0.2.1')).toMatchObject({ remaining: 9 })
    // A stranger of the flood finds his shared allowance used up by others.
    expect(await quotas.peek(guest, () => '10.9.9.9')).toMatchObject({ remaining: 0 })
  })

  it('depends on the trusted proxies, and a node with an invalid proxy network does not start', async () => {
    const { registry } = await startNode()
    expect(() => createNode(registry, { trustedProxies: ['everyone'] })).toThrow(TypeError)
    expect(() => createNode(registry, { publicUrl: 'nonsense' })).toThrow(TypeError)
  })
})
