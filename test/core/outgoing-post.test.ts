import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { NameResolver, OutgoingOptions } from '@skillstead/core'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOutgoing } from '../../packages/core/src/http/outgoing.ts'
import { codeOf, refusalOf } from '../support/answers.ts'
import { openOutside, openPlain, type Outside } from '../support/outside.ts'

const url = 'https://example.com/hook'
const sent = { headers: { 'x-a': 'b' }, body: 'Hello.', timeoutMs: 10_000 }
/** For hosts that never respond; long enough for a busy machine to reach them. */
const soon = { ...sent, timeoutMs: 2000 }

const failure = (host: string, reason: string) => `The request to https://${host} failed: ${reason}.`
const raw = (text: string) => (socket: Socket) => void socket.write(text)

/** A self-signed certificate. */
function make(notBeforeDate: Date, notAfterDate: Date) {
  return generate([{ name: 'commonName', value: 'old.example.com' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate,
    notAfterDate,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'old.example.com' }] }],
  })
}

describe('an outgoing POST', () => {
  let outside: Outside
  const closing: (() => Promise<unknown>)[] = []
  /** The ports of names that are not simulated hosts. */
  const ports = new Map<string, number>()
  beforeAll(async () => {
    outside = await openOutside(['example.com'])
    closing.push(outside.close)
    outside.names.add('example.com').add('example.net')
  })
  afterAll(async () => {
    for (const close of closing.toReversed()) await close()
  })

  const lookup = async (host: string) =>
    ports.has(host) ? [{ address: '127.0.0.1', port: ports.get(host)! }] : outside.resolver.lookup(host)
  const open = (options: OutgoingOptions = {}) => {
    const resolver: NameResolver = { ...outside.resolver, lookup }
    const outgoing = createOutgoing({ allowNetworks: ['127.0.0.1'], ca: [outside.ca], resolver, ...options })
    closing.push(outgoing.close)
    return outgoing
  }
  const answer = (respond: (response: ServerResponse, request: IncomingMessage) => void) =>
    outside.pages.set('example.com/hook', (request, response) => respond(response, request))
  const namesAsked = () => outside.questions.filter((question) => question === 'A example.com').length

  /** Makes a host resolve to any kind of server. */
  async function serve(host: string, server: Server): Promise<Socket[]> {
    const sockets: Socket[] = []
    server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => {})))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ports.set(host, (server.address() as AddressInfo).port)
    closing.push(async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    })
    return sockets
  }

  it('sends its body and headers, and returns any HTTP status', async () => {
    const outgoing = open()
    let seen: unknown
    for (const status of [200, 204, 299, 301, 304, 404, 500, 599]) {
      answer(async (response, request) => {
        const { method, headers, httpVersion } = request
        seen = { method, httpVersion, a: headers['x-a'], body: (await buffer(request)).toString() }
        response.writeHead(status, { location: 'https://example.com/elsewhere' }).end()
      })
      expect(await outgoing.post(url, sent)).toBe(status)
      expect(seen).toEqual({ method: 'POST', httpVersion: '1.1', a: 'b', body: 'Hello.' })
    }
    expect(outside.requests).not.toContain('POST example.com/elsewhere')
  })

  describe('over a kept-alive connection', () => {
    it('makes no further DNS query or connection while the connection is open', async () => {
      const ways = new Set<number | undefined>()
      answer((response, { socket }) => {
        ways.add(socket.remotePort)
        response.end('Seen.')
      })
      const before = namesAsked()
      const outgoing = open()
      for (let i = 0; i < 3; i++) expect(await outgoing.post(url, sent)).toBe(200)
      expect({ asked: namesAsked() - before, connections: ways.size }).toEqual({ asked: 1, connections: 1 })
    })

    it('resolves and checks the host again for each new connection, and connects only to checked addresses', async () => {
      const inner = await openPlain((_, response) => response.end('a secret'))
      closing.push(inner.close)
      answer((response) => response.writeHead(200, { connection: 'close' }).end())
      let lookups = 0
      const turning = async (host: string) => {
        lookups += 1
        return lookups === 1 ? outside.resolver.lookup(host) : [{ address: '127.0.0.2', port: inner.port }]
      }
      const outgoing = open({ resolver: { ...outside.resolver, lookup: turning } })
      expect(await outgoing.post(url, sent)).toBe(200)
      expect(lookups).toBe(1)
      const refusal = await refusalOf(outgoing.post(url, sent))
      expect(refusal).toMatchObject({ code: 'invalid_request', errors: [{ path: 'url' }] })
      expect(refusal.message).not.toContain('127.0.0')
      expect({ lookups, inner: inner.requests }).toEqual({ lookups: 2, inner: [] })
    })

    it('is sent again over a new connection if the host closes the old connection without a response', async () => {
      const used = new Set<unknown>()
      let requests = 0
      answer((response, { socket }) => {
        requests += 1
        if (used.has(socket)) return void socket.destroy()
        used.add(socket)
        response.end()
      })
      const outgoing = open()
      expect(await outgoing.post(url, sent)).toBe(200)
      expect(await outgoing.post(url, sent)).toBe(200)
      expect({ requests, connections: used.size }).toEqual({ requests: 3, connections: 2 })
    })

    it('is sent only once if the host closes a new connection', async () => {
      let requests = 0
      answer((_response, { socket }) => {
        requests += 1
        socket.destroy()
      })
      expect((await refusalOf(open().post(url, sent))).message).toContain('the host closed the connection')
      expect(requests).toBe(1)
    })

    it('closes the connection after the idle time that the host announces', async () => {
      const ways: Socket[] = []
      answer((response, { socket }) => {
        ways.push(socket)
        response.writeHead(200, { 'keep-alive': 'timeout=1' }).end()
      })
      const outgoing = open()
      expect(await outgoing.post(url, sent)).toBe(200)
      await expect.poll(() => ways[0]!.destroyed).toBe(true)
      expect(await outgoing.post(url, sent)).toBe(200)
      expect(ways[1]).not.toBe(ways[0])
    })
  })

  describe('reads only the start of a response, then closes the connection', () => {
    it('if the response does not end', async () => {
      let bytes = 0
      const over = Promise.withResolvers<void>()
      answer((response) => {
        response.on('close', over.resolve).writeHead(200, { 'content-length': 1e9 })
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(1024, 'x'))) bytes += 1024
          if (!response.destroyed) response.once('drain', more)
        }
        more()
      })
      expect(await open().post(url, sent)).toBe(200)
      await over.promise
      expect(bytes).toBeLessThan(100 * 1024 * 1024)
    })

    it('if the response is long, even if it ends', async () => {
      const ways = new Set<Socket>()
      const outgoing = open()
      for (let i = 0; i < 5; i++) {
        const over = Promise.withResolvers<void>()
        answer((response, { socket }) => {
          ways.add(socket)
          response.on('close', over.resolve).end(Buffer.alloc(256 * 1024, 'x'))
        })
        expect(await outgoing.post(url, sent)).toBe(200)
        await over.promise
      }
      expect(ways.size).toBe(5)
    })

    it('if the response is slow or stalls', async () => {
      for (const isDripping of [true, false]) {
        const over = Promise.withResolvers<void>()
        answer((response) => {
          const drip = setInterval(() => isDripping && response.write('x'), 20)
          response.on('close', () => {
            clearInterval(drip)
            over.resolve()
          })
          response.writeHead(202).flushHeaders()
        })
        expect(await open().post(url, sent)).toBe(202)
        await over.promise
      }
    })

    it('if the response arrived before the host read the request body', async () => {
      answer((response) => response.writeHead(200, { connection: 'close' }).end())
      expect(await open().post(url, { ...sent, body: 'x'.repeat(64 * 1024) })).toBe(200)
    })

    it('but waits for the final response if interim (1xx) responses arrive first', async () => {
      answer((response) => {
        response.writeProcessing()
        response.writeEarlyHints({ link: '</a>; rel=preload' })
        response.end()
      })
      expect(await open().post(url, sent)).toBe(200)
    })
  })

  describe('times out and leaves nothing open', () => {
    it.each(['says nothing', 'drips headers', 'says again and again that it works'])('if a host %s', async (what) => {
      const over = Promise.withResolvers<void>()
      answer((response, { socket }) => {
        const timer = setInterval(() => {
          if (what === 'drips headers') socket.write('x-a: b\r\n')
          if (what.startsWith('says again')) response.writeProcessing()
        }, 300)
        socket.on('close', () => {
          clearInterval(timer)
          over.resolve()
        })
        if (what === 'drips headers') socket.write('HTTP/1.1 200 OK\r\n')
      })
      expect(await codeOf(open().post(url, soon))).toBe('upstream_timeout')
      await over.promise
    })

    it('if a host accepts the connection without a TLS handshake', async () => {
      const sockets = await serve(
        'silent.example.com',
        createServer((socket) => socket.resume()),
      )
      expect(await codeOf(open().post('https://silent.example.com/', soon))).toBe('upstream_timeout')
      await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([true])
    })

    it('if no name server responds in time, without connecting to an address that arrives later', async () => {
      const asked = Promise.withResolvers<{ address: string }[]>()
      const sockets = await serve(
        'late.example.com',
        createServer((socket) => socket.resume()),
      )
      const outgoing = open({ resolver: { ...outside.resolver, lookup: () => asked.promise } })
      expect(await codeOf(outgoing.post('https://late.example.com/', soon))).toBe('upstream_timeout')
      asked.resolve(await lookup('late.example.com'))
      await asked.promise
      answer((response) => response.end())
      expect(await open().post(url, sent)).toBe(200)
      expect(sockets).toEqual([])
    })

    it('if the registry closes', async () => {
      const hung = Promise.withResolvers<Socket>()
      answer((_response, { socket }) => hung.resolve(socket))
      const sockets = await serve(
        'stuck.example.com',
        createServer((socket) => socket.resume()),
      )
      const outgoing = open()
      const codes = [url, 'https://stuck.example.com/'].map((each) => codeOf(outgoing.post(each, sent)))
      const socket = await hung.promise
      await expect.poll(() => sockets.length).toBe(1)
      await outgoing.close()
      expect(await Promise.all(codes)).toEqual(['shutting_down', 'shutting_down'])
      await expect.poll(() => [socket.destroyed, sockets[0]!.destroyed]).toEqual([true, true])
      expect(await codeOf(outgoing.post(url, sent))).toBe('shutting_down')
    })
  })

  describe('reports the reason for a failure, without internal details', () => {
    const isNotHttp = 'the response is not valid HTTP'
    const isClosed = 'the host closed the connection before the response was complete'
    const ways: [string, (socket: Socket) => void, string][] = [
      ['is not HTTP', raw('SSH-2.0-secret banner\r\n'), isNotHttp],
      ['is HTTP/0.9', raw('<p>secret</p>\r\n'), isNotHttp],
      [
        'goes over to something else',
        raw('HTTP/1.1 101 Switching\r\nupgrade: secret\r\nconnection: upgrade\r\n\r\n'),
        isNotHttp,
      ],
      ['asks for a body that it has', raw('HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)), isNotHttp],
      [
        'says that it works, without end',
        raw('HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)),
        'the host could not be reached',
      ],
      [
        'has enormous headers',
        raw(`HTTP/1.1 200 OK\r\n${'x-secret: 0123456789\r\n'.repeat(10_000)}\r\n`),
        'the response headers are too long',
      ],
      ['is closed', (socket) => void socket.end(), isClosed],
      ['is cut off', (socket) => void socket.destroy(), isClosed],
    ]
    it.each(ways)('if a response %s', async (_what, write, reason) => {
      answer((_response, { socket }) => write(socket))
      const refusal = await refusalOf(open().post(url, sent))
      expect(refusal).toMatchObject({
        code: 'upstream_failed',
        message: failure('example.com', reason),
      })
    })

    it('if the host is unknown, refuses connections or does not speak TLS', async () => {
      const plain = await openPlain((_, response) => response.end())
      ports.set('plain.example.com', plain.port)
      const messageOf = async (name: string) => (await refusalOf(open().post(`https://${name}/`, sent))).message
      expect(await messageOf('missing.example.org')).toBe(
        failure('missing.example.org', 'the host name does not exist'),
      )
      expect(await messageOf('plain.example.com')).toBe(failure('plain.example.com', 'the TLS handshake failed'))
      await plain.close()
      expect(await messageOf('plain.example.com')).toBe(failure('plain.example.com', 'the host refused the connection'))
      const failing = { lookup: () => Promise.reject(Object.assign(new Error('no'), { code: 'EAI_AGAIN' })) }
      const unanswered = open({ resolver: { ...outside.resolver, ...failing } })
      expect((await refusalOf(unanswered.post(url, sent))).message).toBe(
        failure('example.com', 'the name servers did not resolve the host name'),
      )
    })

    it('if the certificate is untrusted, for another name, or expired', async () => {
      const hourMs = 3_600_000
      const old = await make(new Date(Date.now() - 2 * hourMs), new Date(Date.now() - hourMs))
      const coming = await make(new Date(Date.now() + hourMs), new Date(Date.now() + 2 * hourMs))
      const own = await make(new Date(Date.now() - hourMs), new Date(Date.now() + hourMs))
      const messageOf = async (name: string, ca: string[]) =>
        (await refusalOf(open({ ca }).post(`https://${name}/`, sent))).message
      const show = async ({ private: key, cert }: typeof old) =>
        serve('old.example.com', createHttpsServer({ key, cert }, (_, response) => response.end()) as never)

      await show(own)
      expect(await messageOf('old.example.com', [outside.ca])).toBe(
        failure('old.example.com', 'the certificate is not trusted'),
      )
      expect(await open({ ca: [own.cert] }).post('https://old.example.com/', sent)).toBe(200)
      await show(old)
      expect(await messageOf('old.example.com', [old.cert])).toBe(
        failure('old.example.com', 'the certificate has expired'),
      )
      await show(coming)
      expect(await messageOf('old.example.com', [coming.cert])).toBe(
        failure('old.example.com', 'the certificate is not valid yet'),
      )
      expect(await messageOf('example.net', [outside.ca])).toBe(
        failure('example.net', 'the certificate is for another host name'),
      )
      expect(await messageOf('example.com', [])).toBe(failure('example.com', 'the certificate is not trusted'))
    })
  })

  it.each([
    'http://example.com/hook',
    'https://user:pass@example.com/hook',
    'https://127.0.0.2/hook',
    'https://[::1]/hook',
    'https://0x7f.2/hook',
    'https://localhost/hook',
    'https://example.com:22/hook',
    'https://example.com:0/hook',
    'ftp://example.com/hook',
    'example.com',
  ])('goes only to public https URLs: %s', async (address) => {
    const before = outside.requests.length
    const refusal = await refusalOf(open().post(address, sent))
    expect(refusal).toMatchObject({ code: 'invalid_request', errors: [{ path: 'url' }] })
    expect(outside.requests.length).toBe(before)
  })

  it('is sent into a local network only if the operator allows that network', async () => {
    answer((response) => response.end())
    expect(await codeOf(open({ allowNetworks: [] }).post(url, sent))).toBe('invalid_request')
    expect(await codeOf(open({ allowNetworks: ['127.0.0.2', '10.0.0.0/8'] }).post(url, sent))).toBe('invalid_request')
    expect(await open({ allowNetworks: ['127.0.0.0/24'] }).post(url, sent)).toBe(200)
  })

  it('is sent to many hosts with few open connections', async () => {
    const sockets = new Set<Socket>()
    outside.pages.clear()
    const outgoing = open()
    const hosts = Array.from({ length: 300 }, (_, i) => `h${i}.example.com`)
    for (const each of hosts) {
      outside.pages.set(`${each}/hook`, (request, response) => {
        sockets.add(request.socket)
        response.end()
      })
    }
    for (let i = 0; i < hosts.length; i += 50) {
      const some = hosts.slice(i, i + 50).map((each) => outgoing.post(`https://${each}/hook`, sent))
      expect(await Promise.all(some)).toEqual(some.map(() => 200))
    }
    expect(sockets.size).toBe(300)
    await expect.poll(() => [...sockets].filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(256)
  })
})
