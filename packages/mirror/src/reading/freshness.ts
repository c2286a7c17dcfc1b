import type { Freshness } from '@skillstead/core/internal'
import { maxAgeSecondsDefault } from '../settings.ts'
import type { Upstream } from '../types.ts'

export interface Seen {
  readonly now: number
  /** When something of the skill came in last. */
  readonly syncedAt?: number
  /** Whether the newest try that somebody waited for failed. */
  readonly hasFailed: boolean
}

/** How fresh what came from an upstream is; what is not followed any more only ages. */
export function toFreshness(upstream: Upstream | undefined, { now, syncedAt = 0, hasFailed }: Seen): Freshness {
  const vouchedAt = Math.max(syncedAt, upstream ? toVouchedAt(upstream) : 0)
  const ageSeconds = Math.floor(Math.max(0, now - vouchedAt) / 1000)
  const maxAgeSeconds = upstream?.settings.maxAgeSeconds ?? maxAgeSecondsDefault
  const isOld = maxAgeSeconds > 0 && ageSeconds > maxAgeSeconds
  const isBroken = upstream !== undefined && (upstream.error !== null || upstream.alarm !== null)
  return { ageSeconds, stale: isOld || isBroken || hasFailed }
}

/** The oldest of several, which is what can be said of all together; undefined of none. */
export function toOldest(all: readonly Freshness[]): Freshness | undefined {
  if (all.length === 0) return undefined
  return { ageSeconds: Math.max(...all.map(({ ageSeconds }) => ageSeconds)), stale: all.some(({ stale }) => stale) }
}

/** A bundle says what was true when it was made. */
function toVouchedAt({ kind, syncedAt, checkpointAt, createdAt }: Upstream): number {
  if (kind === 'bundle' && checkpointAt !== null) return checkpointAt
  return syncedAt ?? createdAt
}
