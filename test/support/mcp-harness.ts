import type { Client as McpClientOfNow, ClientOptions } from '@modelcontextprotocol/client'
import type { Client as FormerMcpClient } from '@modelcontextprotocol/sdk/client/index.js'
import type { Registry } from '@skillstead/core'
import { listenNode, type ListenOptions } from '@skillstead/server'
import type { createMcpServer } from '@skillstead/gateways/mcp'
import { onTestFinished } from 'vitest'
import { importBuilt } from './built-packages.ts'
import type { TestUser } from './harness.ts'
import { steady } from './steady.ts'

const clients = await importBuilt(() => import('@modelcontextprotocol/client'))
export const { Client } = clients
export const { SkillsClient } = await importBuilt(() => import('@modelcontextprotocol/client/ext/skills'))
export const { StdioClientTransport } = await importBuilt(() => import('@modelcontextprotocol/client/stdio'))
/** The client of the library's first release, which most hosts have. */
export const { Client: FormerClient } = await importBuilt(() => import('@modelcontextprotocol/sdk/client/index.js'))
export const { StdioClientTransport: FormerStdioTransport } = await importBuilt(
  () => import('@modelcontextprotocol/sdk/client/stdio.js'),
)
const { StreamableHTTPClientTransport: FormerTransport } = await importBuilt(
  () => import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
)

/** How a client settles the revision of the protocol: by asking, as those of 2025 do, or by knowing it. */
export const modes = {
  auto: { mode: 'auto' },
  legacy: { mode: 'legacy' },
  pinned: { mode: { pin: '2026-07-28' } },
} as const satisfies Record<string, ClientOptions['versionNegotiation']>

/** What every client of the tests can do, of whatever release it is. */
export interface McpClient {
  getServerVersion(): { name: string; version: string } | undefined
  listTools(): Promise<{ tools: { name: string; inputSchema: object; annotations?: object }[] }>
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<ToolResult>
  listResources(): Promise<{ resources: { uri: string; name: string; description?: string }[] }>
  readResource(asked: { uri: string }): Promise<{ contents: ResourceContent[] }>
}

export interface ToolResult {
  readonly isError?: boolean
  readonly content: { readonly type: string; readonly text: string }[]
  /** The text of the result as a value; undefined for errors. */
  readonly value?: Record<string, unknown>
}

interface ResourceContent {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  readonly blob?: string
}

/** A node for the length of a test. */
export async function startMcp(registry: Registry, options: ListenOptions = {}) {
  const node = await listenNode(registry, { port: 0, host: '127.0.0.1', ...steady, graceMs: 1000, ...options })
  onTestFinished(() => node.close())
  const url = `${node.url}/mcp`
  return {
    node,
    url,
    connect: (mode: keyof typeof modes = 'auto', headers: Record<string, string> = {}) => connect(url, mode, headers),
    connectFormer: (headers: Record<string, string> = {}) => connectFormer(url, headers),
    /** One message as it stands. */
    post: (body: unknown, headers: Record<string, string> = {}) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}

/** A client of a server in this process, for the length of a test. */
export async function connectTo(server: ReturnType<typeof createMcpServer>): Promise<McpClientOfNow> {
  const [here, there] = clients.InMemoryTransport.createLinkedPair()
  await server.connect(there)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(here)
  onTestFinished(() => client.close())
  return client
}

async function connect(
  url: string,
  mode: keyof typeof modes,
  headers: Record<string, string>,
): Promise<McpClientOfNow> {
  const client = new Client({ name: 'test-agent', version: '1.0.0' }, { versionNegotiation: modes[mode] })
  await client.connect(new clients.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

async function connectFormer(url: string, headers: Record<string, string>): Promise<FormerMcpClient> {
  const client = new FormerClient({ name: 'test-agent', version: '1.0.0' })
  await client.connect(new FormerTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

/** Calls a tool. */
export async function callTool(
  client: unknown,
  name: string,
  input: Record<string, unknown> = {},
): Promise<ToolResult> {
  const result = await asClient(client).callTool({ name, arguments: input })
  return result.isError ? result : { ...result, value: JSON.parse(result.content[0]!.text) as Record<string, unknown> }
}

/** What the two releases of the client have in common; their types differ in what is not looked at here. */
export function asClient(client: unknown): McpClient {
  return client as McpClient
}

/** What signs a user in. */
export function bearer(user: TestUser) {
  return { authorization: `Bearer ${user.key}` }
}

/** The error that work ends with. */
export async function refusalOf(work: Promise<unknown>) {
  const error = (await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )) as { code: number; message: string } | undefined
  return { code: error?.code, message: error?.message ?? '' }
}
