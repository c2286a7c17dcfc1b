import { createNode } from '@skillstead/server'
import { describe, expect, it } from 'vitest'
import { json, sendRaw, startNode, type Fixture } from '../support/server-harness.ts'

const elsewhere = 'https://elsewhere.example'
const folder = '/.well-known/agent-skills'
const paths = [
  '/api/v1/skills',
  '/api/v1/skills/pdf/skill.md',
  '/api/v1/nothing',
  '/api/search?q=pdf',
  `/alice${folder}/index.json`,
  `/alice/pdf${folder}/pdf-1.0.0.md`,
  '/openapi.json',
]

/** The status of an answer, and whose pages may read it. */
async function ask({ node }: Fixture, path: string, headers: Record<string, string>, init: RequestInit = {}) {
  const response = await fetch(node.url + path, { ...init, headers: { ...init.headers, ...headers } })
  await response.arrayBuffer()
  return [response.status, response.headers.get('access-control-allow-origin')]
}

const preflight = (method: string, headers = 'content-type') => ({
  'access-control-request-method': method,
  'access-control-request-headers': headers,
})

describe('a page of another site that calls a node without a public URL', () => {
  it('can neither read nor write without an API key', async () => {
    const fixture = await startNode()
    for (const origin of [elsewhere, 'null', 'http://127.0.0.1:1', 'https://127.0.0.1']) {
      for (const path of paths) expect(await ask(fixture, path, { origin }), path).toEqual([403, null])
      const refused = await fixture.get('/skills', { headers: { origin } })
      expect(await refused.json()).toMatchObject({ code: 'forbidden' })
    }
    const agent = { agentKey: 'bot:one', platformId: 'bot', displayName: 'Bot' }
    expect(await ask(fixture, '/api/v1/agents', { origin: elsewhere }, json(agent))).toEqual([403, null])
    expect((await fixture.get('/agents').then((response) => response.json())).total).toBe(0)
    expect(await ask(fixture, '/api/v1/skills', { origin: fixture.node.url })).toEqual([200, null])
    expect(await ask(fixture, '/api/v1/agents', { origin: fixture.node.url }, json(agent))).toEqual([201, null])
  })

  it('can read and write with a valid API key', async () => {
    const fixture = await startNode()
    const origin = elsewhere
    const authorization = `Bearer ${fixture.key}`
    for (const path of paths.filter((one) => !one.includes('nothing'))) {
      expect(await ask(fixture, path, { origin, authorization }), path).toEqual([200, elsewhere])
      expect((await ask(fixture, path, { origin, authorization: 'Bearer ssk_wrong' }))[0], path).toBe(401)
      expect((await ask(fixture, path, { origin, authorization: 'x' }))[0], path).toBe(401)
    }
    const written = json({ name: 'Basics', description: '', skills: ['alice/pdf'] })
    expect(await ask(fixture, '/api/v1/packs', { origin, authorization }, written)).toEqual([201, elsewhere])
  })

  it('passes the preflight only if the request will contain an API key', async () => {
    const fixture = await startNode()
    const send = (headers: Record<string, string>) =>
      ask(fixture, '/api/v1/skills', { origin: elsewhere, ...headers }, { method: 'OPTIONS' })
    expect(await send(preflight('PUT', 'authorization'))).toEqual([204, elsewhere])
    expect(await send(preflight('GET', 'content-type, Authorization'))).toEqual([204, elsewhere])
    expect(await send(preflight('PUT', 'content-type'))).toEqual([403, null])
    expect(await send(preflight('GET', 'x-authorization'))).toEqual([403, null])
  })

  it('is rejected under a host name that resolves to the address of the node (DNS rebinding)', async () => {
    const { node } = await startNode()
    const send = (host: string) =>
      sendRaw(node.port, `GET /api/v1/skills HTTP/1.1~Host: ${host}~Origin: http://${host}~Connection: close~~`)
    expect(await send(`evil.example:${node.port}`)).toMatch(/^HTTP\/1.1 403 /)
    expect(await send(`127.0.0.1.evil.example:${node.port}`)).toMatch(/^HTTP\/1.1 403 /)
    expect(await send(`localhost:${node.port}`)).toMatch(/^HTTP\/1.1 200 /)
  })

  it('is allowed if the operator lists its origin', async () => {
    const fixture = await startNode({ corsOrigins: [elsewhere] })
    const agent = json({ agentKey: 'bot:one', platformId: 'bot', displayName: 'Bot' })
    expect(await ask(fixture, '/api/v1/skills', { origin: elsewhere })).toEqual([200, elsewhere])
    expect(await ask(fixture, '/api/v1/agents', { origin: elsewhere }, agent)).toEqual([201, elsewhere])
    expect(
      await ask(fixture, '/api/v1/agents', { origin: elsewhere, ...preflight('POST') }, { method: 'OPTIONS' }),
    ).toEqual([204, elsewhere])
    expect(await ask(fixture, '/api/v1/skills', { origin: 'https://other.example' })).toEqual([403, null])
    for (const wrong of ['*', 'elsewhere.example', `${elsewhere}/`, 'https://Elsewhere.example', 'null'])
      expect(() => createNode(fixture.registry, { corsOrigins: [wrong] }), wrong).toThrow(TypeError)
  })

  it('gets responses that vary by Origin, so that caches do not mix origins', async () => {
    const { get } = await startNode()
    const { headers } = await get('/skills', { headers: { origin: elsewhere } })
    expect(headers.get('vary')).toBe('Authorization, Cookie, Origin')
  })

  it('can request the health check without a key; programs that send no Origin can request public data', async () => {
    const fixture = await startNode()
    expect(await ask(fixture, '/healthz', { origin: elsewhere })).toEqual([200, null])
    expect(await ask(fixture, '/api/v1/skills', { host: 'skills.internal' })).toEqual([200, null])
  })
})

describe('a page of another site that calls a node with a public URL', () => {
  it('can read public content, and can write only with an API key', async () => {
    const fixture = await startNode({ publicUrl: 'https://skills.example' })
    const origin = elsewhere
    for (const path of paths.filter((one) => !one.includes('nothing')))
      expect(await ask(fixture, path, { origin }), path).toEqual([200, '*'])
    const agent = json({ agentKey: 'bot:one', platformId: 'bot', displayName: 'Bot' })
    const send = (headers: Record<string, string>) =>
      ask(fixture, '/api/v1/agents', { origin, ...headers }, { method: 'OPTIONS' })
    expect((await ask(fixture, '/api/v1/agents', { origin }, agent))[0]).toBe(403)
    expect((await send(preflight('POST')))[0]).toBe(403)
    expect(await send(preflight('GET'))).toEqual([204, '*'])
    expect(await send(preflight('POST', 'authorization'))).toEqual([204, '*'])
    const authorization = `Bearer ${fixture.key}`
    expect(await ask(fixture, '/api/v1/agents', { origin, authorization }, agent)).toEqual([201, '*'])
  })

  it('can search with POST as with GET', async () => {
    const fixture = await startNode({ publicUrl: 'https://skills.example' })
    const origin = elsewhere
    expect(await ask(fixture, '/api/v1/search', { origin }, json({ q: 'pdf' }))).toEqual([200, '*'])
    const send = (path: string, headers: Record<string, string>) =>
      ask(fixture, path, { origin, ...headers }, { method: 'OPTIONS' })
    expect(await send('/api/v1/search', preflight('POST'))).toEqual([204, '*'])
    expect((await send('/api/v1/search', preflight('PUT')))[0]).toBe(403)
    const behindFirewall = await startNode()
    expect(await ask(behindFirewall, '/api/v1/search', { origin }, json({ q: 'pdf' }))).toEqual([403, null])
  })

  it('never uses the session cookie of the visitor', async () => {
    const fixture = await startNode({ publicUrl: 'https://skills.example' })
    await fixture.api.publishSkill({ skillMd: '---\nname: own\ndescription: Own\n---\nText.', visibility: 'private' })
    const own = { 'x-skillstead-session': '1', 'sec-fetch-site': 'same-origin' }
    const login = await fixture.as('/session', { method: 'POST', headers: own })
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!
    expect((await ask(fixture, '/api/v1/skills/own', { cookie, ...own }))[0]).toBe(200)
    expect((await ask(fixture, '/api/v1/skills/own', { cookie, ...own, origin: elsewhere }))[0]).toBe(404)
    const search = async (headers: Record<string, string>) => {
      const init = json({ q: 'own' })
      const response = await fixture.get('/search', {
        ...init,
        headers: { ...init.headers, cookie, ...own, ...headers },
      })
      return (await response.json()).total
    }
    expect([await search({}), await search({ origin: elsewhere })]).toEqual([1, 0])
    const star = { method: 'POST' }
    expect((await ask(fixture, '/api/v1/skills/pdf/star', { cookie, ...own, origin: elsewhere }, star))[0]).toBe(403)
  })
})
