import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { promisify } from 'node:util'
import type { Registry } from '@skillstead/core'
import { limits } from '@skillstead/protocol'
import { createLogger } from '@skillstead/server'
import { describe, expect, it } from 'vitest'
import { everywhere, sendRaw, startNode, type Fixture } from './server-harness.ts'

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const searchFor = (query: string) => callOf('search_skills', { query })

function callOf(name: string, input: object) {
  return { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: input } }
}

function post({ node }: Fixture, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${node.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
  })
}

interface Result {
  readonly isError?: boolean
  readonly structuredContent: { readonly total: number; readonly skills: { readonly fullName: string }[] }
  readonly contents: { readonly text: string }[]
}

/** The message in an answer, whether it came as JSON or as the one event of a stream. */
async function messageOf(
  response: Response,
): Promise<{ id: unknown; result?: Result; error?: { code: number; message: string } }> {
  const text = await response.text()
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
}

describe('the address of MCP', () => {
  it('answers with every header that answers have, and keeps nothing for others', async () => {
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

  it('takes POST alone', async () => {
    const { node } = await startNode()
    for (const method of ['GET', 'HEAD', 'DELETE', 'PUT']) {
      const response = await fetch(`${node.url}/mcp`, { method })
      expect(response.status, method).toBe(405)
      expect(response.headers.get('allow')).toBe('POST, OPTIONS')
    }
    expect((await fetch(`${node.url}/mcp`, { method: 'OPTIONS' })).status).toBe(204)
  })

  it('refuses pages of other sites, also one whose name was given the address of the node', async () => {
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

  it('spends nothing of a rate but for wrong keys, and tells what is left', async () => {
    const fixture = await startNode({ rates: { anonymous: 5, enterprise: 9 } })
    for (let i = 0; i < 8; i++) expect(left(await post(fixture, ping))).toBe(5)
    const key = { authorization: `Bearer ${fixture.key}` }
    for (let i = 0; i < 3; i++) expect(left(await post(fixture, ping, key))).toBe(9)
    const wrong = { authorization: 'Bearer ssk_wrong' }
    for (let i = 0; i < 5; i++) expect((await post(fixture, ping, wrong)).status).toBe(401)
    expect((await post(fixture, ping, wrong)).status).toBe(429)
    expect(left(await post(fixture, ping))).toBe(0)
  })

  it('asks for a key where a node is private', async () => {
    const fixture = await startNode({ requireKey: true })
    const refused = await post(fixture, searchFor('pdf'))
    expect(refused.status).toBe(401)
    expect(await refused.text()).not.toContain('alice')
    const { result } = await messageOf(
      await post(fixture, searchFor('pdf'), { authorization: `Bearer ${fixture.key}` }),
    )
    expect(result!.structuredContent.total).toBe(1)
  })

  it('looks at no cookie', async () => {
    const fixture = await startNode()
    await fixture.api.publishSkill({ skillMd: '---\nname: own\ndescription: pdf\n---\nText.', visibility: 'private' })
    const own = { 'x-skillstead-session': '1', 'sec-fetch-site': 'same-origin' }
    const login = await fixture.as('/session', { method: 'POST', headers: own })
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!
    const { result } = await messageOf(await post(fixture, searchFor('pdf'), { cookie, ...own }))
    expect(result!.structuredContent.skills.map(({ fullName }) => fullName)).toEqual(['alice/pdf'])
  })
})

describe('a message', () => {
  it('that is none is refused, whatever it is', async () => {
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

  it('that is too large, or nests without end, is refused before it is looked at', async () => {
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

  it('leaves a line in the log and a count, and nothing of what was asked', async () => {
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

  it('that makes the node fail is told so, and the log has the cause', async () => {
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
      content: [{ type: 'text', text: 'The registry failed; its log says why.' }],
    })
    const { error } = await messageOf(await post(fixture, { ...ping, method: 'skills/list', params: {} }))
    expect(error).toEqual({ code: -32603, message: 'The registry failed; its log says why.' })
    const failures = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50)
    expect(failures).toHaveLength(2)
    expect(failures[0]).toMatchObject({ endpoint: 'mcp', err: { message: 'no such table: secrets' } })
  })
})

describe('calls', () => {
  it('of one caller are 32 at a time, the rest is told to wait, and others are not held up', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    let waiting = 0
    const fixture = await startNode({}, (registry) =>
      withSearch(registry, async (original) => {
        waiting += 1
        await gate
        return original()
      }),
    )
    const held = Array.from({ length: 32 }, () => post(fixture, searchFor('pdf')))
    await expect.poll(() => waiting).toBe(32)
    const refused = await post(fixture, ping)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ code: 'overloaded' })
    expect((await post(fixture, ping, { authorization: `Bearer ${fixture.key}` })).status).toBe(200)
    open()
    for (const response of await Promise.all(held)) expect(response.status).toBe(200)
    expect((await post(fixture, ping)).status).toBe(200)
  })

  it('with large answers are under way until these are taken, or the caller is gone', async () => {
    const fixture = await startNode()
    const text = 'A line of a large file.\n'.repeat(300_000)
    await fixture.api.publishSkill({
      skillMd: '---\nname: large\ndescription: Large.\n---\nText.\n',
      files: [{ path: 'large.txt', content: text }],
    })
    const read = { ...ping, method: 'resources/read', params: { uri: 'skill://alice/large/large.txt' } }
    const { result } = await messageOf(await post(fixture, read))
    expect(result!.contents[0]!.text === text).toBe(true)
    const body = JSON.stringify(read)
    const head =
      'POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n' +
      `Content-Length: ${body.length}\r\n\r\n`
    const sockets = Array.from({ length: 32 }, () => {
      const socket = connect(fixture.node.port, '127.0.0.1', () => socket.write(head + body))
      socket.once('readable', () => {})
      return socket
    })
    await expect.poll(async () => (await post(fixture, ping)).status).toBe(503)
    for (const socket of sockets) socket.destroy()
    await expect.poll(async () => (await post(fixture, ping)).status).toBe(200)
    const again = await Promise.all(Array.from({ length: 32 }, () => post(fixture, ping)))
    expect(again.map(({ status }) => status)).toEqual(again.map(() => 200))
  })

  it('end with the node', async () => {
    const fixture = await startNode()
    expect((await post(fixture, ping)).status).toBe(200)
    await fixture.node.close()
    await expect(post(fixture, ping)).rejects.toThrow('fetch failed')
  })
})

it('costs a node nothing before it is first used', async () => {
  const code = `
    import { registerHooks } from 'node:module'
    let loaded = 0
    registerHooks({ load: (url, context, next) => (url.includes('modelcontextprotocol') && (loaded += 1), next(url, context)) })
    const { openRegistry } = await import('@skillstead/core')
    const { createNode } = await import('@skillstead/server')
    const registry = await openRegistry({ path: ':memory:' })
    const node = createNode(registry)
    await node.fetch(new Request('http://localhost/api/v1/skills'))
    const before = loaded
    const response = await node.fetch(new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    }))
    console.log(JSON.stringify({ before, after: loaded > 0, status: response.status }))
    node.close()
    await registry.close()`
  const args = ['--conditions=source', '--input-type=module', '-e', code]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: new URL('..', import.meta.url).pathname })
  expect(JSON.parse(stdout)).toEqual({ before: 0, after: true, status: 200 })
})

function left(response: Response): number {
  return Number(response.headers.get('x-ratelimit-remaining'))
}

/** A registry whose searches go another way. */
function withSearch(registry: Registry, search: (original: () => Promise<unknown>) => Promise<unknown>): Registry {
  const own = Object.create(registry.search, {
    search: { value: (...input: [never]) => search(() => registry.search.search(...input)) },
  })
  return { ...registry, search: own }
}
