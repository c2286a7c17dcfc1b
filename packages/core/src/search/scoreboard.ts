import type { Lexicon } from './lexicon.ts'
import { searchFields } from './search-document.ts'
import type { TermGroup } from './term-groups.ts'
import { fieldOf, frequencyOf, type TextIndex } from './text-index.ts'

/**
 * How each field counts in a search by words: the weight of a word, and how much a longer field reduces it. A short
 * name that consists only of the word ranks before a long name that contains the word. `fieldRules` has the rules for
 * the search by need.
 */
const shortFieldRules: Record<(typeof searchFields)[number], { weight: number; lengthShare: number }> = {
  name: { weight: 4, lengthShare: 1 },
  owner: { weight: 2, lengthShare: 0.5 },
  keywords: { weight: 3, lengthShare: 0.5 },
  description: { weight: 2, lengthShare: 0.5 },
  headings: { weight: 1, lengthShare: 0.5 },
  summary: { weight: 1, lengthShare: 0.5 },
  category: { weight: 1, lengthShare: 0.5 },
}
const fieldWeights = searchFields.map((field) => shortFieldRules[field].weight)
const lengthShares = searchFields.map((field) => shortFieldRules[field].lengthShare)
/** BM25's k1: how quickly further occurrences of a word stop counting. */
const saturation = 1.2
/** By field: the part of the saturation that does not depend on the length of the field. */
const lengthBases = lengthShares.map((share) => saturation * (1 - share))

/**
 * A match must reach this fraction of the best match's coverage, in which rare terms weigh more. A skill below it
 * shares a word with the query but has another topic. The limit is relative, because a long query may have no skill
 * with all its words.
 */
const relevanceFloor = 0.65

const slotStates = { unknown: 0, match: 1, other: 2, found: 3 } as const

/** All words, and the words that the viewer may know. */
interface Words {
  text: TextIndex
  lexicon: Lexicon
}

/** A word whose postings are scored. */
interface Word {
  /** The number of the word's group, from 1. */
  readonly group: number
  readonly value: number
  readonly id: number
  /** Whether the word also counts for skills in which no earlier word was found. */
  readonly isOpen: boolean
}

/** Factor that is larger than the rounding difference between sums of the same numbers in different orders. */
const roundingMargin = 1 + 1e-9

function highestOf({ variants }: TermGroup): number {
  return variants[0]?.value ?? 0
}

/** Scores of the skills that one search encounters, by slot. The next search reuses the arrays. */
export class Scoreboard {
  /** Sum of the values of the terms that a skill contains, each counted once. */
  coverage = new Float64Array(0)
  /** Score of all words in all fields (BM25F). */
  text = new Float64Array(0)
  /** Sort keys of the matches; set by the ranking. */
  keys = new Float64Array(0)
  #found = new Int32Array(0)
  #slots = new Int32Array(0)
  #count = 0
  /** The highest coverage of a match. */
  #best = 0
  #states = new Uint8Array(0)
  #lastGroups = new Uint8Array(0)
  /** By field: how much each word of the field reduces the score of a word. */
  readonly #lengthFactors = new Float64Array(searchFields.length)

  /**
   * The skills that are relevant to the whole query and pass the filter; the next search overwrites the array.
   * Relevance is relative to the best of all skills, before the filter: a filter only removes matches.
   */
  matches(passes: (slot: number) => boolean): Int32Array<ArrayBuffer> {
    const least = this.#best * relevanceFloor
    let count = 0
    for (let i = 0; i < this.#count; i++) {
      const slot = this.#slots[i]!
      if (this.#states[slot] !== slotStates.match || this.coverage[slot]! < least || !passes(slot)) continue
      this.#found[count++] = slot
      this.#states[slot] = slotStates.found
    }
    return this.#found.subarray(0, count)
  }

  /** Whether {@link matches} returned the slot. */
  readonly isFound = (slot: number): boolean => this.#states[slot] === slotStates.found

  /** Clears the last search and makes room for `end` slots. */
  reset(end: number): void {
    for (let i = 0; i < this.#count; i++) {
      const slot = this.#slots[i]!
      this.coverage[slot] = 0
      this.text[slot] = 0
      this.#states[slot] = slotStates.unknown
      this.#lastGroups[slot] = 0
    }
    this.#count = 0
    this.#best = 0
    if (end > this.keys.length) this.#allocate(Math.max(1024, end, this.keys.length * 2))
  }

  /**
   * Scores the skills that contain words of the groups and pass the predicate `matches`. Skips skills that cannot reach
   * the relevance floor: rare words are scored first, and soon the remaining words alone do not reach the floor (H.
   * Turtle, J. Flood: Query evaluation: strategies and optimizations, 1995).
   */
  addGroups(groups: TermGroup[], { text, lexicon }: Words, matches: (slot: number) => boolean): void {
    for (const [field, average] of lexicon.averageLengths.entries())
      this.#lengthFactors[field] = (saturation * lengthShares[field]!) / average
    const ordered = groups.toSorted((a, b) => highestOf(b) - highestOf(a))
    let left = ordered.reduce((sum, group) => sum + highestOf(group), 0)
    for (const [number, group] of ordered.entries()) {
      const isOpen = left * roundingMargin >= this.#best * relevanceFloor
      for (const { id, value } of group.variants) this.#addWord({ group: number + 1, value, id, isOpen }, text, matches)
      left -= highestOf(group)
    }
  }

  // This inner loop of every search must not allocate memory, and copies fields that it reads often to local variables.
  #addWord({ group, value, id, isOpen }: Word, text: TextIndex, matches: (slot: number) => boolean): void {
    const postings = text.readPostings(id)
    const { slots: wordSlots, bytes } = postings
    const { lengths } = text
    const { coverage, text: scores } = this
    const slots = this.#slots
    const states = this.#states
    const lastGroups = this.#lastGroups
    const perLength = this.#lengthFactors
    const fieldCount = searchFields.length
    let count = this.#count
    let best = this.#best
    // The postings of a skill are in the order of the fields: a sum of floats must not depend on other skills.
    for (let i = 0; i < postings.count; i++) {
      const slot = wordSlots[i]!
      let met = states[slot]!
      if (met === slotStates.unknown) {
        if (!isOpen) continue
        slots[count++] = slot
        states[slot] = met = matches(slot) ? slotStates.match : slotStates.other
      }
      if (met === slotStates.other) continue
      const byte = bytes[i]!
      const field = fieldOf(byte)
      const frequency = frequencyOf(byte)
      const length = perLength[field]! * lengths[slot * fieldCount + field]!
      scores[slot]! += (value * fieldWeights[field]! * frequency) / (frequency + lengthBases[field]! + length)
      if (lastGroups[slot] === group) continue
      lastGroups[slot] = group
      const covered = coverage[slot]! + value
      coverage[slot] = covered
      if (covered > best) best = covered
    }
    this.#count = count
    this.#best = best
  }

  #allocate(length: number): void {
    this.coverage = new Float64Array(length)
    this.text = new Float64Array(length)
    this.keys = new Float64Array(length)
    this.#found = new Int32Array(length)
    this.#slots = new Int32Array(length)
    this.#states = new Uint8Array(length)
    this.#lastGroups = new Uint8Array(length)
  }
}
