import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server'
import { RegistryError } from '@skillstead/protocol'

/** Hears of errors that are nobody's mistake. */
export type OnError = (error: unknown) => void

/** What a tool that was refused answers: the sentence, for the agent to act on. */
export function toToolFailure(error: unknown, onError: OnError): CallToolResult {
  return { content: [{ type: 'text', text: toSentence(error, onError) }], isError: true }
}

/** The same for what is no tool: an error of the protocol. Invalid parameters are what the caller can mend. */
export function toProtocolError(error: unknown, onError: OnError): ProtocolError {
  if (error instanceof ProtocolError) return error
  const sentence = toSentence(error, onError)
  const isTheirs = error instanceof RegistryError && error.status < 500 && error.code !== 'rate_limited'
  return new ProtocolError(isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, sentence)
}

/** Whether something is not there for the caller, so that nothing tells a private skill from none. */
export function isAbsent(error: unknown): boolean {
  return error instanceof RegistryError && (error.code === 'not_found' || error.code === 'invalid_request')
}

/** What is unknown may hold a path or a query, so it stays here. */
function toSentence(error: unknown, onError: OnError): string {
  if (error instanceof RegistryError && error.code !== 'internal') return error.message
  onError(error)
  return 'The registry failed; its log says why.'
}
