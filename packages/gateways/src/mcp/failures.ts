import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server'
import { RegistryError } from '@skillstead/protocol'

/** Called with internal errors. */
export type OnError = (error: unknown) => void

/** The result of a refused tool call: the error message, for the agent to act on. */
export function toToolFailure(error: unknown, onError: OnError): CallToolResult {
  return { content: [{ type: 'text', text: toFailureSentence(error, onError) }], isError: true }
}

/**
 * The protocol error for a failure of a method other than a tool call. Errors of the caller become invalid parameters.
 */
export function toProtocolError(error: unknown, onError: OnError): ProtocolError {
  if (error instanceof ProtocolError) return error
  const sentence = toFailureSentence(error, onError)
  const isTheirs = error instanceof RegistryError && error.status < 500 && error.code !== 'rate_limited'
  return new ProtocolError(isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, sentence)
}

/**
 * The codes for a skill or file that does not exist or that the caller may not see; clients get the same error in both
 * cases. `invalid_request` is one of them: a name, version or path that the schema refuses cannot exist.
 */
export const absentCodes = ['not_found', 'invalid_request'] as const

/** The message of an error for the client. Unknown errors are only logged, as they may contain a path or a query. */
function toFailureSentence(error: unknown, onError: OnError): string {
  if (error instanceof RegistryError && error.code !== 'internal') return error.message
  onError(error)
  return 'The registry failed. Its log has the reason.'
}
