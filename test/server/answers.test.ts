import { describe, expect, it } from 'vitest'
import type { ListenOptions } from '@skillstead/server'
import { createClock } from '../support/harness.ts'
import { everywhere, json, sendRaw, skillMd, startNode } from '../support/server-harness.ts'

const dayMs = 24 * 60 * 60 * 1000
const cacheOf = async (response: Promise<Response>) => (await response).headers.get('cache-control')

const behindProxy = { trustedProxies: ['127.0.0.1'] }
const proxied = { 'X-Forwarded-Host': 'proxy.example', 'X-Forwarded-Proto': 'https' }

describe('HTTP responses of a node', () => {
  it('have rate limit headers and a request id, even for malformed requests', async () => {
    const { node, as } = await startNode()
    const close = 'Host: x~Connection: close~~'
    const raw = [
      `GET /api/v1/skills HTTP/1.1~${close}`,
      `HEAD /api/v1/skills/pdf HTTP/1.1~${close}`,
      `GET /api/v1/nothing HTTP/1.1~${close}`,
      `GET /nothing HTTP/1.1~${close}`,
      `POST /api/v1/skills HTTP/1.1~${close}`,
      `BREW /api/v1/skills HTTP/1.1~${close}`,
      `PROPFIND /api/v1/skills HTTP/1.1~${close}`,
      `OPTIONS /api/v1/skills HTTP/1.1~${close}`,
      `OPTIONS * HTTP/1.1~${close}`,
      `GET //[ HTTP/1.1~${close}`,
      `GET /% HTTP/1.1~${close}`,
      `GET /" HTTP/1.1~Host: x:99999~Connection: close~~`,
      `GET http://[ HTTP/1.1~${close}`,
      `GET /api/v1/skills/%ff HTTP/1.1~${close}`,
      'GARBAGE~~',
      `GET /api/v1/skills HTTP/1.1~Host: x~X-Big: ${'a'.repeat(20_000)}~~`,
      ...['/', '/openapi.json', '/healthz', '/readyz', '/metrics'].map((path) => `GET ${path} HTTP/1.1~${close}`),
    ]
    for (const request of raw) {
      const [head = ''] = (await sendRaw(node.port, request)).split('\r\n\r\n')
      for (const name of everywhere) expect(head.toLowerCase(), request.slice(0, 40)).toContain(`\r\n${name}: `)
      expect(head, request.slice(0, 40)).not.toMatch(/^HTTP\/1.1 5/)
    }
    const { headers } = await as('/skills/pdf', { headers: { 'if-none-match': '*' } })
    for (const name of everywhere) expect(headers.get(name)).toBeTruthy()
  })

  it('repeat a well-formed request id of the caller, and otherwise contain a new id', async () => {
    const { get } = await startNode()
    const idFor = async (id: string) =>
      (await get('/skills', { headers: { 'x-request-id': id } })).headers.get('x-request-id')
    expect(await idFor('trace-1.A_b')).toBe('trace-1.A_b')
    expect(await idFor('a'.repeat(64))).toBe('a'.repeat(64))
    for (const id of ['a'.repeat(65), 'a b', 'a/b', 'ü']) expect(await idFor(id)).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('are 404 problem documents for unknown paths, and repeat no part of the URL', async () => {
    const { node } = await startNode()
    const response = await fetch(`${node.url}/api/v1/<script>secret-path?q=secret-query`)
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({
      code: 'not_found',
      status: 404,
      type: expect.stringMatching(/not_found$/),
    })
    expect(JSON.parse(text).requestId).toBe(response.headers.get('x-request-id'))
    expect(text).not.toMatch(/script|secret/)
  })

  it('are 405 for unsupported methods, and list the supported methods in Allow', async () => {
    const { get } = await startNode()
    const response = await get('/users/me', { method: 'POST' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, HEAD, PATCH, OPTIONS')
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' })
  })

  it('allow requests without credentials from any origin if the node has a public URL', async () => {
    const { get } = await startNode({ publicUrl: 'https://skills.example' })
    const preflight = await get('/skills', { method: 'OPTIONS', headers: { origin: 'https://elsewhere.example' } })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, PUT, OPTIONS')
    for (const name of [
      'authorization',
      'content-type',
      'if-none-match',
      'idempotency-key',
      'x-agent-token',
      'x-case-token',
    ]) {
      expect(preflight.headers.get('access-control-allow-headers')).toContain(name)
    }
    const { headers } = await get('/skills', { headers: { origin: 'https://elsewhere.example' } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toMatch(/etag.*retry-after.*x-ratelimit-limit/)
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })

  it.each([
    [
      'with the configured public URL',
      { publicUrl: 'https://skills.example/registry/' },
      {},
      'https://skills.example/registry',
    ],
    ['with the host that a trusted proxy reports', behindProxy, proxied, 'https://proxy.example'],
    ['as a path if the Host header is an untrusted name', {}, { Host: 'evil.example', ...proxied }, ''],
    ['as a path if the Host header only begins with an IP address', {}, { Host: '127.0.0.1.evil.example' }, ''],
    ['with the Host header if that is localhost', {}, { Host: 'localhost:8080' }, 'http://localhost:8080'],
  ] as [string, ListenOptions, Record<string, string>, string][])(
    'contain picture URLs on the node itself: %s',
    async (_what, options, headers, address) => {
      const { node, key, api, get } = await startNode(options)
      const description = 'Says "avatarUrl":"/api/v1/users/alice/avatar" itself.'
      await api.publishSkill({ name: 'pdf', description })
      const port = Number(new URL(node.url).port)
      const head = Object.entries({ Host: `127.0.0.1:${port}`, ...headers, Authorization: `Bearer ${key}` })
      const lines = head.map(([name, value]) => `${name}: ${value}~`).join('')
      const avatarUrl = `${address}/api/v1/users/alice/avatar`
      for (const path of ['/skills', '/skills/alice%2Fpdf', '/skills/alice%2Fpdf', '/users/alice', '/users/me']) {
        const answer = await sendRaw(port, `GET /api/v1${path} HTTP/1.1~${lines}Connection: close~~`)
        expect(answer, path).toContain(`"avatarUrl":${JSON.stringify(avatarUrl)}`)
      }
      const details = await sendRaw(port, `GET /api/v1/skills/alice%2Fpdf HTTP/1.1~${lines}Connection: close~~`)
      expect(details, 'texts stay as they are').toContain(JSON.stringify(description))
      // Cached bytes of one address are not answered at another.
      const own = (await (await get('/skills/alice%2Fpdf')).json()) as { author: { avatarUrl: string } }
      expect(own.author.avatarUrl).toBe(
        options.publicUrl === undefined ? `${node.url}/api/v1/users/alice/avatar` : avatarUrl,
      )
      expect((await fetch(new URL('/api/v1/users/alice/avatar', node.url))).status).toBe(200)
      expect((await api.getSkill({ name: 'pdf' })).author.avatarUrl).toBe('/api/v1/users/alice/avatar')
    },
  )

  it('have a strong ETag, and are 304 if the client sends that ETag', async () => {
    const { get } = await startNode()
    for (const path of [
      '/skills',
      '/skills/pdf',
      '/skills/pdf/skill.md',
      '/skills/alice%2Fpdf/archive',
      '/categories',
    ]) {
      const first = await get(path)
      const etag = first.headers.get('etag')!
      expect(etag, path).toMatch(/^"[^"]+"$/)
      for (const tags of [etag, `W/${etag}`, `"a,b", ${etag}`, '*']) {
        const again = await get(path, { headers: { 'if-none-match': tags } })
        expect(again.status, `${path} ${tags}`).toBe(304)
        expect(again.headers.get('etag')).toBe(etag)
        expect(await again.text()).toBe('')
      }
      expect((await get(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    }
  })

  it('to HEAD requests have the headers of GET and no body', async () => {
    const { get } = await startNode()
    for (const path of ['/skills', '/skills/pdf', '/skills/pdf/skill.md', '/skills/nothing']) {
      const [full, head] = [await get(path), await get(path, { method: 'HEAD' })]
      expect(head.status).toBe(full.status)
      expect(await head.text()).toBe('')
      for (const name of ['content-type', 'etag', 'cache-control', 'vary']) {
        expect(head.headers.get(name), `${path} ${name}`).toBe(full.headers.get(name))
      }
      const length = Number(head.headers.get('content-length'))
      // A problem holds the id of its request, and both have one of their own length.
      expect(length).toBe((await full.arrayBuffer()).byteLength)
    }
  })

  it('must not be cached if the request has an API key', async () => {
    const { get, as } = await startNode()
    expect(await cacheOf(get('/skills/pdf'))).toBe('no-cache')
    expect(await cacheOf(as('/skills/pdf'))).toBe('private, no-store')
    expect(await cacheOf(as('/users/me'))).toBe('private, no-store')
    expect(await cacheOf(get('/feed'))).toBe('private, no-store')
    expect(await cacheOf(get('/skills/nothing'))).toBe('private, no-store')
    expect((await get('/skills')).headers.get('vary')).toBe('Authorization, Cookie')
  })

  it('with published files cannot run as scripts in a browser', async () => {
    const { get, api } = await startNode()
    const files = [
      { path: 'page.html', content: '<script>alert(1)</script>' },
      { path: "notes/ü 'x';.txt", content: 'text' },
      { path: 'logo.SVG', content: '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>' },
    ]
    await api.publishSkill({ skillMd: skillMd.replace('Reads them', 'Reads all'), files, version: '1.1.0' })
    const document = await get('/skills/pdf/skill.md')
    expect(document.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(document.headers.get('content-disposition')).not.toContain('attachment')
    for (const path of [
      'skill.md',
      'files/page.html',
      'archive',
      "files/notes/%C3%BC%20'x'%3B.txt",
      'files/logo.SVG',
    ]) {
      const { headers, status } = await get(`/skills/pdf/${path}`)
      expect(status, path).toBe(200)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
      const shown = /^text\/(plain|markdown)/.test(headers.get('content-type')!)
      expect(headers.get('content-disposition'), path).toMatch(shown ? /^inline/ : /^attachment/)
    }
  })

  it('with published pictures have an image type that `img` accepts; other files have no image type', async () => {
    const { get, api } = await startNode()
    const plain = 'application/octet-stream'
    const types = { 'a.svg': 'image/svg+xml', 'b.SVG': 'image/svg+xml', 'a.avif': 'image/avif', 'a.png': 'image/png' }
    const others = { 'a.svg.html': plain, 'a.svgz': plain, 'a.xml': plain, 'a.xhtml': plain }
    const all = Object.entries({ ...types, ...others })
    await api.publishSkill({ skillMd, files: all.map(([path]) => ({ path, content: '<svg/>' })), version: '1.1.0' })
    for (const [path, type] of all)
      expect([path, (await get(`/skills/pdf/files/${path}`)).headers.get('content-type')]).toEqual([path, type])
  })

  it('redirect the old name of a transferred skill to the new name, and keep the query', async () => {
    const { as, get, createUser } = await startNode()
    const bob = await createUser('bob')
    expect((await as('/skills/alice%2Fpdf/transfer', json({ newOwner: 'bob' }))).status).toBe(202)
    const accepted = await get('/skills/alice%2Fpdf/transfer/accept', {
      method: 'POST',
      headers: { authorization: `Bearer ${bob}` },
    })
    expect(accepted.status).toBe(200)
    const moved = await get('/skills/alice%2Fpdf/files/SKILL.md?version=1.0.0')
    expect(moved.status).toBe(308)
    expect(moved.headers.get('location')).toBe('/api/v1/skills/bob%2Fpdf/files/SKILL.md?version=1.0.0')
  })

  it('do not count as downloads for HEAD, 304 and update checks', async () => {
    const clock = createClock()
    const { get } = await startNode({}, undefined, { clock })
    const etag = (await get('/skills/pdf/skill.md', { method: 'HEAD' })).headers.get('etag')!
    expect((await get('/skills/pdf/skill.md', { headers: { 'if-none-match': etag } })).status).toBe(304)
    const checks = { 'x-skills-update-check': '1' }
    expect((await get('/skills/pdf/archive', { headers: checks })).status).toBe(200)
    expect((await get('/skills/pdf/archive', { method: 'HEAD' })).status).toBe(200)
    // A download counts once for an address, skill and day: those above would make it three.
    clock.advance(dayMs)
    await get('/skills/pdf/archive')
    clock.advance(dayMs)
    await get('/skills/pdf/skill.md', { headers: { 'if-none-match': '"what was"' } })
    const downloads = async () => (await (await get('/skills/pdf')).json()).downloads
    await expect.poll(downloads).toBeGreaterThanOrEqual(2)
    expect(await downloads()).toBe(2)
  })

  it('do not reveal the cause of an unexpected error', async () => {
    const { get } = await startNode({}, (registry) => ({
      ...registry,
      authenticate: () => Promise.reject(new Error('SELECT hash FROM keys at /srv/secret.ts')),
    }))
    const response = await get('/skills', { headers: { authorization: 'Bearer ssk_anything' } })
    expect(response.status).toBe(500)
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ code: 'internal' })
    expect(text).not.toMatch(/SELECT|secret|stack|ssk_|\.ts/)
  })

  it('that are streamed in many chunks arrive completely', async () => {
    const { get, api } = await startNode()
    const content = 'x'.repeat(2_000_000)
    const files = [{ path: 'big.txt', content }]
    const { skill } = await api.publishSkill({ skillMd, files, version: '2.0.0' })
    const digests = skill.files.map(({ digest }) => digest)
    const response = await get('/blobs/batch', json({ digests: [...digests, `sha256:${'0'.repeat(64)}`] }))
    expect(response.status).toBe(200)
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toHaveLength(3)
    expect(lines.some((line) => line.size === content.length)).toBe(true)
    expect(lines.some((line) => line.missing === true)).toBe(true)
  })
})
