import { randomBytes } from 'node:crypto'
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Caller, Registry } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import Negotiator from 'negotiator'
import { createSdkServer } from './create-mcp-server.ts'
import type { OnError } from './failures.ts'
import { localCatalogue } from './local-catalogue.ts'

/**
 * Responds to one message of a client, of any protocol revision. Keeps no state: a new server is created for each
 * message. A subscription is acknowledged and ended at once, because the server declares no notifications.
 */
export async function answerMessage(
  api: RegistryApi,
  message: object,
  request: Request,
  { registry, caller, onError }: { registry: Registry; caller: Caller; onError: OnError },
): Promise<{ readonly response: Response; readonly body: Uint8Array }> {
  const catalogue = localCatalogue(registry, caller)
  const embedded = new Map<string, Buffer>()
  const embed = (json: Buffer) => {
    const placeholder = randomBytes(placeholderBytes).toString('base64')
    embedded.set(placeholder, json)
    return placeholder
  }
  const make = () => createSdkServer(api, { catalogue, onError }, embed)
  const isAsJson = prefersJson(request) && (await isLegacyRequest(request, message))
  const response = isAsJson
    ? await answerAsJson(make(), message, request)
    : await createMcpHandler(make, { keepAliveMs: 0 }).fetch(request, { parsedBody: message })
  let body: Uint8Array = new Uint8Array(await response.arrayBuffer())
  for (const [placeholder, json] of embedded) body = replacePlaceholder(body, placeholder, json)
  return { response, body }
}

/**
 * Whether the client prefers JSON to an event stream, or accepts both equally (RFC 9110, section 12.5.1). True without
 * `Accept`.
 */
function prefersJson({ headers }: Request): boolean {
  const negotiator = new Negotiator({ headers: { accept: headers.get('accept') ?? undefined } })
  return negotiator.mediaType(['application/json', 'text/event-stream']) === 'application/json'
}

/**
 * Answers a message of a revision before 2026-07-28 as JSON, which these revisions also allow (MCP 2025-11-25,
 * Transports). The library requires both types in `Accept`, but many clients that read only JSON name only JSON.
 */
async function answerAsJson(server: McpServer, message: object, request: Request): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  const headers = new Headers(request.headers)
  headers.set('accept', 'application/json, text/event-stream')
  const asked = new Request(request.url, { method: request.method, headers, signal: request.signal })
  try {
    return await transport.handleRequest(asked, { parsedBody: message })
  } finally {
    await server.close()
  }
}

/** Size of a placeholder: enough that no other text of the answer contains it, and no padding in base64. */
const placeholderBytes = 24

function replacePlaceholder(body: Uint8Array, placeholder: string, json: Buffer): Uint8Array {
  const at = Buffer.from(body.buffer, body.byteOffset, body.byteLength).indexOf(placeholder)
  if (at === -1)
    throw new Error('The MCP library changed the placeholder of a file, so the file cannot be sent. Report this bug.')
  return Buffer.concat([body.subarray(0, at), json, body.subarray(at + placeholder.length)])
}
