import type { Freshness } from '@skillstead/core/internal'
import { maxAgeSecondsDefault } from '../settings.ts'
import type { Upstream } from '../types.ts'

export interface Seen {
  readonly now: number
  /** When a change of the skill was last imported. */
  readonly syncedAt?: number
  /** Whether the last run for a read request failed or took too long. */
  readonly hasFailed: boolean
}

/** The freshness of a mirrored skill or list. If its upstream was removed, its age grows from the last import. */
export function toFreshness(upstream: Upstream | undefined, { now, syncedAt = 0, hasFailed }: Seen): Freshness {
  const vouchedAt = Math.max(syncedAt, upstream ? toVouchedAt(upstream) : 0)
  const ageSeconds = Math.floor(Math.max(0, now - vouchedAt) / 1000)
  const maxAgeSeconds = upstream?.settings.maxAgeSeconds ?? maxAgeSecondsDefault
  const isOld = maxAgeSeconds > 0 && ageSeconds > maxAgeSeconds
  const isBroken = upstream !== undefined && (upstream.error !== null || upstream.alarm !== null)
  return { ageSeconds, stale: isOld || isBroken || hasFailed }
}

/**
 * The freshness of a list from several upstreams: the age of the oldest data, and stale if the data of any upstream is
 * stale. Undefined without upstreams.
 */
export function toOldest(all: readonly Freshness[]): Freshness | undefined {
  if (all.length === 0) return undefined
  return { ageSeconds: Math.max(...all.map(({ ageSeconds }) => ageSeconds)), stale: all.some(({ stale }) => stale) }
}

/** When the upstream last confirmed its data. For a bundle this is the time of its checkpoint, not of its import. */
function toVouchedAt({ kind, syncedAt, checkpointAt, createdAt }: Upstream): number {
  if (kind === 'bundle' && checkpointAt !== null) return checkpointAt
  return syncedAt ?? createdAt
}
