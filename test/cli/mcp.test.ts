import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client as McpClientOfNow } from '@modelcontextprotocol/client'
import type { Client as FormerMcpClient } from '@modelcontextprotocol/sdk/client/index.js'
import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { listenNode, type ListeningNode } from '@skillstead/server'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { toChildEnvironment } from '../support/child-environment.ts'
import { makeFolder, skillstead } from '../support/cli-harness.ts'
import {
  Client,
  FormerClient,
  FormerStdioTransport,
  SkillsClient,
  StdioClientTransport,
  modes,
  type McpClient,
  callTool,
} from '../support/mcp-harness.ts'
import { openRegistry } from '../support/open-registry.ts'

const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

describe('skillstead mcp', () => {
  let data: string
  let registry: Registry
  let node: ListeningNode
  let key: string
  beforeAll(async () => {
    data = await makeFolder()
    registry = await openRegistry({ path: join(data, 'skillstead.db') })
    key = (await localApi(registry, systemCaller).createUser({ username: 'alice' })).key
    const alice = localApi(registry, await registry.getCaller('alice'))
    await alice.publishSkill({ skillMd: skillMd('pdf'), files: [{ path: 'scripts/fill.py', content: 'pass\n' }] })
    await alice.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
    node = await listenNode(registry, { port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await node.close()
    await registry.close()
  })

  it.each(['auto', 'legacy', 'pinned', 'v1'] as const)(
    'serves a registry in a folder or on a node to an agent host (%s)',
    async (mode) => {
      const place = mode === 'auto' || mode === 'v1' ? ['--data', data] : ['--url', node.url]
      const client = mode === 'v1' ? await connectFormer(place) : await connect(place, mode)
      const found = await callTool(client, 'search_skills', { query: 'pdf' })
      expect(found.value).toMatchObject({ total: 1, skills: [{ fullName: 'alice/pdf' }] })
      const loaded = await callTool(client, 'load_skill', { name: 'pdf', level: 'full' })
      expect(loaded.value).toMatchObject({ metadata: { fullName: 'alice/pdf', version: '1.0.0' } })
      const { contents } = await (client as McpClient).readResource({ uri: 'skill://alice/pdf/SKILL.md' })
      expect(contents[0]!.text).toBe(skillMd('pdf'))
      // The operator of files sees everything; the agent of a host is not the operator.
      expect(await callTool(client, 'load_skill', { name: 'alice/secret' })).toMatchObject({ isError: true })
    },
  )

  it("shows the user's own private skills, verifies content, and accepts reviews by an agent with its token", async () => {
    const registered = { agentKey: 'host:1', displayName: 'Host', platformId: 'host' }
    const { agentToken } = await localApi(registry).registerAgent(registered)
    for (const place of [
      ['--data', data, '--user', 'alice'],
      ['--url', node.url, '--key', key],
    ]) {
      const client = await connect([...place, '--agent-token', agentToken!])
      const host = new SkillsClient(client)
      const { skills } = await host.list()
      const uris = skills.map(({ uri }) => uri).toSorted()
      expect(uris).toEqual(['skill://alice/pdf/SKILL.md', 'skill://alice/secret/SKILL.md'])
      const pdf = skills.find(({ uri }) => uri.includes('/pdf/'))!
      for (const { uri } of pdf.resources as { uri: string }[]) {
        expect(await host.read(pdf, uri)).toMatchObject({ verified: true })
      }
      const review = { name: 'pdf', agentKey: 'host:1', rating: 4, content: `Good at ${place[0]}.` }
      const { value } = await callTool(client, 'report_review', review)
      expect(value).toMatchObject({ content: review.content, authenticated: true })
    }
  })

  it('reports to the agent host that the node is unavailable, and continues to serve', async () => {
    const client = await connect(['--url', 'http://127.0.0.1:9'])
    const { isError, content } = await callTool(client, 'search_skills', { query: 'pdf' })
    expect(isError).toBe(true)
    expect(content[0]!.text).toContain('127.0.0.1:9')
    await expect(new SkillsClient(client).list()).rejects.toMatchObject({ code: -32603 })
    expect((await client.listTools()).tools).toHaveLength(4)
  })

  it('searches a node with GET, or with POST if the query is too long for a URL or a project context is given', async () => {
    const asked: string[] = []
    const server = createServer(({ method, url }, response) => {
      asked.push(`${method} ${url!.split('?')[0]}`)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ skills: [], total: 0, page: 1, totalPages: 0, filters: {} }))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const client = await connect(['--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`])
    for (const input of [{}, { query: 'pdf '.repeat(300) }, { context: { languages: ['Go'] } }])
      await callTool(client, 'search_skills', { query: 'pdf', ...input })
    const searches = asked.filter((line) => /search|skills$/.test(line))
    expect(searches).toEqual(['GET /api/v1/skills', 'POST /api/v1/search', 'POST /api/v1/search'])
  })

  it('writes only protocol messages to standard output for any input, and exits when the input ends', async () => {
    const { command, args, env } = commandOf(['--data', data, '--json'])
    const child = spawn(command, args, { env })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (err += chunk))
    // Not `exit`, after which there may be more to read.
    const ended = new Promise((resolve) => child.once('close', resolve))
    const lines = [
      'no JSON',
      '[]',
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}',
      '{"jsonrpc":"2.0","id":2,"method":"unknown/method"}',
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"load_skill","arguments":{"name":"unknown-user/nothing"}}}',
      '{"jsonrpc":"2.0","id":4,"method":"skills/list","params":{}}',
    ]
    child.stdin.write(`${lines.join('\n')}\n`)
    // In whatever order: what is not answered when the input ends is given up.
    await expect.poll(() => [2, 3, 4].every((id) => out.includes(`"id":${id}`))).toBe(true)
    child.stdin.end()
    expect(await ended).toBe(0)
    const messages = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true)
    const byId = (id: number) => messages.find((message) => message.id === id)
    expect(byId(2).error.code).toBe(-32601)
    expect(byId(3).result).toMatchObject({ isError: true })
    expect(byId(4).result.skills).toHaveLength(1)
    expect(err).toBe('')
  })

  it('reports a missing registry on standard error only', async () => {
    const none = await skillstead(['mcp'], { env: { HOME: data, XDG_CONFIG_HOME: data } })
    expect(none).toMatchObject({ code: 2, stdout: '' })
    expect(none.stderr).toContain('The registry is missing')
    const empty = await skillstead(['mcp', '--data', join(data, 'absent')])
    expect(empty).toMatchObject({ code: 1, stdout: '' })
    expect(empty.stderr).toContain('There is no registry in')
  })
})

function commandOf(args: readonly string[]) {
  return {
    command: process.execPath,
    args: ['--conditions=source', main, 'mcp', ...args],
    env: toChildEnvironment(),
    stderr: 'pipe' as const,
  }
}

async function connect(args: readonly string[], mode: keyof typeof modes = 'auto'): Promise<McpClientOfNow> {
  const client = new Client({ name: 'host', version: '1.0.0' }, { versionNegotiation: modes[mode] })
  await client.connect(new StdioClientTransport(commandOf(args)))
  onTestFinished(() => client.close())
  return client
}

async function connectFormer(args: readonly string[]): Promise<FormerMcpClient> {
  const client = new FormerClient({ name: 'host', version: '1.0.0' })
  await client.connect(new FormerStdioTransport(commandOf(args)))
  onTestFinished(() => client.close())
  return client
}
