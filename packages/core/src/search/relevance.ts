import type { DocumentTable } from './document-table.ts'
import type { Scoreboard } from './scoreboard.ts'
import type { SentenceScorer } from './sentence-scorer.ts'
import type { TermGroup } from './term-groups.ts'
import type { TextIndex } from './text-index.ts'
import { topSlots } from './top-slots.ts'

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
export function rankByRelevance(
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
export interface Ranking {
  board: Scoreboard
  sentences: SentenceScorer
  table: DocumentTable
  text: TextIndex
}
