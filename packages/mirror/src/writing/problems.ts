import { RegistryError, type ErrorCode } from '@skillstead/protocol'
import type { WriteProblem } from '../write-types.ts'

/** A problem that the operator or the user must resolve, because a retry does not help. */
export class WriteConflict extends Error {
  readonly code: WriteProblem['code']

  constructor(code: WriteProblem['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** The codes of temporary errors, after which the write may succeed later. */
const temporaryCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'internal',
  'offline',
  'overloaded',
  'rate_limited',
  'shutting_down',
  'upstream_failed',
  'upstream_timeout',
])
const messageCharactersMax = 1000

/** Converts a write's error to the problem stored with the write. `isTemporary`: whether a retry may succeed. */
export function toStoredProblem(error: unknown, at: number): WriteProblem & { readonly isTemporary: boolean } {
  if (error instanceof WriteConflict) return { ...toWriteProblem(error.code, error.message, at), isTemporary: false }
  if (!(error instanceof RegistryError)) {
    return {
      ...toWriteProblem(
        'internal',
        'The write failed with an internal error. The log of this node has the details.',
        at,
      ),
      isTemporary: true,
    }
  }
  // With `Retry-After`, a conflict means that the upstream is still processing an earlier request of this write.
  const isRunning = error.code === 'conflict' && error.retryAfterSeconds !== undefined
  return { ...toWriteProblem(error.code, error.message, at), isTemporary: isRunning || temporaryCodes.has(error.code) }
}

function toWriteProblem(code: WriteProblem['code'], message: string, at: number): WriteProblem {
  return { code, message: message.slice(0, messageCharactersMax).toWellFormed(), at }
}
