import type { DocumentTable } from './document-table.ts'
import type { Scoreboard } from './scoreboard.ts'
import type { SentenceScorer } from './sentence-scorer.ts'
import type { TermGroup } from './term-groups.ts'
import type { TextIndex } from './text-index.ts'
import { topSlots } from './top-slots.ts'

/**
 * What makes a skill relevant. Coverage counts 1: how much of what the query says the skill says anywhere. The others
 * were chosen by trying a few values each on the open corpus, with its own queries and with queries drawn from its skills.
 * More for sentences helps queries with a wrong word and harms those whose words stand in different sentences.
 */
const weights = {
  /** What its best sentence says of it, and terms next to each other there. */
  sentence: 0.9,
  /** Its name is the query. */
  name: 0.3,
  /** How often and in which fields its words stand. */
  text: 0.1,
  /** Downloads and stars: enough for near-ties only. */
  popularity: 0.02,
  /** The owner says not to use it. */
  deprecated: -0.1,
}
const textHalf = 4

/** So many of the best are read sentence by sentence; what comes after them stays in the order of its words. */
const readMax = 150

/**
 * Gives each match the key that it is ordered by. The keys depend on the query and the viewer alone, not on the page:
 * pages fit together. Reading sentences only ever adds, so nothing unread passes anything read.
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

/** What ranking works on. */
export interface Ranking {
  board: Scoreboard
  sentences: SentenceScorer
  table: DocumentTable
  text: TextIndex
}
