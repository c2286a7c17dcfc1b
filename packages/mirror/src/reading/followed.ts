import type { StorageContext } from '@skillstead/core/internal'
import { listUpstreams } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'

/** The upstreams as they stand, the highest priority first. */
export interface Followed {
  list(): Promise<readonly Upstream[]>
  /** To be called when one of them changed here; what other processes do is seen within a second. */
  forget(): void
}

const keptMs = 1000

export function createFollowed({ database }: StorageContext): Followed {
  let kept: { readonly upstreams: Promise<readonly Upstream[]>; readonly atMs: number } | undefined
  return {
    async list() {
      const nowMs = performance.now()
      if (!kept || nowMs - kept.atMs > keptMs) {
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
