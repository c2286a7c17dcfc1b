import { Writable } from 'node:stream'
import { partsOf } from '@skillstead/core/internal'
import { describe, expect, it } from 'vitest'
import { createLogger, type ListenOptions } from '@skillstead/server'
import { json, startNode, type Fixture } from '../support/server-harness.ts'

const name = 'skillstead-session'
type Headers = Record<string, string>

/** The token of a new session of alice, with the line that set its cookie. */
async function signIn({ as }: Fixture, headers: Headers = {}) {
  const init = json({})
  const response = await as('/session', { ...init, headers: { ...(init.headers as Headers), ...headers } })
  const setCookie = response.headers.get('set-cookie') ?? ''
  return { response, setCookie, token: /^(?:__Host-)?skillstead-session=([^;]*)/.exec(setCookie)?.[1] ?? '' }
}

/** What a page of the node itself sends along. */
const ownPage = (token: string, more: Headers = {}): Headers => ({
  cookie: `${name}=${token}`,
  'x-skillstead-session': '1',
  'sec-fetch-site': 'same-origin',
  ...more,
})

/** The cookie of a node that is reached by https. */
const secureCookie = (token: string): Headers => ({ cookie: `__Host-${name}=${token}` })

function signOut(node: Fixture, headers: Headers): Promise<Response> {
  return node.get('/session', { method: 'DELETE', headers })
}

/** What a page with a session is answered where the session counts, and where it does not. */
async function statusFrom(node: Fixture, token: string, headers: Headers): Promise<number> {
  return (await node.get('/users/me', { headers: ownPage(token, headers) })).status
}

describe('a sign-in', () => {
  it('sets a cookie that scripts cannot read and other sites cannot send, and returns no token in the body', async () => {
    const node = await startNode()
    const { response, setCookie, token } = await signIn(node)
    expect(response.status).toBe(201)
    expect(token).toMatch(/^sss_[\w-]{43}$/)
    const [, ...attributes] = setCookie.split('; ')
    const age = Number(attributes.find((part) => part.startsWith('Max-Age='))!.slice('Max-Age='.length))
    expect(attributes.filter((part) => !part.startsWith('Max-Age='))).toEqual(['Path=/', 'HttpOnly', 'SameSite=Strict'])
    expect(age).toBeLessThanOrEqual(12 * 60 * 60)
    expect(age).toBeGreaterThan(12 * 60 * 60 - 60)
    const text = await response.text()
    expect(Object.keys(JSON.parse(text))).toEqual(['expiresAt'])
    expect(text).not.toContain(token.slice(4, 20))
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('needs no body, and rejects unknown fields', async () => {
    const { as } = await startNode()
    expect((await as('/session', { method: 'POST' })).status).toBe(201)
    expect((await as('/session', json({ expiresInDays: 9 }))).status).toBe(400)
  })

  it.each<[string, ListenOptions, Headers, boolean]>([
    ['over plain HTTP does not set', {}, {}, false],
    ['with an http public URL does not set', { publicUrl: 'http://skills.example' }, {}, false],
    ['with an https public URL sets', { publicUrl: 'https://skills.example/' }, {}, true],
    ['with an https public URL below a path sets', { publicUrl: 'https://skills.example/registry/' }, {}, true],
    [
      'behind a trusted proxy that reports https sets',
      { trustedProxies: ['127.0.0.1'] },
      { 'x-forwarded-proto': 'https' },
      true,
    ],
    [
      'behind a trusted proxy that reports http does not set',
      { trustedProxies: ['127.0.0.1'] },
      { 'x-forwarded-proto': 'http' },
      false,
    ],
    ['with X-Forwarded-Proto of an untrusted client does not set', {}, { 'x-forwarded-proto': 'https' }, false],
  ])('%s the Secure attribute of the cookie', async (_, options, headers, secure) => {
    const { setCookie } = await signIn(await startNode(options), headers)
    expect(setCookie).toContain('HttpOnly')
    expect(setCookie.split('; ').includes('Secure')).toBe(secure)
    // No other host can set a cookie with `__Host-`, not even on the same domain; browsers refuse it below a path.
    const isBelow = options.publicUrl?.endsWith('/registry/') ?? false
    const prefix = secure ? (isBelow ? '__Secure-' : '__Host-') : ''
    expect(setCookie.startsWith(`${prefix}skillstead-session=`), setCookie).toBe(true)
    expect(setCookie.split('; ')).toContain(`Path=/${isBelow ? 'registry' : ''}`)
  })

  it('without an API key or from a page of another site is rejected, and sets no cookie', async () => {
    const node = await startNode()
    const guest = await node.get('/session', json({}))
    expect(guest.status).toBe(401)
    expect(guest.headers.get('set-cookie')).toBeNull()
    const elsewhere: Headers[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
    ]
    for (const headers of elsewhere) {
      const { response, setCookie } = await signIn(node, headers)
      expect(response.status, JSON.stringify(headers)).toBe(403)
      expect(setCookie).toBe('')
    }
    expect(await partsOf(node.registry).database.read.selectFrom('sessions').selectAll().execute()).toEqual([])
  })

  it('with an Idempotency-Key is replayed without the session token', async () => {
    const node = await startNode()
    const first = await signIn(node, { 'idempotency-key': 'once' })
    const second = await signIn(node, { 'idempotency-key': 'once' })
    expect(second.response.status).toBe(201)
    expect(second.response.headers.get('idempotency-replayed')).toBe('true')
    expect(second.setCookie).toBe('')
    expect(await second.response.json()).toEqual(await first.response.json())
    const kept = await partsOf(node.registry).database.read.selectFrom('idempotent_answers').selectAll().execute()
    expect(kept).toHaveLength(1)
    expect(JSON.stringify(kept)).not.toContain(first.token.slice(4, 20))
  })
})

describe('a request with a session cookie', () => {
  it('can read and write as its user, and its responses must not be cached', async () => {
    const node = await startNode()
    await node.api.publishSkill({ skillMd: '---\nname: own\ndescription: Mine\n---\n', visibility: 'private' })
    const { token } = await signIn(node)
    const headers = ownPage(token)
    const answers = [
      await node.get('/users/me', { headers }),
      await node.get('/skills/alice%2Fown', { headers }),
      await node.get('/skills/alice%2Fown', { method: 'HEAD', headers }),
      await node.get('/skills', { headers }),
      await node.get('/skills/pdf', { headers: { ...headers, cookie: `theme=dark; ${headers.cookie}; a=b` } }),
      await node.get('/api-keys', {
        ...json({ name: 'made by cookie' }),
        headers: { ...headers, 'content-type': 'application/json', origin: node.node.url },
      }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 201])
    for (const { headers: sent } of answers) {
      expect(sent.get('cache-control')).toBe('private, no-store')
      expect(sent.get('vary')).toContain('Cookie')
      expect([...sent.keys()].filter((field) => field.startsWith('access-control'))).toEqual([])
      expect(sent.get('set-cookie')).toBeNull()
    }
    expect(await answers[0]!.json()).toMatchObject({ username: 'alice' })
    expect((await node.get('/skills/nothing', { headers })).headers.get('access-control-allow-origin')).toBeNull()
  })

  it('is accepted without Sec-Fetch-Site and Origin, which not every browser sends', async () => {
    const node = await startNode()
    const { token } = await signIn(node)
    const headers = { cookie: `${name}=${token}`, 'x-skillstead-session': '1' }
    expect((await node.get('/users/me', { headers })).status).toBe(200)
  })

  it('is treated as a guest request unless a page of the node sent it', async () => {
    const node = await startNode()
    const { token } = await signIn(node)
    const cookie = `${name}=${token}`
    const foreign: Headers[] = [
      { cookie },
      { cookie, 'sec-fetch-site': 'same-origin' },
      { cookie, 'x-skillstead-session': '0' },
      { cookie, 'x-skillstead-session': 'true' },
      ownPage(token, { 'sec-fetch-site': 'cross-site' }),
      ownPage(token, { 'sec-fetch-site': 'same-site' }),
      ownPage(token, { 'sec-fetch-site': 'none' }),
      ownPage(token, { origin: 'https://elsewhere.example' }),
      ownPage(token, { origin: 'null' }),
      ownPage(token, { origin: node.node.url.replace('http:', 'https:') }),
      ownPage(token, { origin: `${node.node.url}0` }),
      { 'x-skillstead-session': '1', cookie: 'other=1' },
      { 'x-skillstead-session': '1' },
    ]
    for (const headers of foreign) {
      const told = JSON.stringify(headers)
      // Pages of other origins need a key even for what is public.
      const isForeign = 'origin' in headers && !headers.origin!.startsWith('https://127.0.0.1')
      const refused = isForeign ? 403 : 401
      expect((await node.get('/users/me', { headers })).status, told).toBe(refused)
      const init = { ...json({ name: 'forged' }), headers: { ...headers, 'content-type': 'application/json' } }
      expect((await node.get('/api-keys', init)).status, told).toBe(refused)
      const open = await node.get('/skills', { headers })
      const expected = refused === 403 ? [403, 'private, no-store'] : [200, 'no-cache']
      expect([open.status, open.headers.get('cache-control')], told).toEqual(expected)
    }
    const { apiKeys } = await node.api.listApiKeys()
    expect(apiKeys.map((key) => key.name)).not.toContain('forged')
  })

  it('must come from the public URL, or from the host that a trusted proxy reports', async () => {
    const told = await startNode({ publicUrl: 'https://Skills.example:443/' })
    const mine = (await signIn(told)).token
    const cookie = secureCookie(mine)
    expect(await statusFrom(told, mine, { origin: 'https://skills.example', ...cookie })).toBe(200)
    expect(await statusFrom(told, mine, { origin: 'http://skills.example', ...cookie })).toBe(401)
    expect(await statusFrom(told, mine, { origin: told.node.url, ...cookie })).toBe(401)
    expect(await statusFrom(told, mine, {}), 'a name that neighbours can set').toBe(401)

    const behind = await startNode({ trustedProxies: ['127.0.0.1'] })
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'skills.example' }
    const { token } = await signIn(behind, proxied)
    const own = { ...proxied, ...secureCookie(token) }
    expect(await statusFrom(behind, token, { ...own, origin: 'https://skills.example' })).toBe(200)
    expect(await statusFrom(behind, token, { ...own, origin: 'https://elsewhere.example' })).toBe(403)

    const plain = await startNode()
    const other = await signIn(plain)
    expect(await statusFrom(plain, other.token, { ...proxied, origin: 'https://skills.example' })).toBe(403)
  })

  it('can read public content after the session ended, and gets 401 for endpoints that need a user', async () => {
    const node = await startNode()
    const { token } = await signIn(node)
    await node.get('/session', { method: 'DELETE', headers: ownPage(token) })
    for (const gone of [token, 'sss_guess', '', '%guess', '%00', 'x'.repeat(5000)]) {
      const headers = ownPage(gone)
      expect((await node.get('/skills', { headers })).status, gone).toBe(200)
      const refused = await node.get('/users/me', { headers })
      expect(refused.status, gone).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe('Bearer')
      expect(await refused.text()).not.toMatch(/sss_|guess|xxx/)
    }
  })

  it('with an API key is authenticated by the key, not by the session', async () => {
    const node = await startNode()
    const bob = await node.createUser('bob')
    const { token } = await signIn(node)
    const asBob = await node.get('/users/me', { headers: ownPage(token, { authorization: `Bearer ${bob}` }) })
    expect(await asBob.json()).toMatchObject({ username: 'bob' })
    const wrong = await node.get('/users/me', { headers: ownPage(token, { authorization: 'Bearer ssk_wrong' }) })
    expect(wrong.status).toBe(401)
  })

  it('is charged to its user; a guessed session is charged to the IP address', async () => {
    const node = await startNode({ rates: { anonymous: 2, enterprise: 9 } })
    const { token } = await signIn(node)
    const answer = await node.get('/skills', { headers: ownPage(token) })
    expect(answer.headers.get('ratelimit-policy')).toBe('"enterprise";q=9;w=60')
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('7')
    for (const status of [200, 200, 429]) {
      const guess = await node.get('/skills', { headers: ownPage('sss_guess') })
      expect(guess.status).toBe(status)
      expect(guess.headers.get('ratelimit-policy')).toBe('"anonymous";q=2;w=60')
    }
  })

  it('is accepted by a private node until the session ends', async () => {
    const node = await startNode({ requireKey: true })
    const { token } = await signIn(node)
    expect((await node.get('/skills', { headers: ownPage(token) })).status).toBe(200)
    expect((await node.get('/skills', { headers: { cookie: `${name}=${token}` } })).status).toBe(401)
    expect((await node.get('/session', { method: 'DELETE', headers: ownPage(token) })).status).toBe(204)
    expect((await node.get('/skills', { headers: ownPage(token) })).status).toBe(401)
  })

  it('cannot be sent by a page of another site, because the preflight does not allow the session header', async () => {
    const { get } = await startNode()
    for (const path of ['/skills', '/session', '/users/me']) {
      const headers = {
        origin: 'https://elsewhere.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, x-skillstead-session',
      }
      const preflight = await get(path, { method: 'OPTIONS', headers })
      expect(preflight.headers.get('access-control-allow-headers')).not.toContain('session')
      expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  it('leaves no part of the session token in the log or the metrics', async () => {
    let written = ''
    const destination = new Writable({ write: (chunk, _encoding, done) => ((written += String(chunk)), done()) })
    const node = await startNode({ logger: createLogger(destination) })
    const { token } = await signIn(node)
    await node.get(`/skills?q=${token}`, { headers: ownPage(token) })
    await node.get('/nothing', { headers: ownPage(token) })
    await node.get('/session', { method: 'DELETE', headers: ownPage(token) })
    expect(written.match(/"endpoint":"(create|delete)Session"/g)).toHaveLength(2)
    const metrics = await (await fetch(`${node.node.url}/metrics`)).text()
    expect(metrics).toContain('skillstead')
    for (const text of [written, metrics]) expect(text).not.toContain(token.slice(4, 20))
  })
})

describe('a sign-out', () => {
  it('ends the session and its cookie', async () => {
    const node = await startNode({ publicUrl: 'https://skills.example' })
    const { token } = await signIn(node)
    const cookie = secureCookie(token)
    expect((await node.get('/users/me', { headers: ownPage(token, cookie) })).status).toBe(200)
    const answer = await signOut(node, ownPage(token, { ...cookie, origin: 'https://skills.example' }))
    expect(answer.status).toBe(204)
    expect(await answer.text()).toBe('')
    expect(answer.headers.get('set-cookie')).toBe(
      `__Host-${name}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0; Secure`,
    )
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect((await node.get('/users/me', { headers: ownPage(token, cookie) })).status).toBe(401)
    expect((await signOut(node, ownPage(token, cookie))).status).toBe(204)
  })

  it('succeeds without a session, and ends the session even if the request has an API key', async () => {
    const node = await startNode()
    const { token } = await signIn(node)
    for (const headers of [{}, { 'x-skillstead-session': '1' }, ownPage('sss_guess'), { cookie: `${name}=${token}` }]) {
      expect((await signOut(node, headers)).status).toBe(204)
    }
    expect((await node.get('/users/me', { headers: ownPage(token) })).status).toBe(200)
    expect((await signOut(node, ownPage(token, { authorization: `Bearer ${node.key}` }))).status).toBe(204)
    expect((await node.get('/users/me', { headers: ownPage(token) })).status).toBe(401)
    expect((await node.as('/users/me')).status).toBe(200)
  })

  it('is rejected for a page of another site', async () => {
    const node = await startNode()
    const { token } = await signIn(node)
    const elsewhere: Headers[] = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://elsewhere.example' }]
    for (const headers of elsewhere) {
      const answer = await signOut(node, ownPage(token, headers))
      expect(answer.status).toBe(403)
      expect(answer.headers.get('set-cookie')).toBeNull()
    }
    expect((await node.get('/users/me', { headers: ownPage(token) })).status).toBe(200)
  })
})
