import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { StaticFiles } from '@skillstead/server'
import { describe, expect, it } from 'vitest'
import { startNode } from '../support/server-harness.ts'

const script = '<script type="module" src="/assets/app-1a2b.js"></script>'
const page = `<!doctype html><title>Skillstead</title>${script}`
const program = `console.log('${'long '.repeat(200)}')`
const files: StaticFiles = new Map([
  ['index.html', () => Buffer.from(page)],
  ['assets/app-1a2b.js', () => Buffer.from(program)],
  ['licenses.md', () => Buffer.from('MIT')],
  ['secret.txt', () => Buffer.from('not below assets')],
])

/** The answer as it stands on the wire: `fetch` undoes its coding. */
function ask(url: string, accepted?: string): Promise<{ coding: string | undefined; bytes: Buffer; etag: string }> {
  return new Promise((resolve, reject) => {
    request(url, { headers: accepted === undefined ? {} : { 'accept-encoding': accepted } }, (response) => {
      const { 'content-encoding': coding, etag = '' } = response.headers
      buffer(response).then((bytes) => resolve({ coding, bytes, etag }), reject)
    })
      .on('error', reject)
      .end()
  })
}

describe('the dashboard as served by a node', () => {
  it.each(
    `/ /skills/alice/pdf /skills/alice/pdf/security /packs /trending /agents /users/alice /requests
    /external /takedowns /account /account/webhooks/1 /admin /admin/mirrors/office`.split(/\s+/),
  )('is shown at %s, with a content security policy that allows only its own scripts', async (path) => {
    const { node } = await startNode({ dashboard: files })
    const response = await fetch(node.url + path)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain(script)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    const policy = response.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).not.toMatch(/unsafe|https?:|data:|\*/)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('counts a page as one request of the client IP address, and each asset of the page as a download', async () => {
    const { node } = await startNode({ dashboard: files, rates: { anonymous: 2, files: 2 } })
    const statuses = async (path: string) => {
      const answers = [await fetch(node.url + path), await fetch(node.url + path), await fetch(node.url + path)]
      expect(answers[2]!.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      return answers.map(({ status }) => status)
    }
    expect(await statuses('/packs')).toEqual([200, 200, 429])
    expect(await statuses('/assets/app-1a2b.js')).toEqual([200, 200, 429])
  })

  it('serves only its assets, which browsers may cache for a year', async () => {
    const { node } = await startNode({ dashboard: files })
    const response = await fetch(`${node.url}/assets/app-1a2b.js`)
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect((await fetch(`${node.url}/assets/app-ffff.js`)).status).toBe(404)
    for (const path of ['/secret.txt', '/assets/..%2Fsecret.txt', '/assets/%2e%2e/secret.txt', '/index.html']) {
      expect([path, (await fetch(node.url + path)).status]).toEqual([path, 404])
    }
    const refused = await fetch(`${node.url}/packs`, { method: 'POST' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  it('is compressed with the best coding that the client accepts, with one ETag per coding', async () => {
    const { node } = await startNode({ dashboard: files })
    const address = `${node.url}/assets/app-1a2b.js`
    const [plain, zipped, best] = [
      await ask(address),
      await ask(address, 'gzip'),
      await ask(address, 'gzip, deflate, br'),
    ]
    expect([plain.coding, zipped.coding, best.coding]).toEqual([undefined, 'gzip', 'br'])
    expect(plain.bytes.toString()).toBe(program)
    expect(gunzipSync(zipped.bytes).toString()).toBe(program)
    expect(brotliDecompressSync(best.bytes).toString()).toBe(program)
    expect(new Set([plain.etag, zipped.etag, best.etag]).size).toBe(3)
    expect((await ask(address, 'br;q=0, gzip')).coding).toBe('gzip')
    const again = await fetch(address, { headers: { 'if-none-match': best.etag, 'accept-encoding': 'br' } })
    expect(again.status).toBe(304)
  })

  it('shows its sign-in page on a private node, but no content of the registry', async () => {
    const { node } = await startNode({ dashboard: files, requireKey: true })
    expect((await fetch(`${node.url}/account/sign-in`)).status).toBe(200)
    expect((await fetch(`${node.url}/api/v1/skills`)).status).toBe(401)
  })

  it('ignores credentials in a request for a page, because they may be for a proxy in front of the node', async () => {
    const { node } = await startNode({ dashboard: files, requireKey: true, rates: { anonymous: 4 } })
    const credentials: Record<string, string>[] = [
      { authorization: 'Basic cHJveHk6c2VjcmV0' },
      { authorization: 'Bearer ssk_none' },
      { cookie: 'skillstead-session=sss_none', 'x-skillstead-session': '1' },
    ]
    for (const headers of credentials) expect((await fetch(`${node.url}/packs`, { headers })).status).toBe(200)
    const last = await fetch(`${node.url}/packs`)
    expect(last.headers.get('x-ratelimit-remaining'), 'all are requests of the address').toBe('0')
  })

  it('reports an unknown path to browsers as a page, and to programs as a problem document', async () => {
    const { node } = await startNode({ dashboard: files })
    const shown = await fetch(`${node.url}/nowhere/at/all`, { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect(shown.status).toBe(404)
    expect(await shown.text()).toContain(script)
    expect(shown.headers.get('content-security-policy')).toContain("script-src 'self'")
    const told = await fetch(`${node.url}/nowhere/at/all`)
    expect([told.status, told.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    const api = await fetch(`${node.url}/api/v1/nowhere`, { headers: { accept: 'text/html' } })
    expect(api.headers.get('content-type')).toBe('application/problem+json')
  })

  it('is replaced by a plain welcome page if it was not built', async () => {
    const { node } = await startNode()
    const welcome = await (await fetch(node.url)).text()
    expect(welcome).toContain('A registry for agent skills')
    expect(welcome, 'how to get the dashboard').toContain('<code>npx --yes pnpm@12 build</code>')
    expect((await fetch(`${node.url}/packs`)).status).toBe(404)
  })
})
