import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { health, putRaw, watchRejections } from '../support/door-acts.ts'
import { askRaw, openRaw, type RawAnswer } from '../support/raw-connection.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

watchRejections()
const start = () => startNode({ graceMs: 100 })

describe('pipelined requests on a connection', () => {
  it('are answered in order, even a thousand, and the connection remains usable', async () => {
    const { node } = await start()
    const connection = await openRaw(node.port)
    connection.send(
      Array.from({ length: 1000 }, (_, i) => health.replace('Host', `X-Request-Id: r${i}\r\nHost`)).join(''),
    )
    for (let i = 0; i < 1000; i++) expect((await connection.read())!.headers['x-request-id']).toBe(`r${i}`)
    connection.send(health)
    expect((await connection.read())!.status).toBe(200)
    connection.close()
  })

  it('are answered up to the first malformed request, which is rejected; later requests are not executed', async () => {
    const { node, api } = await start()
    const { next } = await api.getFeed({ limit: 1000 })
    const connection = await openRaw(node.port)
    const poll = `GET /api/v1/feed?since=${next}&wait=1 HTTP/1.1\r\nHost: x\r\n\r\n`
    const track = '{"skillName":"alice/pdf"}'
    const late = `POST /api/v1/track HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${track.length}\r\n\r\n${track}`
    connection.send(`${poll}${health}BROKEN\r\n\r\n${late}`)
    expect((await connection.read())!.body.toString()).toContain('"entries":[]')
    expect((await connection.read())!.body.toString()).toBe('{"status":"ok"}')
    const refused = await connection.read()
    expect(refused!.status).toBe(400)
    expect(refused!.headers.connection).toBe('close')
    await connection.ended
    expect(connection.left.length).toBe(0)
    connection.close()
  })
})

describe('a pipelined invalid request', () => {
  const heads: Record<string, string> = {
    'without a Host header': '',
    'with two Host headers': 'Host: x\r\nHost: y\r\n',
    'with 300 headers': `Host: x\r\n${'a:\r\n'.repeat(300)}`,
  }

  it.each(Object.entries(heads))(
    '%s is rejected after the pending response, and later requests are not executed',
    async (_, head) => {
      const { node, api } = await start()
      const { next } = await api.getFeed({ limit: 1000 })
      const connection = await openRaw(node.port)
      const poll = `GET /api/v1/feed?since=${next}&wait=1 HTTP/1.1\r\nHost: x\r\n\r\n`
      connection.send(`${poll}GET /healthz HTTP/1.1\r\n${head}\r\n${health}`)
      expect((await connection.read())!.body.toString()).toContain('"entries":[]')
      expect([400, 431]).toContain((await connection.read())!.status)
      await connection.ended
      expect(connection.left.length).toBe(0)
      connection.close()
    },
  )
})

describe('a request that two servers could parse differently', () => {
  const smuggled = 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: smuggled\r\n\r\n'
  const head = 'POST /api/v1/heartbeat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const body = '{"installedSkills":[]}'
  const chunked = `16\r\n${body}\r\n0\r\n\r\n`
  const shapes: Record<string, string> = {
    'with Content-Length and chunked encoding': `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
    'with two Content-Length headers': `${head}Content-Length: 22\r\nContent-Length: 0\r\n\r\n${body}`,
    'with a list of lengths in Content-Length': `${head}Content-Length: 22, 22\r\n\r\n${body}`,
    'with a signed number as Content-Length': `${head}Content-Length: +22\r\n\r\n${body}`,
    'with a hexadecimal Content-Length': `${head}Content-Length: 0x16\r\n\r\n${body}`,
    'with a folded header': `${head}Transfer-Encoding:\r\n chunked\r\n\r\n${chunked}`,
    'with a space before the colon': `${head}Transfer-Encoding : chunked\r\n\r\n${chunked}`,
    'with an unknown transfer coding': `${head}Transfer-Encoding: xchunked\r\n\r\n${chunked}`,
    'with chunked as the first of two transfer codings': `${head}Transfer-Encoding: chunked, identity\r\n\r\n${chunked}`,
    'with two Transfer-Encoding headers': `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${chunked}`,
    'with bare line feeds': `${head}Content-Length: 22\r\n\r\n${body}`.replaceAll('\r\n', '\n'),
    'with an invalid chunk size': `${head}Transfer-Encoding: chunked\r\n\r\n0x16\r\n${body}\r\n0\r\n\r\n`,
    'with a chunk that is longer than its size': `${head}Transfer-Encoding: chunked\r\n\r\n4\r\n${body}\r\n0\r\n\r\n`,
    'with a carriage return without a line feed': `${head}X-A: b\rTransfer-Encoding: chunked\r\n\r\n${chunked}`,
    'with a NUL in a header': `${head}X-A: \0\r\nContent-Length: 22\r\n\r\n${body}`,
    'with a header without a name': `${head}: x\r\nContent-Length: 22\r\n\r\n${body}`,
    'without a Host header': health.replace('Host: x\r\n', ''),
    'with two Host headers': health.replace('Host: x', 'Host: x\r\nHost: y'),
    'of HTTP/0.9': 'GET /healthz\r\n\r\n',
    'of HTTP/3.0': health.replace('1.1', '3.0'),
    'of another protocol': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'with a tab in its request line': health.replaceAll(' HTTP', '\tHTTP'),
    'with a chunk extension of 20,000 characters': `${head}Transfer-Encoding: chunked\r\n\r\n16;${'x'.repeat(20_000)}\r\n`,
  }

  it.each(Object.entries(shapes))(
    '%s is rejected, and the request hidden behind it is not executed',
    async (_, shape) => {
      const { node } = await start()
      const connection = await openRaw(node.port)
      connection.send(Buffer.from(shape + smuggled, 'latin1'))
      const answers: RawAnswer[] = []
      for (let answer = await connection.read(); answer; answer = await connection.read()) answers.push(answer)
      expect(answers.map(({ status }) => status)).toEqual([expect.toSatisfy((status) => [400, 413].includes(status))])
      expect(answers[0]!.headers['content-type']).toBe('application/problem+json')
      expect(answers[0]!.headers.connection).toBe('close')
      connection.close()
    },
  )

  it('is accepted if it has a short chunk extension, which is ignored', async () => {
    const { node } = await start()
    const answer = await askRaw(
      node.port,
      `${head}Transfer-Encoding: chunked\r\n\r\n16;a=b\r\n${body}\r\n0\r\nX-T: x\r\n\r\n`,
    )
    expect(answer!.status).toBe(200)
  })
})

describe('a request with unusual headers or an unusual target', () => {
  const cases: [string, string, number][] = [
    ['300 headers', `GET / HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(300)}\r\n`, 431],
    ['a path of 20,000 characters', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['an invalid Host header', health.replace('Host: x', 'Host: a b/?c'), 200],
    ['the URL of another server', health.replace('/healthz', 'http://other.example/healthz'), 200],
    ['a target without a leading slash', health.replace('/healthz', 'healthz'), 400],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 400],
    ['TRACE', health.replace('GET', 'TRACE'), 405],
    ['OPTIONS with the target *', health.replace('GET /healthz', 'OPTIONS *'), 204],
    ['an upgrade', health.replace('Host', 'Connection: Upgrade\r\nUpgrade: websocket\r\nHost'), 200],
    [
      'an upgrade to HTTP/2',
      health.replace('Host', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHost'),
      200,
    ],
    ['an unknown Expect header', health.replace('Host', 'Expect: the best\r\nHost'), 200],
    ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
  ]

  it.each(cases)('gets a complete response, and the node continues: %s', async (_, request, status) => {
    const { node } = await start()
    const answer = await askRaw(node.port, request)
    expect(answer!.status).toBe(status)
    expect(answer!.headers['x-request-id']).toBeDefined()
    expect(answer!.headers['content-type'] === 'application/problem+json').toBe(status >= 400)
    expect((await askRaw(node.port, health))!.status).toBe(200)
  })

  it('gets 100 Continue if it has the header Expect: 100-continue', async () => {
    const { node, key } = await start()
    const body = JSON.stringify({ skillMd, version: '3.0.0' })
    const more = `Content-Length: ${Buffer.byteLength(body)}\r\nExpect: 100-continue\r\n`
    const connection = await openRaw(node.port)
    connection.send(putRaw({ key }, '', more))
    await expect.poll(() => connection.left.toString('latin1')).toMatch(/^HTTP\/1\.1 100 /)
    connection.send(body)
    expect((await connection.read())!.status).toBe(201)
    connection.close()
  })
})

describe('a compressed request body', () => {
  it('is rejected before it is decompressed', async () => {
    const { as } = await start()
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    for (const coding of ['gzip', 'deflate', 'gzip, gzip', 'br']) {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding }
      const response = await as('/skills', { method: 'PUT', headers, body: bomb })
      expect(response.status, coding).toBe(415)
      expect((await response.json()).detail).toContain('Content-Encoding')
    }
    for (const [coding, status] of Object.entries({ identity: 201, Identity: 200, '': 200 })) {
      const plain = { 'content-type': 'application/json', 'content-encoding': coding }
      const body = JSON.stringify({ skillMd, version: '4.0.0' })
      expect((await as('/skills', { method: 'PUT', headers: plain, body })).status, coding).toBe(status)
    }
  })
})
