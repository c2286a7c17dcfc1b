import { RegistryError } from '@skillstead/protocol'
import type { NetworkMode } from '../types.ts'

/** What a caller is told of a failure upstream: never that something does not exist, nor anything about his own request. */
export function toReadError(error: unknown, upstream: string, mode: NetworkMode): unknown {
  if (!(error instanceof RegistryError)) return error
  const { code, retryAfterSeconds } = error
  if (code === 'upstream_failed' || code === 'upstream_timeout') return error
  // Another node's own mode is nothing that this one is in.
  if (code === 'offline' && mode === 'offline') return error
  const detail = `'${upstream}' could not be asked: ${error.message}`
  return new RegistryError('upstream_failed', detail, { cause: error, retryAfterSeconds })
}
