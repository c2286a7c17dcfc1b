import { Agent, get as httpGet, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { listenNode } from '@skillstead/server'
import { sendRaw, startNode } from '../support/server-harness.ts'

function ask(url: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpGet(url, { agent }, (response) => response.resume().on('end', () => resolve(response))).on('error', reject)
  })
}

describe('a node that listens on a port', () => {
  it('reports its URL, and closes all connections when it shuts down, including idle ones', async () => {
    const { node, registry } = await startNode()
    expect(node.url).toBe(`http://127.0.0.1:${node.port}`)
    const agent = new Agent({ keepAlive: true })
    expect((await ask(`${node.url}/healthz`, agent)).statusCode).toBe(200)
    const silent = connect(node.port, '127.0.0.1')
    await new Promise((resolve) => silent.once('connect', resolve))
    const gone = new Promise((resolve) => silent.once('close', resolve))
    await Promise.all([node.close(), node.close()])
    await gone
    await expect(fetch(`${node.url}/healthz`)).rejects.toThrow('fetch failed')
    expect(await registry.readiness()).toMatchObject({ database: true })
    agent.destroy()
  })

  it('fails with a one-sentence error if the port or address is not available', async () => {
    const { node, registry } = await startNode()
    await expect(listenNode(registry, { port: node.port })).rejects.toThrow(
      new RegExp(`^Port ${node.port} is already in use\\.$`),
    )
    // Browsers refuse this port, and listhen would quietly take another.
    await expect(listenNode(registry, { port: 6000 })).rejects.toThrow(/^Cannot listen on .*port 6000: /)
    await expect(listenNode(registry, { port: 0, host: '203.0.113.1' })).rejects.toThrow(/^Cannot listen on 203/)
  })

  it('completes requests in progress during shutdown, and rejects new requests', async () => {
    const { node, registry } = await startNode()
    const { next } = await (await fetch(`${node.url}/api/v1/feed`)).json()
    let polls = 0
    const socket = connect(node.port, '127.0.0.1')
    let answers = ''
    socket.setEncoding('utf8').on('data', (text) => (answers += text))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    // The second request waits in the connection behind the first, and is begun after the node began to close.
    const late = 'GET /api/v1/skills HTTP/1.1\r\nHost: x\r\n\r\n'
    const poll = `GET /api/v1/feed?since=${next}&wait=30 HTTP/1.1\r\nHost: x\r\n\r\n`
    socket.write(poll + late, () => (polls += 1))
    await expect.poll(() => polls).toBe(1)
    await expect.poll(async () => /in_flight (\d+)/.exec(await metrics(node.url))![1]).toBe('2')
    await Promise.all([node.close(), closed])
    expect(answers).toMatch(/^HTTP\/1.1 200 /)
    expect(answers).toContain('"entries":[]')
    const refused = answers.slice(answers.indexOf('HTTP/1.1 503'))
    expect(refused.toLowerCase()).toMatch(/\r\nretry-after: \d+\r\n/)
    expect(refused.toLowerCase()).toMatch(/\r\nconnection: close\r\n/)
    expect(refused).toContain('"shutting_down"')
    expect(await registry.readiness()).toMatchObject({ database: true })
  })

  it('closes a keep-alive connection after its last response during shutdown', async () => {
    const { node } = await startNode({ graceMs: 60_000 })
    const { next } = await (await fetch(`${node.url}/api/v1/feed`)).json()
    const agent = new Agent({ keepAlive: true })
    const poll = ask(`${node.url}/api/v1/feed?since=${next}&wait=30`, agent)
    await expect.poll(async () => /in_flight (\d+)/.exec(await metrics(node.url))![1]).toBe('2')
    await node.close()
    expect((await poll).statusCode).toBe(200)
    agent.destroy()
  })

  it('does not wait for silent connections during shutdown', async () => {
    const { node } = await startNode({ graceMs: 3_600_000, connections: { headMs: 3_600_000, requestMs: 3_600_000 } })
    const socket = connect(node.port, '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))
    await expect.poll(async () => /skillstead_connections (\d+)/.exec(await metrics(node.url))![1]).toBe('2')
    await node.close()
    await closed
  })

  it('responds to long polls at once during shutdown, with the entries so far', async () => {
    const { node } = await startNode({ graceMs: 60_000 })
    const { next } = await (await fetch(`${node.url}/api/v1/feed`)).json()
    const poll = fetch(`${node.url}/api/v1/feed?since=${next}&wait=30`)
    await expect.poll(async () => /in_flight (\d+)/.exec(await metrics(node.url))![1]).toBe('2')
    await node.close()
    expect(await (await poll).json()).toMatchObject({ entries: [], next })
  })

  it('does not wait longer than its grace period during shutdown', async () => {
    const { node, key } = await startNode({ graceMs: 50 })
    const socket = connect(node.port, '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk)).on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    // A body that never comes.
    socket.write(
      `PUT /api/v1/skills HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    )
    await expect.poll(async () => /in_flight (\d+)/.exec(await metrics(node.url))![1]).toBe('2')
    await node.close()
    await closed
    expect(answer).toBe('')
  })

  it('rejects headers that are too large', async () => {
    const { node } = await startNode()
    const answer = await sendRaw(node.port, `GET / HTTP/1.1~Host: x~X-Big: ${'a'.repeat(40_000)}~~`)
    expect(answer).toMatch(/^HTTP\/1.1 431 /)
    expect(answer).toContain('application/problem+json')
    expect(answer).not.toContain('aaaa')
  })
})

async function metrics(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`)).text()
}
