import { DocumentTable, type SearchFilters } from './document-table.ts'
import { explainMatch, type SearchMatch } from './explanation.ts'
import { Lexicon } from './lexicon.ts'
import { Scoreboard } from './scoreboard.ts'
import type { SearchDocument } from './search-document.ts'
import { SentenceScorer } from './sentence-scorer.ts'
import { suggest } from './suggest.ts'
import { type TermGroup, toTermGroups } from './term-groups.ts'
import { TextIndex } from './text-index.ts'
import { parseQuery } from './tokenize.ts'
import { topSlots } from './top-slots.ts'

export type { SearchFilters } from './document-table.ts'
export type { SearchDocument } from './search-document.ts'

/** A search for skills. */
export interface SearchQuery {
  /** The search text; `''` matches everything that passes the filters. */
  q: string
  /** Default: by relevance if `q` is set, otherwise by downloads. */
  sort?: 'downloads' | 'recent' | 'stars'
  /** Number of hits to skip; a non-negative integer, as is `limit`. */
  offset: number
  limit: number
  /** User id of the viewer, null for a guest. */
  viewer: string | null
  filters: SearchFilters
  /** Adds `matches` to the result. */
  explain?: boolean
}

/** A page of search results. */
export interface SearchHits {
  ids: number[]
  /** Exact number of hits on all pages. */
  total: number
  /** In the order of `ids`; only for a query with words and `explain`. */
  matches?: SearchMatch[]
}

/** The search index in memory. All methods are synchronous: the next search finds what was put. */
export interface SearchIndex {
  /** Number of skills. */
  readonly size: number
  /** Adds or replaces a skill. Its text is indexed again only if it changed. */
  put(document: SearchDocument): void
  /** Sets the counters of a skill; ignores an unknown one. */
  putCounters(id: number, counters: { downloads: number; stars: number }): void
  /** Removes a skill; ignores an unknown one. */
  remove(id: number): void
  /** Finds skills. Never throws, whatever `q` contains. */
  search(query: SearchQuery): SearchHits
  /** Completions for a search box, best first, from skills that the viewer may see. */
  suggest(q: string, limit: number, viewer: string | null): string[]
}

/**
 * Creates an empty index.
 *
 * A search finds the skills that are relevant to the whole query, those with all terms first; `sort` only changes their
 * order.
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

/**
 * Weights of relevance, relative to coverage (1): the share of the query's terms that occur anywhere in the skill. The
 * others were tuned on the open corpus, with its own queries and with queries generated from its skills. A higher
 * weight for sentences helps queries with a wrong word, and hurts those whose words are in different sentences.
 */
const weights = {
  /** Coverage by the best sentence, with a bonus for adjacent terms. */
  sentence: 0.9,
  /** The name equals the query. */
  name: 0.3,
  /** BM25F score of the words by frequency and field. */
  text: 0.1,
  /** Downloads and stars: only enough to decide near-ties. */
  popularity: 0.02,
  /** The owner deprecated it. */
  deprecated: -0.1,
}
const textHalf = 4

/** Number of best matches whose sentences are scored. The others keep the order by words. */
const readMax = 150

/**
 * Computes the sort key of each match. Keys depend only on the query and the viewer, so that pages are consistent.
 * Scoring sentences only increases keys, so no match without sentence scores overtakes one with them.
 */
function rankByRelevance(
  slots: Int32Array<ArrayBuffer>,
  groups: TermGroup[],
  { board, sentences, table, text }: Ranking,
): void {
  const total = groups.reduce((sum, group) => sum + group.idf, 0)
  const { coverage, keys, text: scores } = board
  const { popularity } = table
  for (const slot of slots) {
    const words = scores[slot]! / total
    keys[slot] =
      coverage[slot]! / total +
      (weights.text * words) / (words + textHalf) +
      weights.popularity * popularity[slot]! +
      (table.isDeprecated(slot) ? weights.deprecated : 0)
  }
  sentences.prepare(groups, text.vocabulary.end)
  for (const slot of topSlots(slots, board.keys, table.order.ranks(), 0, readMax)) {
    const { best, name } = sentences.read(text.wordsAt(slot))
    board.keys[slot]! += weights.sentence * best + weights.name * name * name
  }
}

/** The state that ranking reads and writes. */
interface Ranking {
  board: Scoreboard
  sentences: SentenceScorer
  table: DocumentTable
  text: TextIndex
}
