import { StdioServerTransport, serveStdio as serveOnTransport } from '@modelcontextprotocol/server/stdio'
import type { Readable, Writable } from 'node:stream'
import type { RegistryApi } from '@skillstead/protocol'
import { createSdkServer, type McpServerOptions } from './create-mcp-server.ts'

export type { Catalogue } from './catalogue.ts'
export type { McpServerOptions } from './create-mcp-server.ts'
export { localCatalogue } from './local-catalogue.ts'

/** A transport of the Model Context Protocol, such as a transport of `@modelcontextprotocol/server`. */
export interface McpTransport {
  /** Begins to receive messages. */
  start(): Promise<void>
  /** Sends a JSON-RPC message. */
  send(message: object): Promise<void>
  /** Ends the connection. */
  close(): Promise<void>
}

/** An MCP server for one connection. Declares only our own methods: the MCP library is bundled, not published. */
export interface RegistryMcpServer {
  /** Serves the client of a transport, and starts it. */
  connect(transport: McpTransport): Promise<void>
  /** Ends the connection. */
  close(): Promise<void>
}

/**
 * A registry as an MCP server, for one connection: four tools, and the skills extension
 * (`io.modelcontextprotocol/skills`) with every file of a skill as a resource. Returns only content that the caller of
 * `api` may see.
 *
 * @example
 * const server = createMcpServer(localApi(registry), { catalogue: localCatalogue(registry, guest) })
 * await server.connect(transport)
 */
export function createMcpServer(api: RegistryApi, options: McpServerOptions = {}): RegistryMcpServer {
  return createSdkServer(api, options)
}

/** Serves a registry to one client over two streams: one message per line. */
export function serveStdio(
  api: RegistryApi,
  { input, output }: { readonly input: Readable; readonly output: Writable },
  options: McpServerOptions = {},
): Pick<RegistryMcpServer, 'close'> {
  return serveOnTransport(() => createSdkServer(api, options), { transport: new StdioServerTransport(input, output) })
}
