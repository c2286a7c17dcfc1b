import type { NameResolver, OutgoingOptions } from '@skillstead/core'
import { createHttpClient } from '@skillstead/core/internal'
import { afterEach, beforeAll, afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createOutgoing } from '../../packages/core/src/http/outgoing.ts'
import { codeOf, refusalOf } from '../support/answers.ts'
import { openForwardProxy, type ForwardProxy } from '../support/forward-proxy.ts'
import { openOutside, openPlain, type Outside } from '../support/outside.ts'

const loopback = ['127.0.0.1']
let outside: Outside
let proxy: ForwardProxy
let closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  outside = await openOutside(['example.com', 'example.org'])
  outside.pages.set('example.com/page', 'Hello.').set('example.org/page', 'Other.')
})
afterAll(() => outside.close())
beforeEach(async () => {
  proxy = await openForwardProxy()
  outside.requests.length = 0
})
afterEach(async () => {
  for (const close of [...closing.toReversed(), proxy.close]) await close()
  closing = []
})

function open(options: OutgoingOptions = {}) {
  const settings = { proxy: { httpsProxy: proxy.url, httpProxy: proxy.url }, ...options }
  const outgoing = createOutgoing({
    allowNetworks: loopback,
    ca: [outside.ca],
    resolver: outside.resolver,
    ...settings,
  })
  closing.push(outgoing.close)
  return outgoing
}

function openOperator(settings: OutgoingOptions['proxy'] = { httpProxy: proxy.url }) {
  const client = createHttpClient({ ca: [outside.ca], proxy: settings })
  closing.push(client.close)
  return (url: string) =>
    client.send(new URL(url), { method: 'GET', headers: {} }, { bytesMax: 1000, timeoutMs: 10_000 })
}

const textOf = ({ bytes }: { bytes: Uint8Array }) => Buffer.from(bytes).toString()
const resolveTo = (...addresses: string[]): NameResolver => ({
  lookup: async () => addresses.map((address) => ({ address })),
  txt: async () => [],
})

describe('a request to a URL of a user, through a proxy', () => {
  it('asks for a tunnel to the checked address, and verifies the certificate of the host name', async () => {
    expect(textOf(await open().get('https://example.com/page', { bytesMax: 100 }))).toBe('Hello.')
    expect(proxy.requests).toEqual([expect.stringMatching(/^CONNECT 127\.0\.0\.1:\d+$/)])
    expect(outside.requests).toEqual(['GET example.com/page'])
    const resolver = { ...outside.resolver, lookup: () => outside.resolver.lookup('example.com') }
    const { message: detail } = await refusalOf(open({ resolver }).get('https://example.net/page', { bytesMax: 100 }))
    expect(detail).toContain('the certificate is for another host name')
  })

  it('uses the same tunnel for several POST requests', async () => {
    const outgoing = open()
    const post = () => outgoing.post('https://example.com/page', { headers: {}, body: '{}', timeoutMs: 10_000 })
    expect([await post(), await post()]).toEqual([200, 200])
    expect(proxy.requests).toHaveLength(1)
  })

  it('uses a tunnel even for plain HTTP, so that the proxy resolves no host name', async () => {
    const plain = await openPlain((_, response) => response.end('Plain.'))
    closing.push(plain.close)
    const resolver = { ...resolveTo(), lookup: async () => [{ address: '127.0.0.1', port: plain.port }] }
    expect(textOf(await open({ resolver }).get('http://example.com/a', { bytesMax: 100 }))).toBe('Plain.')
    expect(proxy.requests).toEqual([`CONNECT 127.0.0.1:${plain.port}`])
  })

  it.each([
    ['a name that resolves to a private address', 'https://example.com/', ['10.0.0.1']],
    ['a name with one private address of several', 'https://example.com/', ['8.8.8.8', '192.168.0.1']],
    ['a name that resolves to loopback', 'http://example.com/', ['127.0.0.1']],
    ['a literal address', 'https://169.254.169.254/latest', []],
    ['a literal address of IPv6', 'http://[::1]:8080/', []],
    ['an address in another notation', 'http://2130706433/', []],
    ['a local name', 'https://printer.local/', ['8.8.8.8']],
  ])('refuses %s without asking the proxy', async (_, url, addresses) => {
    const outgoing = open({ allowNetworks: [], resolver: resolveTo(...addresses) })
    expect(await codeOf(outgoing.get(url, { bytesMax: 100 }))).toBe('invalid_request')
    expect(proxy.requests).toEqual([])
  })

  it('fails for a host name that only the proxy could resolve', async () => {
    const { code, message: detail } = await refusalOf(open().get('https://unknown.example/', { bytesMax: 100 }))
    expect([code, detail]).toEqual(['upstream_failed', expect.stringContaining('the host name does not exist')])
    expect(proxy.requests).toEqual([])
  })

  it.each([
    ['example.com', []],
    ['*', []],
    ['.example.com, other', []],
    ['example.org', [expect.stringContaining('CONNECT')]],
    ['', [expect.stringContaining('CONNECT')]],
  ])('reaches the hosts of NO_PROXY directly, with the same checks: %j', async (noProxy, asked) => {
    const settings = { httpsProxy: proxy.url, noProxy }
    await open({ proxy: settings }).get('https://example.com/page', { bytesMax: 100 })
    expect(proxy.requests).toEqual(asked)
    const guarded = open({ proxy: settings, allowNetworks: [] })
    expect(await codeOf(guarded.get('https://example.com/page', { bytesMax: 100 }))).toBe('invalid_request')
  })

  it.each([
    [407, 'the proxy asks for a user name and a password'],
    [403, 'the proxy refused the connection with status 403'],
    [302, 'the proxy refused the connection with status 302'],
    [502, 'the proxy refused the connection with status 502'],
  ])('fails with an error that has the proxy’s status, but not its page: %i', async (status, reason) => {
    proxy.refusal = { status, page: '<html>Sign in at the intranet</html>' }
    const { code, message: detail } = await refusalOf(open().get('https://example.com/page', { bytesMax: 100 }))
    expect([code, detail]).toEqual(['upstream_failed', `The request to https://example.com failed: ${reason}.`])
    const webhook = open().post('https://example.com/page', { headers: {}, body: '{}', timeoutMs: 10_000 })
    expect(await refusalOf(webhook)).toMatchObject({
      code: 'upstream_failed',
      message: expect.stringContaining(reason),
    })
  })

  it('fails if the proxy answers the tunnel request with a page, closes the connection or does not run', async () => {
    proxy.refusal = { status: 200, page: '<html>Sign in</html>' }
    const page = await refusalOf(open().get('https://example.com/page', { bytesMax: 100 }))
    expect(page.message).toMatch(/the TLS handshake failed|closed the connection/)
    const { url } = proxy
    await proxy.close()
    const stopped = await refusalOf(open({ proxy: { httpsProxy: url } }).get('https://example.com/', { bytesMax: 100 }))
    expect(stopped.message).toContain('the proxy could not be reached')
  })
})

describe('a request to a server of the operator, through a proxy', () => {
  it('leaves the host name to the proxy, and signs in with the user name and password of the proxy URL', async () => {
    const plain = await openPlain((_, response) => response.end('Plain.'))
    closing.push(plain.close)
    const through = await openForwardProxy(plain.port)
    closing.push(through.close)
    const httpProxy = through.url.replace('//', '//anna:s%40cret@')
    expect(textOf(await openOperator({ httpProxy })('http://embeddings.test/v1'))).toBe('Plain.')
    expect(through.requests).toEqual(['GET http://embeddings.test/v1'])
    expect(through.authorization).toBe(`Basic ${btoa('anna:s@cret')}`)
  })

  it('uses the HTTP proxy for an https URL if no HTTPS proxy is set', async () => {
    const { port } = (await outside.resolver.lookup('example.com'))[0]!
    const through = await openForwardProxy(port)
    closing.push(through.close)
    expect(textOf(await openOperator({ httpProxy: through.url })('https://example.com/page'))).toBe('Hello.')
    expect(through.requests).toEqual(['CONNECT example.com:443'])
  })

  it.each(['http', 'https'])('fails with advice if the proxy asks for a password, over %s', async (scheme) => {
    proxy.refusal = { status: 407, page: '<html>Sign in</html>' }
    const { message: detail } = await refusalOf(openOperator()(`${scheme}://example.com/`))
    expect(detail).toContain('asks for a user name and a password. Write them into its URL: http://USER:PASSWORD@HOST')
  })
})

it.each(['proxy:3128', 'socks5://127.0.0.1:1080', 'ftp://proxy', 'http://', 'nonsense'])(
  'an invalid proxy URL is refused, and the error does not contain the URL: %s',
  (httpProxy) => {
    expect(() => createOutgoing({ proxy: { httpProxy } })).toThrow(
      new TypeError('The URL of a proxy must have the form http://HOST:PORT.'),
    )
  },
)

it('the package @skillstead/core ignores the environment variable https_proxy', async () => {
  process.env['https_proxy'] = proxy.url
  closing.push(async () => void delete process.env['https_proxy'])
  await open({ proxy: {} }).get('https://example.com/page', { bytesMax: 100 })
  await open({ proxy: { httpProxy: proxy.url, noProxy: 'example.com' } }).get('https://example.com/page', {
    bytesMax: 100,
  })
  expect(proxy.requests).toEqual([])
})
