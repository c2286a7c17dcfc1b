import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { health, putRaw, watchRejections } from '../support/door-acts.ts'
import { askRaw, openRaw, type RawAnswer } from '../support/raw-connection.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

watchRejections()
const start = () => startNode({ graceMs: 100 })

describe('several requests at once on a connection', () => {
  it('are answered in order, a thousand of them, and the connection goes on', async () => {
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

  it('of which one is malformed: those before are answered first, then it is refused, and none after it is done', async () => {
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

describe('a request behind another', () => {
  const heads: Record<string, string> = {
    'without a host': '',
    'with two hosts': 'Host: x\r\nHost: y\r\n',
    'with a flood of headers': `Host: x\r\n${'a:\r\n'.repeat(300)}`,
  }

  it.each(Object.entries(heads))(
    '%s is refused after the answer before it, and nothing after it is done',
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

describe('a request that two servers could read in two ways', () => {
  const smuggled = 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: smuggled\r\n\r\n'
  const head = 'POST /api/v1/heartbeat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const body = '{"installedSkills":[]}'
  const chunked = `16\r\n${body}\r\n0\r\n\r\n`
  const shapes: Record<string, string> = {
    'with a length and chunks': `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
    'with two lengths': `${head}Content-Length: 22\r\nContent-Length: 0\r\n\r\n${body}`,
    'with a list of lengths': `${head}Content-Length: 22, 22\r\n\r\n${body}`,
    'with a signed length': `${head}Content-Length: +22\r\n\r\n${body}`,
    'with a length that is no number': `${head}Content-Length: 0x16\r\n\r\n${body}`,
    'with a folded header': `${head}Transfer-Encoding:\r\n chunked\r\n\r\n${chunked}`,
    'with a space before the colon': `${head}Transfer-Encoding : chunked\r\n\r\n${chunked}`,
    'with a coding that is none': `${head}Transfer-Encoding: xchunked\r\n\r\n${chunked}`,
    'with chunks that are not last': `${head}Transfer-Encoding: chunked, identity\r\n\r\n${chunked}`,
    'with chunks twice': `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${chunked}`,
    'with bare line feeds': `${head}Content-Length: 22\r\n\r\n${body}`.replaceAll('\r\n', '\n'),
    'with a chunk of a size that is none': `${head}Transfer-Encoding: chunked\r\n\r\n0x16\r\n${body}\r\n0\r\n\r\n`,
    'with a chunk longer than it says': `${head}Transfer-Encoding: chunked\r\n\r\n4\r\n${body}\r\n0\r\n\r\n`,
    'with a carriage return alone': `${head}X-A: b\rTransfer-Encoding: chunked\r\n\r\n${chunked}`,
    'with a NUL in a header': `${head}X-A: \0\r\nContent-Length: 22\r\n\r\n${body}`,
    'with a header without a name': `${head}: x\r\nContent-Length: 22\r\n\r\n${body}`,
    'without a host': health.replace('Host: x\r\n', ''),
    'with two hosts': health.replace('Host: x', 'Host: x\r\nHost: y'),
    'of HTTP/0.9': 'GET /healthz\r\n\r\n',
    'of HTTP/3.0': health.replace('1.1', '3.0'),
    'of another protocol': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'with a tab in its first line': health.replaceAll(' HTTP', '\tHTTP'),
    'with extensions of chunks without end': `${head}Transfer-Encoding: chunked\r\n\r\n16;${'x'.repeat(20_000)}\r\n`,
  }

  it.each(Object.entries(shapes))('%s is refused, and what hides behind it is not done', async (_, shape) => {
    const { node } = await start()
    const connection = await openRaw(node.port)
    connection.send(Buffer.from(shape + smuggled, 'latin1'))
    const answers: RawAnswer[] = []
    for (let answer = await connection.read(); answer; answer = await connection.read()) answers.push(answer)
    expect(answers.map(({ status }) => status)).toEqual([expect.toSatisfy((status) => [400, 413].includes(status))])
    expect(answers[0]!.headers['content-type']).toBe('application/problem+json')
    expect(answers[0]!.headers.connection).toBe('close')
    connection.close()
  })

  it('is not one with an extension of a chunk, which is read over', async () => {
    const { node } = await start()
    const answer = await askRaw(
      node.port,
      `${head}Transfer-Encoding: chunked\r\n\r\n16;a=b\r\n${body}\r\n0\r\nX-T: x\r\n\r\n`,
    )
    expect(answer!.status).toBe(200)
  })
})

describe('headers and addresses', () => {
  const cases: [string, string, number][] = [
    ['more headers than any program sends', `GET / HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(300)}\r\n`, 431],
    ['an address that is too long', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['a host that is none', health.replace('Host: x', 'Host: a b/?c'), 200],
    ['the address of another server', health.replace('/healthz', 'http://other.example/healthz'), 200],
    ['an address without a scheme', health.replace('/healthz', 'healthz'), 400],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 400],
    ['TRACE', health.replace('GET', 'TRACE'), 405],
    ['OPTIONS of everything', health.replace('GET /healthz', 'OPTIONS *'), 204],
    ['an upgrade', health.replace('Host', 'Connection: Upgrade\r\nUpgrade: websocket\r\nHost'), 200],
    [
      'an upgrade to HTTP/2',
      health.replace('Host', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHost'),
      200,
    ],
    ['an expectation that is none', health.replace('Host', 'Expect: the best\r\nHost'), 200],
    ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
  ]

  it.each(cases)('%s: the answer is whole, and the node goes on', async (_, request, status) => {
    const { node } = await start()
    const answer = await askRaw(node.port, request)
    expect(answer!.status).toBe(status)
    expect(answer!.headers['x-request-id']).toBeDefined()
    expect(answer!.headers['content-type'] === 'application/problem+json').toBe(status >= 400)
    expect((await askRaw(node.port, health))!.status).toBe(200)
  })

  it('a body that waits to be asked for is asked for', async () => {
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

describe('a body that is packed', () => {
  it('is refused before it is unpacked', async () => {
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
