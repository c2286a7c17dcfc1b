import { RegistryError } from '@skillstead/protocol'
import type { NetworkMode } from '../types.ts'

/**
 * Converts a failure of an upstream to the error that the caller of a read gets. This error never states that a skill
 * does not exist or that the caller's request was wrong.
 */
export function toReadError(error: unknown, upstream: string, mode: NetworkMode): unknown {
  if (!(error instanceof RegistryError)) return error
  const { code, retryAfterSeconds } = error
  if (code === 'upstream_failed' || code === 'upstream_timeout') return error
  // The caller gets `offline` only if this node is in offline mode, not if the upstream is.
  if (code === 'offline' && mode === 'offline') return error
  const detail = `The request to '${upstream}' failed: ${error.message}`
  return new RegistryError('upstream_failed', detail, { cause: error, retryAfterSeconds })
}
