import { randomBytes } from 'node:crypto'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Caller, Registry } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import { createMcpServer } from './create-mcp-server.ts'
import type { OnError } from './failures.ts'
import { localCatalogue } from './local-catalogue.ts'

/**
 * Responds to one message of a client, of any protocol revision, without state: a new server is created for each
 * message. A subscription ends with its acknowledgement, because the server declares no notifications to subscribe to.
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
  const make = () => createMcpServer(api, { catalogue, onError }, embed)
  const handler = createMcpHandler(make, { keepAliveMs: 0 })
  const response = await handler.fetch(request, { parsedBody: message })
  let body: Uint8Array = new Uint8Array(await response.arrayBuffer())
  for (const [placeholder, json] of embedded) body = replacePlaceholder(body, placeholder, json)
  return { response, body }
}

/** Enough random bytes that no other text of the answer contains them; their base64 has no padding. */
const placeholderBytes = 24

function replacePlaceholder(body: Uint8Array, placeholder: string, json: Buffer): Uint8Array {
  const at = Buffer.from(body.buffer, body.byteOffset, body.byteLength).indexOf(placeholder)
  if (at === -1) throw new Error('The library for MCP changed the text that stands for a file.')
  return Buffer.concat([body.subarray(0, at), json, body.subarray(at + placeholder.length)])
}
