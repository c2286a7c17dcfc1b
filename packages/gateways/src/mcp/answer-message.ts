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
export function answerMessage(
  api: RegistryApi,
  message: object,
  request: Request,
  { registry, caller, onError }: { registry: Registry; caller: Caller; onError: OnError },
): Promise<Response> {
  const catalogue = localCatalogue(registry, caller)
  const make = () => createMcpServer(api, { catalogue, onError })
  const handler = createMcpHandler(make, { keepAliveMs: 0 })
  return handler.fetch(request, { parsedBody: message })
}
