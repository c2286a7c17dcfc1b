import type { DocumentTable } from './document-table.ts'
import { growArray } from './postings/grow-array.ts'
import type { NeedScores } from './need-index.ts'
import type { Scoreboard } from './scoreboard.ts'
import { SentenceScorer } from './sentence-scorer.ts'
import type { TermGroup } from './term-groups.ts'
import type { TextIndex } from './text-index.ts'
import { topSlots } from './top-slots.ts'

/**
 * Weights of relevance by short texts, relative to coverage (1): the share of the query's terms that occur anywhere in
 * the short texts. The other weights were tuned on the open corpus, with its own queries and with queries generated
 * from its skills. A higher weight for sentences helps queries with a wrong word, and hurts queries whose words are in
 * different sentences.
 */
const relevanceWeights = {
  /** Coverage by the best sentence, with a bonus for adjacent terms. */
  sentence: 0.9,
  /** The name equals the query. */
  name: 0.3,
  /** BM25F score of the words by frequency and field. */
  text: 0.1,
  /** Downloads and stars: only enough to decide near-ties. */
  popularity: 0.02,
  /** The owner deprecated the skill. */
  deprecated: -0.1,
}
const textHalf = 4

/** Number of best matches whose sentences are scored. The other matches keep the order by words. */
const scoredSentencesMax = 150

/**
 * A sort key is relevance by need (0 to 1) plus relevance by short texts (0 to about 3), divided by `certainScore` and
 * raised to a high power. Above `certainScore`, the short texts contain the query as a phrase, or almost all of the query,
 * and decide the order. Far below `certainScore`, the short texts share a few words with a long query and do not count.
 */
const certainScore = 1.26
const certaintyPower = 8

/**
 * A match by need must reach this fraction of the best score by need. If the query has several terms, the match must
 * contain two of the terms: a skill that shares a single word with the query has another topic.
 */
const needFloor = 0.6
const needTermsMin = 2

/**
 * A query of more than `namingTermsMax` terms names a skill only if some skill contains the fraction `namingCountMin`
 * of the terms anywhere and reaches the fraction `namingScoreMin` of the highest possible score by need. Queries that
 * name a skill of the open corpus reach 0.8 and 0.32; of its described needs of 25 to 70 words, three quarters reach
 * neither fraction.
 */
const namingTermsMax = 4
const namingCountMin = 0.7
const namingScoreMin = 0.3

/**
 * The maximum that the context of a search adds to a key. The context decides only between matches with almost equal
 * keys: most neighbouring matches differ by more than this maximum.
 */
const contextWeight = 0.01

/**
 * Whether name, description and other short texts of a skill may contain most terms of a query: an estimate from the
 * scores of the search by need. Terms that no skill contains may be misspelled and count as contained.
 */
export function mayNameSkill({ termCount, countMax, unknownCount, best, scoreMax }: NeedScores): boolean {
  if (termCount <= namingTermsMax) return true
  const isCovered = countMax + unknownCount >= termCount * namingCountMin
  return isCovered && best / scoreMax + unknownCount / termCount >= namingScoreMin
}

/** The sort key of a match, from its relevance by short texts (0 to about 3) and by need (0 to 1). */
function joinRelevance(named: number, need: number): number {
  return (named / certainScore) ** certaintyPower + need
}

/** Converts a sort key to the public score: 0 to about 3. */
function toPublicScore(key: number): number {
  return certainScore * key ** (1 / certaintyPower)
}

/** What a search found. */
interface Found {
  readonly groups: TermGroup[]
  /** Slots that match by short texts. */
  readonly named: Int32Array<ArrayBuffer>
  readonly need: NeedScores
}

/** Computes the order of matches. The next search reuses the arrays. */
export class Ranking {
  /**
   * The sort key of each match, at the index of its slot. Keys do not depend on the requested page, so that pages are
   * consistent.
   */
  keys = new Float64Array(1024)
  #slots = new Int32Array(1024)
  #keysInContext = new Float64Array(0)
  readonly #board: Scoreboard
  readonly #table: DocumentTable
  readonly #text: TextIndex
  readonly #sentences = new SentenceScorer()

  constructor(board: Scoreboard, table: DocumentTable, text: TextIndex) {
    this.#board = board
    this.#table = table
    this.#text = text
  }

  /**
   * Returns the matches by short texts and by need that pass the filter, and sets their keys. Matches by need are compared
   * with the best score of all visible skills, before the filter, so that a filter only removes matches.
   */
  rank({ groups, named, need }: Found, passes: (slot: number) => boolean): Int32Array<ArrayBuffer> {
    this.#rankNamed(named, groups)
    if (this.#table.end > this.keys.length) {
      this.keys = growArray(this.keys, this.#table.end)
      this.#slots = new Int32Array(this.keys.length)
    }
    const { keys } = this
    const slots = this.#slots
    const names = this.#board.keys
    slots.set(named)
    let count = named.length
    for (const slot of named) keys[slot] = joinRelevance(names[slot]!, this.#needOf(slot, need))
    const least = Math.max(1, need.best * needFloor)
    const isNamed = this.#board.isFound
    const termsMin = Math.min(needTermsMin, need.termCount)
    for (let slot = 0; slot < need.end; slot++) {
      if (need.scores[slot]! < least || need.counts[slot]! < termsMin || isNamed(slot) || !passes(slot)) continue
      slots[count++] = slot
      keys[slot] = this.#needOf(slot, need)
    }
    return slots.subarray(0, count)
  }

  /** Returns the keys of the matches in a context, which was scored like a need. {@link scoreAt} does not change. */
  keysIn(context: NeedScores, slots: Int32Array<ArrayBuffer>): Float64Array {
    if (context.best === 0) return this.keys
    if (this.#keysInContext.length < this.keys.length) this.#keysInContext = new Float64Array(this.keys.length)
    for (const slot of slots)
      this.#keysInContext[slot] = this.keys[slot]! + (contextWeight * context.scores[slot]!) / context.best
    return this.#keysInContext
  }

  /** The score of a match in a public form: 0 to about 3. */
  scoreAt(slot: number): number {
    return toPublicScore(this.keys[slot]!)
  }

  /** Relevance by need: the share of the highest possible score, adjusted for popularity and deprecation. */
  #needOf(slot: number, { scores, scoreMax }: NeedScores): number {
    const score = scores[slot]!
    if (score === 0) return 0
    const factor = 1 + relevanceWeights.popularity * this.#table.popularity[slot]!
    return (score / scoreMax) * (this.#table.isDeprecated(slot) ? factor + relevanceWeights.deprecated : factor)
  }

  /**
   * Computes relevance by short texts. Scoring sentences only increases keys, so no match without sentence scores
   * overtakes a match with sentence scores.
   */
  #rankNamed(slots: Int32Array<ArrayBuffer>, groups: TermGroup[]): void {
    const total = groups.reduce((sum, group) => sum + group.idf, 0)
    const { coverage, keys, text: scores } = this.#board
    const table = this.#table
    for (const slot of slots) {
      const words = scores[slot]! / total
      keys[slot] =
        coverage[slot]! / total +
        (relevanceWeights.text * words) / (words + textHalf) +
        relevanceWeights.popularity * table.popularity[slot]! +
        (table.isDeprecated(slot) ? relevanceWeights.deprecated : 0)
    }
    this.#sentences.prepare(groups, this.#text.vocabulary.end)
    for (const slot of topSlots(slots, keys, table.ranks(), 0, scoredSentencesMax)) {
      const { best, name } = this.#sentences.read(this.#text.wordsAt(slot))
      keys[slot]! += relevanceWeights.sentence * best + relevanceWeights.name * name * name
    }
  }
}
