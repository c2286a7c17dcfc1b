import { DocumentTable } from './document-table.ts'
import type { SearchFilters } from './document-table.ts'
import { explainMatch } from './explanation.ts'
import type { SearchMatch } from './explanation.ts'
import { Lexicon } from './lexicon.ts'
import { rankByRelevance } from './relevance.ts'
import { Scoreboard } from './scoreboard.ts'
import type { SearchDocument } from './search-document.ts'
import { SentenceScorer } from './sentence-scorer.ts'
import { suggest } from './suggest.ts'
import { toTermGroups } from './term-groups.ts'
import { TextIndex } from './text-index.ts'
import { parseQuery } from './tokenize.ts'
import { topSlots } from './top-slots.ts'

export type { SearchFilters } from './document-table.ts'
export type { SearchDocument } from './search-document.ts'

/** A search for skills. */
export interface SearchQuery {
  /** What was typed; `''` finds everything that the filters let through. */
  q: string
  /** Undefined is relevance with `q` and downloads without. */
  sort?: 'downloads' | 'recent' | 'stars'
  /** How many hits to skip; whole and not negative, as is `limit`. */
  offset: number
  limit: number
  /** The id of the user who asks, null for a guest. */
  viewer: string | null
  filters: SearchFilters
  /** Adds `matches`. */
  explain?: boolean
}

/** A page of what was found. */
export interface SearchHits {
  ids: number[]
  /** How many there are on all pages; exact. */
  total: number
  /** In the order of `ids`; only when asked to explain a search with words. */
  matches?: SearchMatch[]
}

/** The search index in memory. All of it is synchronous: what was put is found by the next search. */
export interface SearchIndex {
  /** How many skills it holds. */
  readonly size: number
  /** Adds or replaces a skill. Its text is indexed again only when it changed. */
  put(document: SearchDocument): void
  /** Sets the counters of a skill; an unknown one is ignored. */
  putCounters(id: number, counters: { downloads: number; stars: number }): void
  /** Forgets a skill; an unknown one is ignored. */
  remove(id: number): void
  /** Finds skills. Never throws, whatever is in `q`. */
  search(query: SearchQuery): SearchHits
  /** Completions for a search box, best first, from what the viewer may see. */
  suggest(q: string, limit: number, viewer: string | null): string[]
}

/**
 * An empty index.
 *
 * A search finds the skills that are relevant to the whole query, those with all terms first; `sort` changes the order
 * alone.
 *
 * @example
 * const index = createSearchIndex()
 * index.put(document)
 * index.search({ q: 'fill pdf forms', offset: 0, limit: 20, viewer: null, filters: { includeStubs: false } })
 */
export function createSearchIndex(): SearchIndex {
  const table = new DocumentTable()
  const text = new TextIndex()
  const board = new Scoreboard()
  const sentences = new SentenceScorer()

  function search(query: SearchQuery): SearchHits {
    const matches = table.matcher(query.viewer, query.filters)
    if (query.q.trim() === '') return toHits(query, table.slots(matches), columnOf(query.sort))
    const lexicon = new Lexicon(text, table, query.viewer)
    const groups = toTermGroups(parseQuery(query.q), text, lexicon)
    board.reset(table.end)
    board.addGroups(
      groups,
      { text, lexicon },
      table.matcher(query.viewer, { includeStubs: query.filters.includeStubs }),
    )
    const slots = board.matches(matches)
    if (!query.sort || query.explain) rankByRelevance(slots, groups, { board, sentences, table, text })
    const hits = toHits(query, slots, query.sort ? columnOf(query.sort) : board.keys)
    if (!query.explain) return hits
    return { ...hits, matches: hits.ids.map((id) => explain(table.findSlot(id)!)) }

    function explain(slot: number): SearchMatch {
      return explainMatch(slot, board.keys[slot]!, groups, text)
    }
  }

  function toHits(query: SearchQuery, slots: Int32Array<ArrayBuffer>, keys: Float64Array): SearchHits {
    const page = topSlots(slots, keys, table.order.ranks(), query.offset, query.limit)
    return { ids: page.map((slot) => table.idAt(slot)), total: slots.length }
  }

  function columnOf(sort: SearchQuery['sort']): Float64Array {
    if (sort === 'recent') return table.publishedAt
    return sort === 'stars' ? table.stars : table.downloads
  }

  return {
    get size() {
      return table.size
    },
    put(document) {
      text.put(table.put(document), document)
    },
    putCounters(id, { downloads, stars }) {
      const slot = table.findSlot(id)
      if (slot !== undefined) table.putCounters(slot, downloads, stars)
    },
    remove(id) {
      const slot = table.findSlot(id)
      if (slot === undefined) return
      text.remove(slot)
      table.remove(id)
    },
    search,
    suggest: (q, limit, viewer) => suggest(q, limit, viewer, { table, text }),
  }
}
