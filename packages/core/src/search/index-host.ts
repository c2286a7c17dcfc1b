import { setImmediate } from 'node:timers/promises'
import type { ViewerKeys } from '../visibility/audience.ts'
import type { SearchDocument } from './search-document.ts'
import { createSearchIndex, type IndexQuery, type SearchHits, type SkillCounts } from './search-index.ts'

/** The index in memory, in the thread of the caller or in a thread of its own. */
export interface IndexHost {
  /** Number of skills. */
  readonly size: number
  readonly hasThread: boolean
  /** Adds or replaces skills. Resolves when the queue has room for more; a later search finds the skills. */
  put(documents: readonly SearchDocument[]): Promise<void>
  /** Resolves when the index contains all skills that were put; rejects if the index is lost. */
  flush(): Promise<void>
  putCounts(counts: readonly SkillCounts[]): void
  remove(ids: readonly number[]): void
  search(query: IndexQuery): Promise<SearchHits>
  suggest(q: string, limit: number, viewer: ViewerKeys): Promise<string[]>
  /** Ends the thread of the index: running searches fail, and later changes are ignored. */
  close(): void
}

/** Milliseconds for which one call may block the event loop. */
const indexBatchMs = 10

/** Creates an empty index in the thread of the caller. */
export function createIndexHere(): IndexHost {
  const index = createSearchIndex()
  return {
    get size() {
      return index.size
    },
    hasThread: false,
    /** Yields to the event loop after each batch of {@link indexBatchMs}. */
    async put(documents) {
      let startedMs = performance.now()
      for (const document of documents) {
        index.put(document)
        if (performance.now() - startedMs < indexBatchMs) continue
        await setImmediate()
        startedMs = performance.now()
      }
    },
    async flush() {},
    putCounts: (counts) => counts.forEach((one) => index.putCounts(one)),
    remove: (ids) => ids.forEach((id) => index.remove(id)),
    search: async (query) => index.search(query),
    suggest: async (q, limit, viewer) => index.suggest(q, limit, viewer),
    close() {},
  }
}
