import { RegistryError } from '@skillstead/protocol'
import { describe, expect, it } from 'vitest'
import { createBreaker } from '../../packages/mirror/src/breaker.ts'
import { UpstreamFetch, type UpstreamFetchOptions } from '../../packages/mirror/src/upstream-fetch.ts'
import { createClock } from '../support/harness.ts'
import { openStandIn, send, sendPage } from '../support/stand-in.ts'

function open(more: Partial<UpstreamFetchOptions> = {}) {
  const clock = createClock()
  const pauses: number[] = []
  const sleep = async (ms: number) => {
    pauses.push(ms)
    clock.advance(ms)
  }
  return { clock, pauses, http: new UpstreamFetch({ mode: 'online', clock, sleep, ...more }) }
}

/** The first answers in their order, then the last one for ever. */
function inTurn(...answers: ReturnType<typeof send>[]): ReturnType<typeof send> {
  let next = 0
  return (request, response) => answers[Math.min(next++, answers.length - 1)]!(request, response)
}

describe('the HTTP client of an upstream', () => {
  it('returns complete responses, and counts them', async () => {
    const server = await openStandIn(send({ a: 1 }))
    const { http } = open()
    const response = await http.fetch(`${server.url}/x`)
    expect([response.status, response.url, await response.json()]).toEqual([200, `${server.url}/x`, { a: 1 }])
    expect([http.requests, http.bytes]).toEqual([1, 7])
    await http.close()
  })

  it('opens no socket in offline mode', async () => {
    const server = await openStandIn()
    const { http } = open({ mode: 'offline' })
    await expect(http.fetch(server.url)).rejects.toMatchObject({ code: 'offline' })
    expect([http.requests, server.requests.length]).toEqual([0, 0])
  })

  it('retries temporary failures, and returns the last response if they persist', async () => {
    const server = await openStandIn(inTurn(send('', { status: 503 }), send('', { status: 502 }), send({ ok: true })))
    const { http } = open()
    expect((await http.fetch(server.url)).status).toBe(200)
    expect(http.requests).toBe(3)
    server.answer = send({ code: 'overloaded' }, { status: 503 })
    const last = await open({ retries: 1 }).http.fetch(server.url)
    expect([last.status, await last.json()]).toEqual([503, { code: 'overloaded' }])
  })

  it('does not retry permanent errors or writes', async () => {
    const server = await openStandIn(send({}, { status: 404 }))
    const { http } = open()
    expect((await http.fetch(server.url)).status).toBe(404)
    server.answer = send({}, { status: 503 })
    expect((await http.fetch(server.url, { method: 'POST', body: '{}' })).status).toBe(503)
    expect(http.requests).toBe(2)
  })

  it('waits as long as Retry-After states, in seconds or as a date', async () => {
    const server = await openStandIn(inTurn(send({}, { status: 429, headers: { 'retry-after': '40' } }), send({})))
    const { http, pauses, clock } = open()
    const began = clock.now()
    expect((await http.fetch(server.url)).status).toBe(200)
    expect(pauses.length).toBe(1)
    expect(pauses[0]).toBeGreaterThan(38_000)
    const dates = { date: new Date(0).toUTCString(), 'retry-after': new Date(90_000).toUTCString() }
    server.answer = inTurn(send({}, { status: 503, headers: dates }), send({}))
    await http.fetch(server.url)
    expect(clock.now() - began).toBeGreaterThan(120_000)
    expect(clock.now() - began).toBeLessThan(131_000)
  })

  it('does not wait for hours, and does not wait at all while a caller waits', async () => {
    const server = await openStandIn(send({}, { status: 429, headers: { 'retry-after': '5' } }))
    const impatient = open({ pauseMsMax: 0 })
    await expect(impatient.http.fetch(server.url)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 5 })
    server.answer = send({}, { status: 429, headers: { 'retry-after': '99999' } })
    const { http, pauses } = open()
    await expect(http.fetch(server.url)).rejects.toMatchObject({ code: 'rate_limited' })
    expect(pauses).toEqual([])
  })

  it.each([
    ['seconds since 1970', (now: number) => ({ 'x-ratelimit-reset': `${now / 1000 + 30}` })],
    ['milliseconds since 1970', (now: number) => ({ 'x-ratelimit-reset': `${now + 30_000}` })],
    ['seconds from now', () => ({ 'x-ratelimit-reset': '30' })],
    ['a timestamp', (now: number) => ({ 'x-ratelimit-reset': new Date(now + 30_000).toISOString() })],
    ['the draft', () => ({ ratelimit: '"a";r=0;t=30' })],
  ])('waits before the rate limit is used up, with its reset given as %s', async (_, toHeaders) => {
    const { http, pauses, clock } = open()
    const headers = {
      'x-ratelimit-remaining': '0',
      date: new Date(clock.now()).toUTCString(),
      ...toHeaders(clock.now()),
    }
    const server = await openStandIn(send({}, { headers }))
    await http.fetch(server.url)
    expect(pauses).toEqual([])
    expect(http.estimateSeconds(1)).toBeGreaterThanOrEqual(30)
    await http.fetch(server.url)
    expect(pauses).toEqual([30_000])
  })

  it('counts the rate limit of each API key separately', async () => {
    const server = await openStandIn(send({}, { headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' } }))
    const { http, pauses } = open()
    await http.fetch(server.url)
    await http.fetch(server.url, { headers: { authorization: 'Bearer k' } })
    expect(pauses).toEqual([])
  })

  it('follows redirects only to the same origin', async () => {
    const server = await openStandIn((request, response) => {
      if (request.url === '/old') return void response.writeHead(302, { location: '/new' }).end()
      if (request.url === '/away') return void response.writeHead(302, { location: 'http://localhost:1/x' }).end()
      if (request.url === '/loop') return void response.writeHead(302, { location: '/loop' }).end()
      return send({ at: request.url })(request, response)
    })
    const { http } = open()
    expect(await (await http.fetch(`${server.url}/old`)).json()).toEqual({ at: '/new' })
    await expect(http.fetch(`${server.url}/away`)).rejects.toMatchObject({ code: 'upstream_failed' })
    await expect(http.fetch(`${server.url}/loop`)).rejects.toMatchObject({ code: 'upstream_failed' })
  })

  it('never sends an API key to another scheme, host or port after a redirect', async () => {
    const sent: [string, string | null][] = []
    const inner: typeof fetch = async (input, init) => {
      const url = new URL(String(input))
      sent.push([url.origin, new Headers(init?.headers).get('authorization')])
      return url.href === 'http://reg.example:8080/a'
        ? new Response(null, { status: 302, headers: { location: place } })
        : Response.json({})
    }
    const { http } = open({ fetch: inner })
    const headers = { authorization: 'Bearer secret' }
    let place = '/b'
    await http.fetch('http://reg.example:8080/a', { headers })
    expect(sent).toEqual([
      ['http://reg.example:8080', 'Bearer secret'],
      ['http://reg.example:8080', 'Bearer secret'],
    ])
    for (place of ['https://reg.example/a', 'https://reg.example:8080/a', 'http://reg.example:81/a']) {
      sent.length = 0
      await expect(http.fetch('http://reg.example:8080/a', { headers })).rejects.toMatchObject({
        code: 'upstream_failed',
      })
      expect(sent).toEqual([['http://reg.example:8080', 'Bearer secret']])
    }
    place = 'https://reg.example/a'
    sent.length = 0
    await http.fetch('http://reg.example:8080/a')
    expect(sent).toEqual([
      ['http://reg.example:8080', null],
      ['https://reg.example', null],
    ])
  })

  it('rejects responses that are too large, compressed or not, without a retry', async () => {
    const { gzipSync } = await import('node:zlib')
    const server = await openStandIn((_, response) => response.end(Buffer.alloc(2048)))
    const { http } = open({ bytesMax: 1024 })
    await expect(http.fetch(server.url)).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(http.requests).toBe(1)
    const bomb = gzipSync(Buffer.alloc(8_000_000))
    server.answer = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    await expect(http.within(1_000_000)(server.url)).rejects.toMatchObject({ code: 'upstream_failed' })
  })

  it('retries a request if its response ends early, and aborts the request if the response stalls', async () => {
    const server = await openStandIn(
      inTurn(
        (_, response) => {
          response.writeHead(200, { 'content-length': '100' }).write('half')
          setTimeout(() => response.destroy(), 20)
        },
        send({ whole: true }),
      ),
    )
    const { http } = open()
    expect(await (await http.fetch(server.url)).json()).toEqual({ whole: true })
    server.answer = (_, response) => void response.writeHead(200).write('never more')
    const slow = open({ timeoutMs: 50, retries: 0 })
    await expect(slow.http.fetch(server.url)).rejects.toMatchObject({ code: 'upstream_timeout' })
    await server.close()
    await expect(open({ retries: 0 }).http.fetch(server.url)).rejects.toMatchObject({ code: 'upstream_failed' })
  })

  it('aborts a request on the abort signal of the client or of the request', async () => {
    const server = await openStandIn(() => undefined)
    const owner = new AbortController()
    const { http } = open({ signal: owner.signal })
    const call = new AbortController()
    const first = http.fetch(server.url, { signal: call.signal })
    const second = http.fetch(server.url)
    await expect.poll(() => server.requests.length).toBe(2)
    call.abort(new Error('enough'))
    await expect(first).rejects.toThrow('enough')
    owner.abort(new Error('closing'))
    await expect(second).rejects.toThrow('closing')
  })

  it('returns web pages without interpreting their content', async () => {
    const server = await openStandIn(sendPage)
    expect((await open().http.fetch(server.url)).headers.get('content-type')).toContain('text/html')
  })
})

const failed = () => Promise.reject(new RegistryError('upstream_failed', 'No answer.'))
const gone = () => Promise.reject(new RegistryError('not_found', 'Nothing here.'))
const aborted = () => Promise.reject(new DOMException('Ended.', 'AbortError'))

describe('a circuit breaker', () => {
  it('blocks an upstream for 30 s after three failures, then lets one caller try', async () => {
    const clock = createClock()
    const breaker = createBreaker({ name: 'main', clock })
    for (let i = 0; i < 3; i++) await expect(breaker.run(failed)).rejects.toThrow('No answer.')
    expect(breaker.isOpen).toBe(true)
    const refusal = { code: 'upstream_failed', retryAfterSeconds: 30 }
    await expect(breaker.run(async () => 'asked')).rejects.toMatchObject(refusal)
    clock.advance(30_000)
    const trial = Promise.withResolvers<string>()
    const first = breaker.run(() => trial.promise)
    await expect(breaker.run(async () => 'asked')).rejects.toMatchObject({ code: 'upstream_failed' })
    trial.resolve('there')
    expect(await first).toBe('there')
    expect(await breaker.run(async () => 'asked')).toBe('asked')
  })

  it('does not count error responses and aborted requests as failures', async () => {
    const breaker = createBreaker({ name: 'main', clock: createClock() })
    for (let i = 0; i < 5; i++) await expect(breaker.run(gone)).rejects.toThrow('Nothing here.')
    expect(breaker.isOpen).toBe(false)
    for (let i = 0; i < 5; i++) await expect(breaker.run(aborted)).rejects.toThrow('Ended.')
    expect(breaker.isOpen).toBe(false)
  })

  it('does not block longer if the clock is set back', async () => {
    const clock = createClock()
    const breaker = createBreaker({ name: 'main', clock })
    for (let i = 0; i < 3; i++) await expect(breaker.run(failed)).rejects.toThrow('No answer.')
    clock.advance(-3_600_000)
    await expect(breaker.run(failed)).rejects.toMatchObject({ retryAfterSeconds: 30 })
    clock.advance(30_000)
    expect(await breaker.run(async () => 'there')).toBe('there')
  })
})
