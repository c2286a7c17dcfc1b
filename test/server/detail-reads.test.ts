import { guest, localApi, systemCaller } from '@skillstead/core'
import { localCall } from '@skillstead/core/internal'
import { createLogger, createNode, listenNode } from '@skillstead/server'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openRegistry } from '../support/open-registry.ts'
import { makePlace } from '../support/places.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

const ofOneRequest = new Set(['date', 'x-request-id', 'x-ratelimit-remaining', 'ratelimit', 'x-ratelimit-reset'])

async function toAnswer(response: Response) {
  const headers = [...response.headers].filter(([name]) => !ofOneRequest.has(name))
  const body = (await response.text()).replace(/"requestId":"[^"]*"/, '')
  return { status: response.status, headers: Object.fromEntries(headers), body }
}

describe('GET /skills/<name>', () => {
  it('returns the same response with and without an empty query', async () => {
    const { node, api, key } = await startNode({ corsOrigins: ['https://app.example'] })
    await api.publishSkill({ skillMd: skillMd.replace('pdf', 'secret'), version: '1.0.0', visibility: 'private' })
    const { token } = await api.createShare({ name: 'alice/secret' })
    const names = ['pdf', 'alice%2Fpdf', 'alice%2fpdf', 'alice%2Fsecret', 'secret', 'nothing', 'alice%2Fnothing']
    const others = [
      'need',
      'suggest',
      'search',
      '-',
      '_',
      'alice%252Fpdf',
      'alice/pdf',
      'PDF',
      'p%64f',
      '.',
      '%2e',
      '%ff',
    ]
    const ways: Readonly<Record<string, string>>[] = [
      {},
      { authorization: `Bearer ${key}` },
      { authorization: 'Bearer ssk_wrong' },
      { 'x-share-token': token! },
      { origin: 'https://app.example' },
      { origin: 'https://other.example' },
      { 'if-none-match': '*' },
      { 'if-none-match': '"another"' },
      { 'x-skillstead-session': '1', cookie: 'skillstead-session=wrong' },
    ]
    for (const name of [...names, ...others]) {
      for (const headers of ways) {
        const ask = async (query: string) =>
          toAnswer(await fetch(`${node.url}/api/v1/skills/${name}${query}`, { headers, redirect: 'manual' }))
        const routed = await ask('?')
        // The second request finds the cached response.
        for (let round = 0; round < 2; round++) expect(await ask(''), `${name} ${Object.keys(headers)}`).toEqual(routed)
      }
    }
  })

  it.each([
    ['a public URL', { publicUrl: 'https://skills.example/' }, {}],
    [
      'a trusted proxy',
      { trustedProxies: ['127.0.0.1'] },
      { 'x-forwarded-host': 'a.example', 'x-forwarded-for': '1.2.3.4' },
    ],
    ['limits', { rates: {} }, { 'x-request-id': 'mine' }],
    ['an own request id that is not one', {}, { 'x-request-id': 'not one' }],
  ] as const)('returns the same response as through the router, with %s', async (_, options, headers) => {
    const { node, api } = await startNode(options)
    await api.publishSkill({ skillMd: skillMd.replace('Reads them', 'Liest sie – 読む 🫖'), version: '1.1.0' })
    const ask = async (query: string) => fetch(`${node.url}/api/v1/skills/alice%2Fpdf${query}`, { headers })
    const routed = await ask('?')
    const expected = await toAnswer(routed)
    expect(expected).toMatchObject({ status: 200, body: expect.stringContaining('🫖') })
    for (let round = 0; round < 2; round++) {
      const answer = await ask('')
      const id = answer.headers.get('x-request-id')
      expect(id === routed.headers.get('x-request-id')).toBe(
        'x-request-id' in headers && headers['x-request-id'] === 'mine',
      )
      expect(await toAnswer(answer)).toEqual(expected)
    }
  })

  it('returns a long cached response with the address that each caller uses', async () => {
    const { node, api } = await startNode({ trustedProxies: ['127.0.0.1'] })
    const files = Array.from({ length: 200 }, (_, n) => ({ path: `references/${n}-été.md`, content: `Page ${n}` }))
    await api.publishSkill({ skillMd, version: '1.1.0', files })
    for (const host of ['a.example', 'b.example', 'a.example', 'b.example']) {
      const headers = { 'x-forwarded-host': host, 'x-forwarded-for': '1.2.3.4' }
      const ask = async (query: string) =>
        toAnswer(await fetch(`${node.url}/api/v1/skills/alice%2Fpdf${query}`, { headers }))
      const cached = await ask('')
      expect(cached).toEqual(await ask('?'))
      expect(cached.body.length).toBeGreaterThan(16_384)
      expect(cached.body).toContain(`//${host}/api/v1/users/alice/avatar`)
    }
  })

  it('is charged to the caller, and counts and logs each response', async () => {
    const lines: string[] = []
    const logger = createLogger({ write: (line) => void lines.push(line) })
    const { node } = await startNode({ rates: { anonymous: 3 }, logger })
    const read = () => fetch(`${node.url}/api/v1/skills/pdf`)
    const answers = [await read(), await read(), await read(), await read()]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['2', '1', '0', '0'])
    const logged = lines.map((line) => JSON.parse(line) as { endpoint: string; status: number })
    expect(logged.map(({ endpoint, status }) => `${endpoint} ${status}`)).toEqual([
      ...Array.from({ length: 3 }, () => 'getSkill 200'),
      'getSkill 429',
    ])
    const metrics = await (await fetch(`${node.url}/metrics`)).text()
    expect(metrics).toContain('skillstead_http_requests_total{endpoint="getSkill",method="GET",status="2xx"} 3')
    expect(metrics).toContain('skillstead_http_request_duration_seconds_count{endpoint="getSkill"} 4')
  })

  it('returns no skill that is no longer public, and reports a closed registry', async () => {
    const { node, api, registry } = await startNode()
    const read = async () => (await fetch(`${node.url}/api/v1/skills/pdf`)).status
    expect([await read(), await read()]).toEqual([200, 200])
    await api.publishSkill({ name: 'pdf', visibility: 'private' })
    expect(await read()).toBe(404)
    await api.publishSkill({ name: 'pdf', visibility: 'public' })
    expect([await read(), await read()]).toEqual([200, 200])
    await registry.close()
    expect(await read()).toBe(503)
  })

  it('returns no skill that became private while the request waited for its rate limit', async () => {
    const place = await makePlace('PostgreSQL')
    const registry = await openRegistry(place.location)
    await localCall(registry, 'createUser', { username: 'alice' }, systemCaller)
    const api = localApi(registry, await registry.getCaller('alice'))
    await api.publishSkill({ skillMd, version: '1.0.0' })
    await localApi(registry, guest).getSkill({ name: 'pdf' })
    const node = await listenNode(registry, { port: 0, rates: { anonymous: 1000 } })
    const client = new pg.Client({ connectionString: place.location.databaseUrl })
    await client.connect()
    onTestFinished(async () => {
      await client.end()
      await node.close()
      await registry.close()
      await place.remove()
    })
    const inFlight = async () => /in_flight (\d+)/.exec(await (await fetch(`${node.url}/metrics`)).text())![1]
    await client.query('begin')
    await client.query('lock table rate_leases in access exclusive mode')
    const answer = fetch(`${node.url}/api/v1/skills/pdf`)
    // The other one is the request for the metrics.
    await expect.poll(inFlight).toBe('2')
    await api.publishSkill({ name: 'pdf', visibility: 'private' })
    await client.query('rollback')
    expect((await answer).status).toBe(404)
  })

  it.each([
    { rates: 'off', lines: /getSkill/ },
    { rates: {}, lines: /getSkill/ },
    { rates: 'off', lines: /getSkill.*"status":200/ },
    { rates: {}, lines: /getSkill.*"status":200/ },
  ] as const)('fails without stopping the node if the log fails, with %o', async ({ lines, ...options }) => {
    const logger = createLogger({
      write: (line) => {
        if (lines.test(line)) throw new Error('the disk is full')
      },
    })
    const { node, registry } = await startNode({ ...options, logger })
    await localApi(registry, guest).getSkill({ name: 'pdf' })
    const read = () =>
      fetch(`${node.url}/api/v1/skills/pdf`).then(
        ({ status }) => status,
        () => 'failed',
      )
    expect([await read(), await read()]).toEqual(['failed', 'failed'])
    const metrics = await (await fetch(`${node.url}/metrics`)).text()
    // The request for the metrics.
    expect(/in_flight (-?\d+)/.exec(metrics)![1]).toBe('1')
    expect(/requests_total\{endpoint="getSkill".*\} (\d+)/.exec(metrics)![1]).toBe('2')
  })

  it('returns a cached response on an embedded node until the skill changes', async () => {
    const { registry, api } = await startNode()
    const node = createNode(registry, { rates: { anonymous: 4 } })
    const read = (path = 'pdf') => node.fetch(new Request(`http://localhost/api/v1/skills/${path}`))
    const first = await read()
    const etag = first.headers.get('etag')
    expect((await read()).headers.get('etag')).toBe(etag)
    await api.publishSkill({ skillMd: skillMd.replace('Reads them', 'Changed'), version: '1.1.0' })
    const changed = await read()
    expect(await changed.json()).toMatchObject({ latestVersion: '1.1.0' })
    expect(changed.headers.get('x-ratelimit-remaining')).toBe('1')
    await api.publishSkill({ name: 'pdf', visibility: 'private' })
    expect((await read()).status).toBe(404)
    expect((await read()).status).toBe(429)
    node.drain()
    expect((await read()).status).toBe(503)
    node.close()
  })
})
