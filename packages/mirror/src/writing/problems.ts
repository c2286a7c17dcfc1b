import { RegistryError, type ErrorCode } from '@skillstead/protocol'
import type { WriteProblem } from '../write-types.ts'

/** What only the operator, or the user, can settle. */
export class WriteConflict extends Error {
  readonly code: WriteProblem['code']

  constructor(code: WriteProblem['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** What goes well a moment later, or once the network is back. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'internal',
  'offline',
  'overloaded',
  'rate_limited',
  'shutting_down',
  'upstream_failed',
  'upstream_timeout',
])
const messageCharactersMax = 1000

/** Why a write did not arrive, and whether it may by itself. */
export function toProblem(error: unknown, at: number): WriteProblem & { readonly isPassing: boolean } {
  if (error instanceof WriteConflict) return { ...tell(error.code, error.message, at), isPassing: false }
  if (!(error instanceof RegistryError)) {
    return { ...tell('internal', 'Something went wrong on this side; the log has more.', at), isPassing: true }
  }
  // The first request of this very write is still running there.
  const isRunning = error.code === 'conflict' && error.retryAfterSeconds !== undefined
  return { ...tell(error.code, error.message, at), isPassing: isRunning || passing.has(error.code) }
}

function tell(code: WriteProblem['code'], message: string, at: number): WriteProblem {
  return { code, message: message.slice(0, messageCharactersMax).toWellFormed(), at }
}
