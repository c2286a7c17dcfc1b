import type { StorageContext } from '@skillstead/core/internal'
import { listUpstreams } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'

/** A cached list of the upstreams, the highest priority first. */
export interface Followed {
  list(): Promise<readonly Upstream[]>
  /**
   * Clears the cache. Called when this process changes an upstream; changes by other processes appear within a second.
   */
  forget(): void
}

const cacheMs = 1000

export function createFollowed({ database }: StorageContext): Followed {
  let kept: { readonly upstreams: Promise<readonly Upstream[]>; readonly atMs: number } | undefined
  return {
    async list() {
      const nowMs = performance.now()
      if (!kept || nowMs - kept.atMs > cacheMs) {
        const reading = { upstreams: listUpstreams(database.read), atMs: nowMs }
        reading.upstreams.catch(() => {
          if (kept === reading) kept = undefined
        })
        kept = reading
      }
      return kept.upstreams
    },
    forget: () => void (kept = undefined),
  }
}
