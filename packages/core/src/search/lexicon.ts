import type { ViewerKeys } from '../visibility/audience.ts'
import type { Census } from './census.ts'
import { searchFields } from './search-document.ts'
import type { TextIndex } from './text-index.ts'
import type { Repair, RepairBudget } from './words/typo-dictionary.ts'

/** Maximum words that a search compares with the misspelled terms of its query: about 5 ms. */
const comparedWordsMax = 2000
/** Maximum words with a prefix that a search visits: about 5 ms. */
const visitedMax = 20_000

/**
 * The vocabulary as one viewer may see it. A word that only occurs in skills that the viewer cannot see does not exist
 * here, and counts and averages come from skills that everyone of the viewer's kind can see: guests, or all signed-in
 * users. Otherwise the totals and the order of the hits would reveal the contents of other users' private skills.
 */
export class Lexicon {
  /** Number of skills in which words are counted. */
  readonly size: number
  /** The average number of distinct words in each of `searchFields`. */
  readonly averageLengths: readonly number[]
  readonly #text: TextIndex
  readonly #isSeen: (slot: number) => boolean
  readonly #censuses: Census[]
  readonly #isGuest: boolean
  readonly #repairBudget: RepairBudget = { left: comparedWordsMax }
  #visitsLeft = visitedMax
  #isCut = false

  constructor(text: TextIndex, isSeen: (slot: number) => boolean, viewer: ViewerKeys) {
    this.#text = text
    this.#isGuest = viewer === null
    this.#isSeen = isSeen
    this.#censuses = viewer === null ? [text.censuses.guests] : [text.censuses.guests, text.censuses.users]
    this.size = this.#censuses.reduce((sum, { size }) => sum + size, 0)
    this.averageLengths = searchFields.map(
      (_, field) => this.#censuses.reduce((sum, { lengths }) => sum + lengths[field]!, 0) / this.size || 1,
    )
  }

  /** The id of a word, or 0 if no skill that the viewer may see contains it. */
  idOf(word: string): number {
    const id = this.#text.vocabulary.idOf(word)
    return id !== 0 && this.#isKnown(id) ? id : 0
  }

  /**
   * Number of the `size` skills that contain a word. 0 also for a word that only private skills of the viewer contain.
   */
  countOf(id: number): number {
    let count = 0
    for (const census of this.#censuses) count += census.countOf(id)
    return count
  }

  /** Whether words with a prefix were not visited, because too many begin with it. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** The words that begin with a prefix, most frequent first. */
  idsWithPrefix(prefix: string, max: number): number[] {
    return this.#mostFrequent(this.visitWords(prefix), max)
  }

  /**
   * The words that begin with a prefix, known or not, in no particular order, until the search has visited too many.
   * Words of private skills alone do not count, so that private skills do not change other users' results.
   */
  *visitWords(prefix: string): Generator<number> {
    for (const id of this.#text.idsWithPrefix(prefix)) {
      if (this.countOf(id) > 0 && --this.#visitsLeft < 0) {
        this.#isCut = true
        return
      }
      yield id
    }
  }

  /** Corrections of a misspelling, by edit distance and then by frequency. */
  findRepairs(misspelling: string, max: number): Repair[] {
    return this.#text.typos
      .findRepairs(misspelling, (id) => this.#isKnown(id), this.#repairBudget)
      .toSorted((a, b) => a.distance - b.distance || this.#compare(a.id, b.id))
      .slice(0, max)
  }

  /**
   * Compares words by frequency, then by spelling. Not by id: the order of ids would reveal which private skill came
   * first.
   */
  #compare(a: number, b: number): number {
    const { vocabulary } = this.#text
    return this.countOf(b) - this.countOf(a) || (vocabulary.wordOf(a) < vocabulary.wordOf(b) ? -1 : 1)
  }

  #isKnown(id: number): boolean {
    if (this.countOf(id) > 0) return true
    return !this.#isGuest && this.#hasVisibleSkill(id)
  }

  #hasVisibleSkill(id: number): boolean {
    for (const slot of this.#text.slotsWith(id)) if (this.#isSeen(slot)) return true
    return false
  }

  /** Keeps a short sorted list in one pass: sorting is slow, as a prefix of one letter can have thousands of words. */
  #mostFrequent(ids: Iterable<number>, max: number): number[] {
    const best: number[] = []
    for (const id of ids) {
      if (best.length === max && this.#compare(best[max - 1]!, id) < 0) continue
      if (!this.#isKnown(id)) continue
      let at = best.length
      while (at > 0 && this.#compare(id, best[at - 1]!) < 0) at--
      best.splice(at, 0, id)
      if (best.length > max) best.pop()
    }
    return best
  }
}
