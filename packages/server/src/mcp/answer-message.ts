import { createMcpHandler } from '@modelcontextprotocol/server'
import type { RegistryApi } from '@skillstead/protocol'
import { createMcpServer } from './create-mcp-server.ts'
import type { OnError } from './failures.ts'

/**
 * Answers one message of a client, of any revision of the protocol, and keeps nothing: every server is made for one
 * caller's one message. Subscriptions are refused, for nothing is told to anybody later.
 */
export function answerMessage(
  api: RegistryApi,
  message: object,
  request: Request,
  onError: OnError,
): Promise<Response> {
  const handler = createMcpHandler(() => createMcpServer(api, { onError }), { maxSubscriptions: 0, keepAliveMs: 0 })
  return handler.fetch(request, { parsedBody: message })
}
