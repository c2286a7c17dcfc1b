import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { messageOf, ping, post, searchFor, withSearch } from '../support/mcp-messages.ts'
import { startNode, type Fixture } from '../support/server-harness.ts'

describe('calls of the MCP endpoint', () => {
  it('are limited to 32 concurrent calls per caller, and other callers are not affected', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    let waiting = 0
    const fixture = await startNode({}, (registry) =>
      withSearch(registry, async (original) => {
        waiting += 1
        await gate
        return original()
      }),
    )
    const held = Array.from({ length: 32 }, () => post(fixture, searchFor('pdf')))
    await expect.poll(() => waiting).toBe(32)
    const refused = await post(fixture, ping)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ code: 'overloaded' })
    expect((await post(fixture, ping, { authorization: `Bearer ${fixture.key}` })).status).toBe(200)
    open()
    for (const response of await Promise.all(held)) expect(response.status).toBe(200)
    expect((await post(fixture, ping)).status).toBe(200)
  })

  it('count as in progress until a large response is read, the caller disconnects or the time limit is reached', async () => {
    const fixture = await startNode()
    const text = 'A line of a large file.\n'.repeat(400_000)
    const read = await publishFile(fixture, text)
    const { result } = await messageOf(await post(fixture, read))
    expect(result!.contents[0]!.text === text).toBe(true)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const sockets = Array.from({ length: 12 }, () => takeNothing(fixture, read))
    const statuses = await Promise.all(sockets.map(readStatus))
    // More would fill the memory: each response has 10 MB and stays there until the client reads it.
    expect(statuses.toSorted()).toEqual([...Array(6).fill(200), ...Array(6).fill(503)])
    const refused = await post(fixture, read)
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ code: 'overloaded' })
    expect((await post(fixture, ping)).status).toBe(200)
    const [gone, ...kept] = sockets.filter((_, index) => statuses[index] === 200)
    gone!.destroy()
    await expect.poll(async () => (await post(fixture, read)).status).toBe(200)
    const ended = Promise.all(kept.map((socket) => once(socket.resume(), 'close')))
    vi.advanceTimersByTime(120_000)
    await ended
    const again = await Promise.all(Array.from({ length: 6 }, () => post(fixture, read)))
    for (const response of again) expect((await messageOf(response)).result!.contents).toHaveLength(1)
  })

  it('for a file of control characters return base64, because JSON would need six characters for each', async () => {
    const fixture = await startNode()
    for (const [text, isText] of [
      ['\u0001'.repeat(1000), false],
      [`A page.\f\r\n${'"\\\n'.repeat(300)}`, true],
    ] as const) {
      const { result } = await messageOf(await post(fixture, await publishFile(fixture, text)))
      const { text: asText, blob } = result!.contents[0]!
      expect(asText).toBe(isText ? text : undefined)
      expect(blob).toBe(isText ? undefined : Buffer.from(text).toString('base64'))
    }
  })

  it('end when the node closes', async () => {
    const fixture = await startNode()
    expect((await post(fixture, ping)).status).toBe(200)
    await fixture.node.close()
    await expect(post(fixture, ping)).rejects.toThrow('fetch failed')
  })
})

it('the MCP library is loaded at the first MCP request', async () => {
  const code = `
    import { registerHooks } from 'node:module'
    let loaded = 0
    registerHooks({ load: (url, context, next) => (url.includes('modelcontextprotocol') && (loaded += 1), next(url, context)) })
    const { openRegistry } = await import('@skillstead/core')
    const { createNode } = await import('@skillstead/server')
    const registry = await openRegistry({ path: ':memory:' })
    const node = createNode(registry)
    await node.fetch(new Request('http://localhost/api/v1/skills'))
    const before = loaded
    const response = await node.fetch(new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    }))
    console.log(JSON.stringify({ before, after: loaded > 0, status: response.status }))
    node.close()
    await registry.close()`
  const args = ['--conditions=source', '--input-type=module', '-e', code]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: join(import.meta.dirname, '..') })
  expect(JSON.parse(stdout)).toEqual({ before: 0, after: true, status: 200 })
})

/** Publishes a skill with a file, and gives the message that asks for the file. */
async function publishFile({ api }: Fixture, content: string): Promise<object> {
  const skillMd = '---\nname: large\ndescription: Large.\n---\nText.\n'
  await api.publishSkill({ skillMd, files: [{ path: 'large.txt', content }] })
  return { ...ping, method: 'resources/read', params: { uri: 'skill://alice/large/large.txt' } }
}

/** Sends a message, and reads no more of the answer than its beginning. */
function takeNothing({ node }: Fixture, message: object): Socket {
  const body = JSON.stringify(message)
  const head =
    'POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n' +
    `Content-Length: ${body.length}\r\n\r\n`
  const socket = connect(node.port, '127.0.0.1', () => socket.write(head + body))
  socket.on('error', () => {})
  socket.once('readable', () => {})
  return socket
}

async function readStatus(socket: Socket): Promise<number> {
  if (socket.readableLength === 0) await once(socket, 'readable')
  return Number(/^HTTP\/1.1 (\d+)/.exec(String(socket.read(12)))![1])
}
