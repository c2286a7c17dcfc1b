import type { SearchFacets, SearchFilters } from '@skillstead/protocol'
import { DocumentTable, type ListSort } from './document-table.ts'
import { countFacets } from './facets.ts'
import { explainMatch, type SearchMatch } from './explanation.ts'
import { Lexicon } from './lexicon.ts'
import { NeedIndex } from './need-index.ts'
import { type TermValues, valuesOf } from './passage.ts'
import { mayNameSkill, Ranking } from './ranking.ts'
import { Scoreboard } from './scoreboard.ts'
import type { ViewerKeys } from '../visibility/audience.ts'
import type { SearchDocument } from './search-document.ts'
import { completeQuery } from './suggest.ts'
import { toTermGroups } from './term-groups.ts'
import { TextIndex } from './text-index.ts'
import { hashStem } from './words/count-stems.ts'
import { joinVector } from './words/term-vector.ts'
import { parseNeed, parseQuery } from './words/tokenize.ts'
import { topSlots } from './top-slots.ts'

/** A search for skills. */
export interface SearchQuery {
  /** The search text; `''` matches everything that passes the filters. */
  q: string
  /** Default: by relevance if `q` is set, otherwise by downloads. */
  sort?: ListSort
  /** Number of hits to skip; a non-negative integer, as is `limit`. */
  offset: number
  limit: number
  /** Id of the viewer, who is a user; null for a guest. */
  viewer: string | null
  filters: SearchFilters
  /**
   * Words from the context of the search. They do not change which skills match, or the scores: among matches of almost
   * equal relevance, those that contain the words come first.
   */
  context?: readonly string[]
  /** Adds `matches` and `values` to the result. */
  explain?: boolean
  /** Adds `facets` to the result if the index in memory is searched. */
  facets?: boolean
}

/** A search of the index, which knows the keys of the viewer instead of the id: see `readKeysOf`. */
export interface IndexQuery extends Omit<SearchQuery, 'viewer'> {
  viewer: ViewerKeys
}

/** The counters of a skill. */
export interface SkillCounts {
  readonly id: number
  readonly downloads: number
  readonly stars: number
}

/** A page of search results. */
export interface SearchHits {
  ids: number[]
  /** Number of hits on all pages. */
  total: number
  /** Set if `total` is an estimate. */
  estimated?: true
  /** The values of the filters among all hits, with their counts. */
  facets?: SearchFacets
  /** Set if words of the query, completions, or skills with frequent words were left out because of the cost limit. */
  partial?: true
  /** In the order of `ids`; only for a query with words and `explain`. */
  matches?: SearchMatch[]
  /** The values of the query's terms and of the words that matched; only with `matches`. */
  values?: TermValues
}

/**
 * The search index in memory. All methods are synchronous: the next search finds what was put.
 *
 * A search returns the skills whose name, description or other short texts match the query, and the skills whose whole
 * text answers a described need. Evidence in short texts that covers most of a query comes first; `sort` only changes
 * the order.
 *
 * @example
 * const index = createSearchIndex()
 * index.put(document)
 * index.search({ q: 'fill pdf forms', offset: 0, limit: 20, viewer: null, filters: { includeStubs: false } })
 */
class SearchIndex {
  readonly #table = new DocumentTable()
  readonly #text = new TextIndex()
  readonly #board = new Scoreboard()
  readonly #needs = new NeedIndex()
  readonly #ranking = new Ranking(this.#board, this.#table, this.#text)

  /** Number of skills. */
  get size(): number {
    return this.#table.size
  }

  /** Adds or replaces a skill. The text is indexed again only if the text changed. */
  put(document: SearchDocument): void {
    const slot = this.#table.put(document)
    if (!this.#text.put(slot, document)) return
    const { content = new Uint8Array() } = document
    const vector = joinVector(content, this.#text.weightsAt(slot, { hasContent: content.length > 0 }))
    this.#needs.put(slot, vector, document.audience)
  }

  /** Sets the counters of a skill; ignores an unknown skill. */
  putCounts({ id, downloads, stars }: SkillCounts): void {
    const slot = this.#table.findSlot(id)
    if (slot !== undefined) this.#table.putCounters(slot, downloads, stars)
  }

  /** Removes a skill; ignores an unknown skill. */
  remove(id: number): void {
    const slot = this.#table.findSlot(id)
    if (slot === undefined) return
    this.#text.remove(slot)
    this.#needs.remove(slot)
    this.#table.remove(id)
  }

  /** Finds skills. Never throws, whatever `q` contains. */
  search(query: IndexQuery): SearchHits {
    const table = this.#table
    const text = this.#text
    const isSeen = table.seenBy(query.viewer)
    const passes = table.matcher(isSeen, query.filters)
    if (query.q.trim() === '') return this.#list(query, passes)
    const lexicon = new Lexicon(text, isSeen, query.viewer)
    const isVisible = table.matcher(isSeen, { includeStubs: query.filters.includeStubs })
    const audience = { size: lexicon.size, isGuest: query.viewer === null }
    // No maximum of words here: the index reads the rarest terms.
    const { words, isCut } = parseNeed(query.q, Infinity)
    const hashes = new Set(words.map(hashStem))
    const among = { audience, end: table.end, isVisible }
    const need = this.#needs.score(hashes, among)
    const readsNames = mayNameSkill(need)
    const groups = readsNames || query.explain ? toTermGroups(parseQuery(query.q), text, lexicon) : []
    this.#board.reset(table.end)
    if (readsNames) this.#board.addGroups(groups, { text, lexicon }, isVisible)
    const slots = this.#ranking.rank({ groups, named: this.#board.matches(passes), need }, passes)
    const context = new Set(query.context?.map(hashStem).filter((hash) => !hashes.has(hash)))
    // The scores of the context replace the scores of the need.
    const keys =
      context.size === 0 ? this.#ranking.keys : this.#ranking.keysIn(this.#needs.score(context, among), slots)
    const page = topSlots(slots, query.sort ? table.keysOf(query.sort) : keys, table.ranks(), query.offset, query.limit)
    const hits = this.#toHits(query, page, slots)
    if (need.isPartial || isCut || lexicon.isCut) hits.partial = true
    if (!query.explain) return hits
    const matches = hits.ids.map((id) => {
      const slot = table.findSlot(id)!
      return explainMatch(slot, this.#ranking.scoreAt(slot), { groups, stems: need.values }, text)
    })
    return { ...hits, matches, values: valuesOf(need.values, matches) }
  }

  /** Completions for a search box, best first, from skills that the viewer may see. */
  suggest(q: string, limit: number, viewer: ViewerKeys): string[] {
    return completeQuery(q, limit, viewer, { table: this.#table, text: this.#text })
  }

  #list(query: IndexQuery, passes: (slot: number) => boolean): SearchHits {
    const table = this.#table
    const { viewer, filters, offset, limit } = query
    const sort = query.sort ?? 'downloads'
    const total = query.facets ? undefined : table.count(viewer, filters)
    if (total === undefined) {
      const passing = table.slots(passes)
      return this.#toHits(query, topSlots(passing, table.keysOf(sort), table.ranks(), offset, limit), passing)
    }
    const slots = table.slotsBy(sort)
    const page: number[] = []
    let skipped = 0
    for (let i = 0; i < slots.length && page.length < limit; i++) {
      if (passes(slots[i]!) && skipped++ >= offset) page.push(slots[i]!)
    }
    return { ids: page.map((slot) => table.idAt(slot)), total }
  }

  #toHits({ facets }: IndexQuery, page: readonly number[], slots: Int32Array): SearchHits {
    const ids = page.map((slot) => this.#table.idAt(slot))
    return { ids, total: slots.length, ...(facets && { facets: countFacets(this.#table.rowsAt(slots)) }) }
  }
}

/** Creates an empty index. The benchmark calls this function of two revisions. */
export function createSearchIndex(): SearchIndex {
  return new SearchIndex()
}
