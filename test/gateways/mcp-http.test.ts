import { Writable } from 'node:stream'
import { limits } from '@skillstead/protocol'
import { createLogger } from '@skillstead/server'
import { describe, expect, it } from 'vitest'
import { callOf, messageOf, ping, post, searchFor, withSearch } from '../support/mcp-messages.ts'
import { everywhere, sendRaw, startNode } from '../support/server-harness.ts'

describe('the MCP endpoint', () => {
  it('sends the common headers with every response, and forbids caching', async () => {
    const fixture = await startNode()
    const answers = [
      await post(fixture, ping, { 'x-request-id': 'trace-7' }),
      await post(fixture, searchFor('pdf')),
      await post(fixture, '{"broken'),
      await post(fixture, [ping]),
      await post(fixture, { jsonrpc: '2.0', method: 'notifications/initialized' }),
      await post(fixture, ping, { accept: 'text/html' }),
      await post(fixture, ping, { authorization: 'Bearer ssk_wrong' }),
      await fetch(`${fixture.node.url}/mcp`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 400, 202, 406, 401, 405])
    expect(answers[0]!.headers.get('x-request-id')).toBe('trace-7')
    for (const { headers } of answers) {
      for (const name of everywhere) expect(headers.get(name), name).not.toBeNull()
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('private, no-store')
      expect(headers.get('access-control-allow-origin')).toBeNull()
    }
    expect(await answers[4]!.text()).toBe('')
    expect(answers[6]!.headers.get('www-authenticate')).toBe('Bearer')
  })

  it.each([undefined, '*/*', 'application/*', 'application/json', 'application/json;q=1, text/event-stream;q=0'])(
    'responds with JSON to a client that sends Accept: %s',
    async (accept) => {
      const { node } = await startNode()
      const lines = ['Content-Type: application/json', ...(accept === undefined ? [] : [`Accept: ${accept}`])]
      for (const message of [ping, searchFor('pdf')]) {
        const body = JSON.stringify(message)
        const head = ['POST /mcp HTTP/1.1', `Host: 127.0.0.1:${node.port}`, ...lines, `Content-Length: ${body.length}`]
        const answer = await sendRaw(node.port, `${head.join('~')}~Connection: close~~${body}`)
        expect(answer).toMatch(/^HTTP\/1\.1 200 /)
        expect(answer.toLowerCase()).toContain('content-type: application/json')
        expect(answer).toContain('"result":')
      }
    },
  )

  it('sends an event stream to a client that prefers it to JSON', async () => {
    const fixture = await startNode()
    const answer = await post(fixture, searchFor('pdf'), { accept: 'application/json;q=0.5, text/event-stream' })
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
  })

  it('accepts only POST and OPTIONS', async () => {
    const { node } = await startNode()
    for (const method of ['GET', 'HEAD', 'DELETE', 'PUT']) {
      const response = await fetch(`${node.url}/mcp`, { method })
      expect(response.status, method).toBe(405)
      expect(response.headers.get('allow')).toBe('POST, OPTIONS')
    }
    expect((await fetch(`${node.url}/mcp`, { method: 'OPTIONS' })).status).toBe(204)
  })

  it('rejects pages of other sites, also if their host name resolves to the address of the node', async () => {
    const { node } = await startNode()
    const ask = (host: string, origin: string, port = node.port) => {
      const body = JSON.stringify(ping)
      return sendRaw(
        port,
        `POST /mcp HTTP/1.1~Host: ${host}~Origin: ${origin}~Content-Type: application/json~` +
          `Accept: application/json, text/event-stream~Content-Length: ${body.length}~Connection: close~~${body}`,
      )
    }
    const here = `127.0.0.1:${node.port}`
    for (const [host, origin] of [
      [here, 'http://evil.example'],
      [here, 'null'],
      [here, 'http://127.0.0.1:1'],
      [`evil.example:${node.port}`, `http://evil.example:${node.port}`],
      [`127.0.0.1.evil.example:${node.port}`, `http://127.0.0.1.evil.example:${node.port}`],
    ] as const) {
      expect(await ask(host, origin), origin).toMatch(/^HTTP\/1.1 403 /)
    }
    expect(await ask(here, `http://${here}`)).toMatch(/^HTTP\/1.1 200 /)
    expect(await ask(`localhost:${node.port}`, `http://localhost:${node.port}`)).toMatch(/^HTTP\/1.1 200 /)
    const named = await startNode({ publicUrl: 'https://skills.example/' })
    expect(await ask(here, 'https://skills.example', named.node.port)).toMatch(/^HTTP\/1.1 200 /)
    expect(await ask(here, `http://127.0.0.1:${named.node.port}`, named.node.port)).toMatch(/^HTTP\/1.1 403 /)
  })

  it('charges each message to the caller, and each invalid API key to the IP address', async () => {
    const fixture = await startNode({ rates: { anonymous: 3, enterprise: 9 } })
    expect([left(await post(fixture, ping)), left(await post(fixture, searchFor('pdf')))]).toEqual([2, 1])
    const key = { authorization: `Bearer ${fixture.key}` }
    expect([left(await post(fixture, ping, key)), left(await post(fixture, ping, key))]).toEqual([8, 7])
    const wrong = { authorization: 'Bearer ssk_wrong' }
    expect([await post(fixture, ping, wrong), await post(fixture, ping, wrong)].map(({ status }) => status)).toEqual([
      401, 429,
    ])
    const refused = await post(fixture, ping)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect((await fixture.get('/skills')).status).toBe(429)
    expect((await post(fixture, ping, key)).status).toBe(200)
  })

  it('requires an API key on a private node', async () => {
    const fixture = await startNode({ requireKey: true })
    const refused = await post(fixture, searchFor('pdf'))
    expect(refused.status).toBe(401)
    expect(await refused.text()).not.toContain('alice')
    const { result } = await messageOf(
      await post(fixture, searchFor('pdf'), { authorization: `Bearer ${fixture.key}` }),
    )
    expect(JSON.parse(result!.content[0]!.text)).toMatchObject({ total: 1 })
  })

  it('declares that it sends no notifications, and ends a subscription directly after the acknowledgement', async () => {
    const fixture = await startNode()
    const version = '2026-07-28'
    const capabilities = { tools: { listChanged: false }, resources: { listChanged: false } }
    const modern = (method: string, params: object) => {
      const meta = {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      }
      const headers = { 'mcp-protocol-version': version, 'mcp-method': method }
      return post(fixture, { jsonrpc: '2.0', id: 5, method, params: { ...params, _meta: meta } }, headers)
    }
    expect(await (await modern('server/discover', {})).json()).toMatchObject({ result: { capabilities } })
    const notifications = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['skill://a/b'] }
    const answer = await (await modern('subscriptions/listen', { notifications })).text()
    const frames = [...answer.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as unknown)
    expect(frames).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } },
      { id: 5, result: { resultType: 'complete' } },
    ])
  })

  it('ignores session cookies', async () => {
    const fixture = await startNode()
    await fixture.api.publishSkill({ skillMd: '---\nname: own\ndescription: pdf\n---\nText.', visibility: 'private' })
    const own = { 'x-skillstead-session': '1', 'sec-fetch-site': 'same-origin' }
    const login = await fixture.as('/session', { method: 'POST', headers: own })
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!
    const { result } = await messageOf(await post(fixture, searchFor('pdf'), { cookie, ...own }))
    expect(JSON.parse(result!.content[0]!.text)).toMatchObject({ total: 1, skills: [{ fullName: 'alice/pdf' }] })
  })
})

describe('a message to the MCP endpoint', () => {
  it('is rejected if it is not a valid JSON-RPC message', async () => {
    const fixture = await startNode()
    const calls = Array.from({ length: 500 }, () => searchFor('pdf'))
    const rows: [body: unknown, status: number, code: number][] = [
      ['', 400, -32700],
      ['{', 400, -32700],
      [new Uint8Array([0x22, 0xff, 0x22]), 400, -32700],
      [calls, 400, -32600],
      [[], 400, -32600],
      ['null', 400, -32600],
      ['7', 400, -32600],
      [{ ...ping, method: 'skills/delete' }, 200, -32601],
      [{ ...ping, method: 'subscriptions/listen' }, 200, -32601],
      [{ ...ping, method: '__proto__' }, 200, -32601],
      [{ ...ping, method: 'tools/call', params: { name: '__proto__' } }, 200, -32602],
      [{ ...ping, method: 'tools/call', params: [] }, 400, -32600],
    ]
    for (const [body, status, code] of rows) {
      const label = JSON.stringify(body).slice(0, 60)
      const response = await post(fixture, body)
      const { error } = await messageOf(response)
      expect({ status: response.status, code: error?.code }, label).toEqual({ status, code })
      expect(error?.message, label).not.toMatch(/node_modules|at /)
    }
    const typed = await post(fixture, ping, { 'content-type': 'text/plain' })
    expect(typed.status).toBe(415)
  })

  it('is rejected before parsing if it is too large or too deeply nested', async () => {
    const fixture = await startNode()
    const large = await post(fixture, searchFor('x'.repeat(limits.bodyBytesDefault)))
    expect(large.status).toBe(413)
    expect(await large.json()).toMatchObject({ code: 'payload_too_large' })
    const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect((await post(fixture, deep)).status).toBe(400)
    const many = callOf('load_skill', { name: 'pdf', priority: Array.from({ length: 300_000 }, () => 0) })
    const { error, result } = await messageOf(await post(fixture, many))
    expect(JSON.stringify(error ?? result).length).toBeLessThan(1000)
    const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`a${i}`, 0]))
    const odd = await messageOf(await post(fixture, callOf('search_skills', { query: 'x', ...fields })))
    expect(JSON.stringify(odd).length).toBeLessThan(1000)
    expect((await post(fixture, ping)).status).toBe(200)
  })

  it('appears in the log and the metrics without its content', async () => {
    const lines: string[] = []
    const logger = createLogger(
      new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) }),
    )
    const fixture = await startNode({ logger })
    await post(fixture, searchFor('secret-query'))
    await post(fixture, callOf('secret-tool', {}))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { method: 'POST', endpoint: 'mcp', status: 200 },
      { method: 'POST', endpoint: 'mcp', status: 200 },
    ])
    expect(lines.join('')).not.toContain('secret')
    const metrics = await (await fetch(`${fixture.node.url}/metrics`)).text()
    expect(metrics).toContain('skillstead_http_requests_total{endpoint="mcp",method="POST",status="2xx"} 2')
    expect(metrics).not.toContain('secret')
  })

  it('gets a general error if the node fails, and the cause is logged', async () => {
    const lines: string[] = []
    const logger = createLogger(
      new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) }),
    )
    const fixture = await startNode({ logger }, (registry) =>
      withSearch(registry, () => Promise.reject(new Error('no such table: secrets'))),
    )
    const { result } = await messageOf(await post(fixture, searchFor('pdf')))
    expect(result).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'The registry failed. Its log has the reason.' }],
    })
    const { error } = await messageOf(await post(fixture, { ...ping, method: 'skills/list', params: {} }))
    expect(error).toEqual({ code: -32603, message: 'The registry failed. Its log has the reason.' })
    const failures = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50)
    expect(failures).toHaveLength(2)
    expect(failures[0]).toMatchObject({ endpoint: 'mcp', err: { message: 'no such table: secrets' } })
  })
})

function left(response: Response): number {
  return Number(response.headers.get('x-ratelimit-remaining'))
}
