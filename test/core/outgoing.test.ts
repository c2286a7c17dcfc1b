import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import type { NameResolver, OutgoingOptions } from '@skillstead/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOutgoing } from '../../packages/core/src/http/outgoing.ts'
import { codeOf, refusalOf } from '../support/answers.ts'
import { openOutside, openPlain, type Outside } from '../support/outside.ts'

const loopback = { allowNetworks: ['127.0.0.1'] }
const nowhere: NameResolver = {
  lookup: () => Promise.reject(Object.assign(new Error('nothing'), { code: 'ENOTFOUND' })),
  txt: () => Promise.reject(Object.assign(new Error('nothing'), { code: 'ENOTFOUND' })),
}

describe('an outgoing request', () => {
  let outside: Outside
  const closing: (() => Promise<void>)[] = []
  const open = (options: OutgoingOptions = {}) => {
    const outgoing = createOutgoing({ ...loopback, ca: [outside.ca], resolver: outside.resolver, ...options })
    closing.push(outgoing.close)
    return outgoing
  }
  const plain = async (...args: Parameters<typeof openPlain>) => {
    const server = await openPlain(...args)
    closing.push(server.close)
    return server
  }
  const get = (address: string, bytesMax = 1000) => open().get(address, { bytesMax })

  beforeAll(async () => {
    outside = await openOutside(['example.com', 'example.org'])
    closing.push(outside.close)
    outside.pages
      .set('example.com/page', 'Hello.')
      .set('example.com/moved', (_, response) => response.writeHead(301, { location: '/page' }).end('Look elsewhere.'))
      .set('example.com/teapot', (_, response) => response.writeHead(418, { 'content-type': 'x/y' }).end('Short.'))
      .set('other.example.com/page', 'Elsewhere.')
  })
  afterAll(async () => {
    for (const close of closing.toReversed()) await close()
  })

  it('returns the status, content type, bytes and final URL of the response', async () => {
    const answer = await get('https://example.com/page#c')
    expect({ ...answer, bytes: Buffer.from(answer.bytes).toString() }).toEqual({
      status: 200,
      url: 'https://example.com/page#c',
      contentType: 'text/plain',
      bytes: 'Hello.',
    })
    expect(await get('https://example.com/teapot')).toMatchObject({ status: 418, contentType: 'x/y' })
  })

  it('sends no keys, no cookies and no data about the node', async () => {
    let seen = {}
    outside.pages.set('example.com/headers', (request, response) => {
      seen = request.headers
      response.end()
    })
    await get('https://example.com/headers')
    expect(seen).toEqual({
      host: 'example.com',
      connection: 'close',
      'user-agent': 'skillstead',
      accept: '*/*',
      'accept-encoding': 'identity',
    })
  })

  it('resolves the host only once, and connects to the address that was checked', async () => {
    const inner = await plain((_, response) => response.end('a secret'))
    const outer = await plain((_, response) => response.end('public'), '127.0.0.2')
    let lookups = 0
    const rebinding: NameResolver = {
      ...nowhere,
      lookup: async () => (lookups++ === 0 ? [{ address: '127.0.0.2', port: outer.port }] : [{ address: '127.0.0.1' }]),
    }
    const outgoing = open({ allowNetworks: ['127.0.0.2'], resolver: rebinding })
    const { bytes } = await outgoing.get(`http://example.com:${inner.port}/`, { bytesMax: 100 })
    expect({ lookups, got: Buffer.from(bytes).toString(), inner: inner.requests }).toEqual({
      lookups: 1,
      got: 'public',
      inner: [],
    })
    expect(await codeOf(outgoing.get(`http://example.com:${inner.port}/`, { bytesMax: 100 }))).toBe('invalid_request')
    expect(inner.requests).toEqual([])
  })

  it('checks the address again after a redirect', async () => {
    const inner = await plain((_, response) => response.end('a secret'))
    const server = await plain((_, response) => response.writeHead(302, { location: '/again' }).end(), '127.0.0.2')
    const answers = [
      { address: '127.0.0.2', port: server.port },
      { address: '127.0.0.1', port: inner.port },
    ]
    const resolver: NameResolver = { ...nowhere, lookup: async () => [answers.shift()!] }
    const outgoing = open({ allowNetworks: ['127.0.0.2'], resolver })
    expect(await codeOf(outgoing.get('http://example.com/', { bytesMax: 100 }))).toBe('invalid_request')
    expect({ server: server.requests, inner: inner.requests }).toEqual({ server: ['GET /'], inner: [] })
  })

  it('follows up to three redirects on the same host', async () => {
    expect(await get('https://example.com/moved')).toMatchObject({ status: 200, url: 'https://example.com/page' })
    for (const n of [1, 2, 3, 4]) {
      const location = n === 1 ? '/page' : `https://example.com/hop${n - 1}`
      outside.pages.set(`example.com/hop${n}`, (_, response) => response.writeHead(307, { location }).end())
    }
    expect(await get('https://example.com/hop3')).toMatchObject({ status: 200 })
    expect(await codeOf(get('https://example.com/hop4'))).toBe('upstream_failed')
  })

  it.each(
    [
      ['http://127.0.0.1/', 'https://127.0.0.1/', 'https://other.example.com/page', 'http://example.com/page', ''],
      ['file:///etc/passwd', '//other.example.com/page', 'https://[', 'https://example.com.other.example.com/page'],
    ].flat(),
  )('follows no redirect to another place: %s', async (location) => {
    outside.pages.set('example.com/away', (_, response) => response.writeHead(302, { location }).end())
    const before = outside.requests.length
    const refusal = await refusalOf(get('https://example.com/away'))
    expect(refusal.code).toBe('upstream_failed')
    expect(outside.requests.slice(before).some((request) => !request.startsWith('GET example.com/away'))).toBe(false)
  })

  it('does not follow a redirect to a URL that contains credentials', async () => {
    const location = 'https://user:pass@example.com/page'
    outside.pages.set('example.com/login', (_, response) => response.writeHead(302, { location }).end())
    expect(await codeOf(get('https://example.com/login'))).toBe('invalid_request')
  })

  it('refuses a response before reading its body if the declared length is too large', async () => {
    let isRead = false
    outside.pages.set('example.com/huge', (_, response) => {
      response.writeHead(200, { 'content-length': 1e12 }).flushHeaders()
      response.on('close', () => (isRead = true))
    })
    const refusal = await refusalOf(get('https://example.com/huge'))
    expect(refusal).toMatchObject({ code: 'upstream_failed', message: expect.stringContaining('1000 bytes') })
    await expect.poll(() => isRead).toBe(true)
  })

  it('stops reading a response body that does not end', async () => {
    let sent = 0
    let isOver = false
    outside.pages.set('example.com/endless', (_, response) => {
      response.on('close', () => (isOver = true))
      const more = () => {
        while (!isOver && response.write(Buffer.alloc(1024, 'x'))) sent += 1024
        if (!isOver) response.once('drain', more)
      }
      more()
    })
    expect(await codeOf(get('https://example.com/endless', 10_000))).toBe('upstream_failed')
    await expect.poll(() => isOver).toBe(true)
    expect(sent).toBeLessThan(100 * 1024 * 1024)
  })

  it('accepts a response body of exactly the allowed size', async () => {
    outside.pages.set('example.com/exact', 'x'.repeat(1000)).set('example.com/above', 'x'.repeat(1001))
    expect((await get('https://example.com/exact')).bytes.length).toBe(1000)
    expect(await codeOf(get('https://example.com/above'))).toBe('upstream_failed')
  })

  it('does not decompress the response body', async () => {
    const body = gzipSync(Buffer.alloc(1024 * 1024))
    outside.pages.set('example.com/bomb', (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
    )
    expect(await codeOf(get('https://example.com/bomb', 10_000))).toBe('upstream_failed')
  })

  it.each(['before the headers', 'in the body'])('times out if a response sends %s too slowly', async (where) => {
    outside.pages.set('example.com/slow', (_, response) => {
      if (where === 'in the body') response.writeHead(200)
      const timer = setInterval(() => (where === 'in the body' ? response.write('x') : response.writeProcessing()), 20)
      response.on('close', () => clearInterval(timer))
    })
    const call = open().get('https://example.com/slow', { bytesMax: 1000, timeoutMs: 200 })
    expect(await codeOf(call)).toBe('upstream_timeout')
  })

  it('times out if the name server does not respond', async () => {
    const silent = { lookup: () => new Promise<never>(() => {}), txt: () => new Promise<never>(() => {}) }
    const call = open({ resolver: silent }).get('https://example.com/', { bytesMax: 1000, timeoutMs: 50 })
    expect(await codeOf(call)).toBe('upstream_timeout')
  })

  it('trusts the certificates of the system and the configured certificates', async () => {
    const stranger = await refusalOf(open({ ca: [] }).get('https://example.com/page', { bytesMax: 1000 }))
    expect(stranger.code).toBe('upstream_failed')
    expect(stranger.message).toContain('certificate')
    expect(await get('https://example.com/page')).toMatchObject({ status: 200 })
  })

  it('trusts the extra certificates of the process in addition to the configured certificates', async () => {
    const own = getCACertificates('default')
    setDefaultCACertificates([...own, outside.ca])
    try {
      const call = open({ ca: [own[0]!] }).get('https://example.com/page', { bytesMax: 1000 })
      expect(await call).toMatchObject({ status: 200 })
    } finally {
      setDefaultCACertificates(own)
    }
  })

  it('refuses a certificate of another host', async () => {
    outside.names.add('example.net')
    const refusal = await refusalOf(get('https://example.net/'))
    expect(refusal).toMatchObject({ code: 'upstream_failed', message: expect.stringContaining('certificate') })
  })

  it('reports only that a host is unknown, closes the connection or is unreachable', async () => {
    const closed =
      'The request to https://example.com failed: the host closed the connection before the response was complete.'
    expect((await refusalOf(get('https://missing.example.org/'))).message).toContain('the host name does not exist')
    outside.unreachable = true
    const refusal = await refusalOf(get('https://example.com/page'))
    outside.unreachable = false
    expect(refusal).toMatchObject({ code: 'upstream_failed', message: closed })
    const server = await openPlain(() => {})
    await server.close()
    expect(await codeOf(get(`http://127.0.0.1:${server.port}/`))).toBe('upstream_failed')
  })

  it('fails if a response is not HTTP or its headers are too long', async () => {
    const server = await plain((request) => void request.socket.end('SSH-2.0-secret banner\r\n'))
    const refusal = await refusalOf(get(`http://127.0.0.1:${server.port}/`))
    expect(refusal.code).toBe('upstream_failed')
    expect(refusal.message).not.toContain('secret')
    outside.pages.set('example.com/headed', (_, response) =>
      response.writeHead(200, { 'x-long': 'x'.repeat(32 * 1024) }).end(),
    )
    expect(await codeOf(get('https://example.com/headed'))).toBe('upstream_failed')
  })

  it('reads complete DNS TXT records, and returns an empty list for an unknown name', async () => {
    outside.txt.set('example.com', [['one ', 'record'], ['another']])
    expect((await open().readTxt('example.com')).toSorted()).toEqual(['another', 'one record'])
    expect(await open().readTxt('missing.example.org')).toEqual([])
    expect(await open().readTxt('other.example.com')).toEqual([])
  })

  it('ends when the registry closes', async () => {
    const hung = Promise.withResolvers<void>()
    outside.pages.set('example.com/hung', () => hung.resolve())
    const outgoing = open()
    const refused = codeOf(outgoing.get('https://example.com/hung', { bytesMax: 1000 }))
    await hung.promise
    await outgoing.close()
    expect(await refused).toBe('shutting_down')
    expect(await codeOf(outgoing.get('https://example.com/page', { bytesMax: 1000 }))).toBe('shutting_down')
  })
})
