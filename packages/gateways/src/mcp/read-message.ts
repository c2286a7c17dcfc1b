import { checkJsonShape } from '@skillstead/core/internal'
import { limits, attempt, isRecord, toFields } from '@skillstead/protocol'
import type { GatewayCall, GatewayHost } from '../gateway.ts'

/** The error of a message, in JSON-RPC 2.0 form. */
export interface RpcError {
  readonly code: -32700 | -32600
  readonly message: string
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** Reject batches: MCP allowed them only from March to June 2025, and any number of calls would be charged as one. */
const notOne: RpcError = { code: -32600, message: 'Send one JSON-RPC message per request, as an object.' }

/** The single message of a request. Throws RegistryError for a body that is too large or truncated. */
export async function readMessage(
  host: GatewayHost,
  call: GatewayCall,
): Promise<{ message: Record<string, unknown> } | { error: RpcError }> {
  const bytes = await host.readBody(call, limits.bodyBytesDefault)
  checkJsonShape(bytes)
  const value = attempt<unknown>(() => JSON.parse(utf8.decode(bytes)))
  if (value === undefined) return { error: { code: -32700, message: 'The body is not JSON in UTF-8.' } }
  return isRecord(value) ? { message: value } : { error: notOne }
}

/**
 * The client's name in a message. From revision 2026-07-28 on every message has the name; before that revision only the
 * first message has it.
 */
export function readClientName(message: Record<string, unknown>): string | undefined {
  const params = toFields(message.params)
  const envelope = toFields(params['_meta'])
  const { name } = toFields(envelope['io.modelcontextprotocol/clientInfo'] ?? params.clientInfo)
  // Limited to 128 characters like the client header, because the name is sent to webhooks.
  return typeof name === 'string'
    ? name
        .slice(0, 128)
        .replaceAll(/\P{ASCII}|\p{Cc}/gu, '')
        .trim()
    : undefined
}
