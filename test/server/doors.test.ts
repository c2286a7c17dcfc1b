import { getEventListeners } from 'node:events'
import { connect, type Socket } from 'node:net'
import { partsOf } from '@skillstead/core/internal'
import { describe, expect, it } from 'vitest'
import { listenNode, type ListenOptions } from '@skillstead/server'
import { makeFolder, skillstead, startServer } from '../support/cli-harness.ts'
import { health, putRaw, watchRejections } from '../support/door-acts.ts'
import { askRaw, openRaw, type RawConnection } from '../support/raw-connection.ts'
import { skillMd, startNode, type Fixture } from '../support/server-harness.ts'

watchRejections()

const start = (connections: ListenOptions['connections'] = {}) => startNode({ connections, graceMs: 100 })

describe('a client that sends slowly', () => {
  it('gets 408 for a head sent byte by byte, while other clients are served', async () => {
    const { node } = await start({ headMs: 1500 })
    const slow = await Promise.all(Array.from({ length: 50 }, () => openRaw(node.port)))
    const timer = setInterval(() => {
      for (const connection of slow) if (connection.isOpen) connection.send('x')
    }, 50)
    for (const connection of slow) connection.send('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    const answers = Promise.all(slow.map((connection) => connection.read()))
    expect((await askRaw(node.port, health))!.status).toBe(200)
    for (const answer of await answers) {
      expect(answer!.status).toBe(408)
      expect(answer!.headers.connection).toBe('close')
    }
    await Promise.all(slow.map(({ ended }) => ended))
    clearInterval(timer)
    for (const connection of slow) connection.close()
  })

  it('is disconnected if it sends nothing at all', async () => {
    const { node } = await start({ headMs: 200 })
    const silent = await openRaw(node.port)
    expect((await silent.read())!.status).toBe(408)
    await silent.ended
    silent.close()
  })

  it('is disconnected at the time limit of a body sent byte by byte', async () => {
    const { node, key, get } = await start({ headMs: 1500, requestMs: 1500 })
    const slow = await openRaw(node.port)
    slow.send(putRaw({ key }, '{', 'Content-Length: 10000\r\n'))
    const timer = setInterval(() => slow.isOpen && slow.send(' '), 30)
    await slow.ended
    clearInterval(timer)
    slow.close()
    expect((await get('/skills')).status).toBe(200)
  })

  it('is disconnected if its connection is idle for too long', async () => {
    const { node } = await start({ idleMs: 100 })
    const connection = await openRaw(node.port)
    connection.send(health)
    expect((await connection.read())!.status).toBe(200)
    await connection.ended
    connection.close()
  })
})

describe('too many connections', () => {
  it('from one address get 429 until some of them are closed', async () => {
    const { node } = await start({ addressConnectionsMax: 3 })
    const held = await Promise.all(Array.from({ length: 3 }, () => openRaw(node.port)))
    const refused = await askRaw(node.port, health)
    expect(refused!.status).toBe(429)
    expect(refused!.headers['retry-after']).toBe('5')
    expect(JSON.parse(refused!.body.toString())).toMatchObject({ code: 'rate_limited', status: 429 })
    held[0]!.send(health)
    expect((await held[0]!.read())!.status, 'who is in goes on').toBe(200)
    held[1]!.close()
    await expect.poll(async () => (await askRaw(node.port, health))?.status).toBe(200)
    for (const connection of held) connection.close()
  })

  it('from a trusted proxy are not limited', async () => {
    const { node } = await startNode({ connections: { addressConnectionsMax: 1 }, trustedProxies: ['127.0.0.1'] })
    const held = await Promise.all(Array.from({ length: 5 }, () => openRaw(node.port)))
    for (const connection of held) connection.send(health)
    for (const connection of held) expect((await connection.read())!.status).toBe(200)
    for (const connection of held) connection.close()
  })

  it('beyond the total limit are closed at once until earlier connections end', async () => {
    const { node } = await start({ connectionsMax: 20 })
    const held = await Promise.all(Array.from({ length: 20 }, () => openRaw(node.port)))
    const flood = await Promise.all(Array.from({ length: 30 }, () => openRaw(node.port)))
    await Promise.all(flood.map(({ ended }) => ended))
    held[7]!.send(health)
    expect((await held[7]!.read())!.status).toBe(200)
    for (const connection of [...held, ...flood]) connection.close()
    await expect.poll(async () => (await askRaw(node.port, health).catch(() => undefined))?.status).toBe(200)
  })

  it('cannot be limited with invalid or unknown settings, which cause an error', async () => {
    const { registry } = await start()
    const listen = (connections: object) => listenNode(registry, { port: 0, connections })
    await expect(listen({ headMs: 0 })).rejects.toThrow('`headMs` must be a whole number of at least 1.')
    await expect(listen({ requestMs: Number.NaN })).rejects.toThrow('`requestMs` must be a whole number of at least 1.')
    await expect(listen({ sockets: 1 })).rejects.toThrow('There is no connection limit `sockets`.')
  })
})

describe('the option --connection-limits of skillstead serve', () => {
  it('sets the connection limits', async () => {
    const data = await makeFolder()
    const limits = 'total=50,address=2,head=3,request=5,idle=5,answer=5'
    const server = await startServer(['serve', '--port', '0', '--data', data, '--connection-limits', limits])
    const port = Number(new URL(server.url).port)
    const held = await Promise.all([openRaw(port), openRaw(port)])
    expect((await askRaw(port, health))!.status).toBe(429)
    for (const connection of held) {
      expect((await connection.read())!.status, 'three seconds without a word').toBe(408)
      connection.close()
    }
    await server.stop()
  })

  it.each(['address=0', 'rooms=5', 'total', 'head=1.5'])(
    'rejects %s with an error that shows the format',
    async (limits) => {
      const { code, stderr } = await skillstead(['serve', '--data', await makeFolder(), '--connection-limits', limits])
      expect(code).toBe(2)
      expect(stderr).toContain(`'${limits}' is not a connection limit. Use the form address=1024`)
    },
  )
})

describe('a client that reads responses slowly', () => {
  const largeBytes = 8 * 1024 * 1024

  async function withLarge(connections: ListenOptions['connections']): Promise<Fixture> {
    const test = await start(connections)
    const content = Buffer.alloc(largeBytes).toString('base64')
    await test.api.publishSkill({ skillMd, version: '2.0.0', files: [{ path: 'large', content, encoding: 'base64' }] })
    return test
  }

  it('is disconnected after the time limit, while other clients get complete responses', async () => {
    const { node } = await withLarge({ answerMs: 5000, answerBytesPerSecondMin: 1024 ** 3 })
    const socket = await stall(node.port)
    await expect.poll(() => figure(node.url, 'connections_given_up_total')).toBe(1)
    let bytes = 0
    socket.on('data', (chunk: Buffer) => void (bytes += chunk.length)).resume()
    await new Promise((resolve) => socket.once('close', resolve))
    expect(bytes).toBeLessThan(largeBytes)
    const whole = await fetch(`${node.url}/api/v1/skills/alice%2Fpdf/files/large`)
    expect((await whole.arrayBuffer()).byteLength).toBe(largeBytes)
  })

  it('is not disconnected if it keeps reading one response after another', async () => {
    // All pauses together are longer than the time for one answer, and each leaves a busy machine some seconds of it.
    const { node } = await withLarge({ answerMs: 500, answerBytesPerSecondMin: largeBytes / 4 })
    const answers = 8
    const socket = await stall(node.port, answers)
    let bytes = 0
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const done = new Promise<void>((resolve) =>
      socket.on('data', (chunk: Buffer) => {
        const before = Math.floor(bytes / largeBytes)
        bytes += chunk.length
        if (bytes >= answers * largeBytes) return resolve()
        if (Math.floor(bytes / largeBytes) === before) return
        socket.pause()
        setTimeout(() => socket.resume(), 900)
      }),
    )
    socket.resume()
    await Promise.race([closed, done])
    socket.destroy()
    expect(bytes).toBeGreaterThanOrEqual(answers * largeBytes)
  })

  it('has one response per connection in memory, however many requests it pipelines', async () => {
    const { node } = await withLarge({})
    const answers = 12
    const socket = await stall(node.port, answers)
    const made = () => figure(node.url, 'http_requests_total\\{endpoint="getFile"[^}]*\\}')
    await expect.poll(made).toBeGreaterThan(0)
    for (let i = 0; i < 5; i++) expect((await askRaw(node.port, health))!.status).toBe(200)
    // The first, and the next where the machine's buffers have taken that.
    expect(await made()).toBeLessThan(4)
    let bytes = 0
    socket.on('data', (chunk: Buffer) => void (bytes += chunk.length)).resume()
    await expect.poll(() => bytes).toBeGreaterThan(answers * largeBytes)
    expect(await made()).toBe(answers)
    socket.destroy()
  })

  it('gets the complete pending response when the node shuts down', async () => {
    const { node, api } = await startNode({ graceMs: 60_000 })
    const content = Buffer.alloc(largeBytes).toString('base64')
    await api.publishSkill({ skillMd, version: '2.0.0', files: [{ path: 'large', content, encoding: 'base64' }] })
    const socket = await stall(node.port)
    await expect.poll(() => figure(node.url, 'http_requests_total\\{endpoint="getFile"[^}]*\\}')).toBe(1)
    const closing = node.close()
    let bytes = 0
    socket.on('data', (chunk: Buffer) => void (bytes += chunk.length)).resume()
    await new Promise((resolve) => socket.once('close', resolve))
    expect(bytes).toBeGreaterThan(largeBytes)
    await closing
  })

  it('is disconnected if too many unsent bytes are in memory: the connection idle for longest first', async () => {
    const { node } = await withLarge({ waitingBytesMax: 12 * 1024 * 1024 })
    const sockets: Socket[] = []
    const made = () => figure(node.url, 'http_requests_total\\{endpoint="getFile"[^}]*\\}')
    for (let i = 0; i < 8; i++) {
      sockets.push(await stall(node.port))
      // Answers of requests in progress at the same time are made in any order.
      await expect.poll(made).toBe(i + 1)
    }
    await expect.poll(() => figure(node.url, 'connections_given_up_total')).toBeGreaterThan(4)
    let bytes = 0
    sockets
      .at(-1)!
      .on('data', (chunk: Buffer) => void (bytes += chunk.length))
      .resume()
    await expect.poll(() => bytes).toBeGreaterThan(largeBytes)
    for (const socket of sockets) socket.destroy()
  })
})

describe('a client that disconnects', () => {
  const whole = JSON.stringify({ skillMd, version: '9.0.0', files: [{ path: 'a.txt', content: 'a'.repeat(300_000) }] })
  const leave: Record<string, (connection: RawConnection) => void> = {
    'with a TCP reset': ({ socket }) => void socket.resetAndDestroy(),
    'with a regular end': ({ socket }) => void socket.end(),
  }

  describe.each(Object.entries(leave))('%s', (_, goAway) => {
    it('while it sends a body changes nothing', async () => {
      const { node, key, api } = await start()
      for (let i = 0; i < 30; i++) {
        const connection = await openRaw(node.port)
        connection.send(putRaw({ key }, whole.slice(0, i * 10_000), `Content-Length: ${Buffer.byteLength(whole)}\r\n`))
        goAway(connection)
        await new Promise((resolve) => connection.socket.once('close', resolve).resume())
      }
      expect((await api.getSkill({ name: 'pdf' })).latestVersion).toBe('1.0.0')
      await expect.poll(() => figure(node.url, 'http_requests_in_flight')).toBe(1)
    })

    it('before the response has its complete request executed completely or not at all', async () => {
      const { node, key, api } = await start()
      const connection = await openRaw(node.port)
      connection.send(putRaw({ key }, whole, `Content-Length: ${Buffer.byteLength(whole)}\r\n`))
      goAway(connection)
      await expect.poll(() => figure(node.url, 'http_requests_in_flight')).toBe(1)
      const { latestVersion } = await api.getSkill({ name: 'pdf' })
      const { files } = await api.getVersion({ name: 'pdf', version: latestVersion })
      expect(files.map(({ path }) => path).includes('a.txt')).toBe(latestVersion === '9.0.0')
      const retried = await askRaw(node.port, putRaw({ key }, whole, `Content-Length: ${Buffer.byteLength(whole)}\r\n`))
      expect(retried!.status).toBe(latestVersion === '9.0.0' ? 200 : 201)
    })

    it('while it reads a response frees the resources of the request', async () => {
      const { node, api } = await start()
      const content = Buffer.alloc(4 * 1024 * 1024).toString('base64')
      await api.publishSkill({ skillMd, version: '2.0.0', files: [{ path: 'x', content, encoding: 'base64' }] })
      const listeners = process.listenerCount('warning')
      for (let i = 0; i < 20; i++) {
        const connection = await openRaw(node.port)
        connection.send('GET /api/v1/skills/alice%2Fpdf/files/x HTTP/1.1\r\nHost: x\r\n\r\n')
        await new Promise((resolve) => connection.socket.once('data', resolve))
        goAway(connection)
        connection.close()
      }
      await expect.poll(() => figure(node.url, 'http_requests_in_flight')).toBe(1)
      expect(process.listenerCount('warning')).toBe(listeners)
      expect((await askRaw(node.port, health))!.status).toBe(200)
    })
  })

  it('during a long poll ends the long poll', async () => {
    const { node, api, registry } = await start()
    const { next } = await api.getFeed({ limit: 1000 })
    const before = getEventListeners(partsOf(registry).waits, 'abort').length
    for (let i = 0; i < 20; i++) {
      const connection = await openRaw(node.port)
      connection.send(`GET /api/v1/feed?since=${next}&wait=1 HTTP/1.1\r\nHost: x\r\n\r\n`)
      connection.socket.resetAndDestroy()
    }
    await expect.poll(() => figure(node.url, 'http_requests_in_flight')).toBe(1)
    expect(getEventListeners(partsOf(registry).waits, 'abort').length).toBe(before)
  })
})

/** Asks for the large file, as often as is said, and reads nothing of it. */
async function stall(port: number, times = 1): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.on('error', () => {}).pause()
  socket.write('GET /api/v1/skills/alice%2Fpdf/files/large HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(times))
  return socket
}

/** A figure of the node's metrics; of requests in flight, the one that asks is one. */
async function figure(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^skillstead_${name} (\\d+)`, 'm').exec(text)![1])
}
