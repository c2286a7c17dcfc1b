import type { TextTerm } from '../storage/text-search.ts'
import { countStems, hashStem } from './count-stems.ts'
import type { SearchMatch } from './explanation.ts'
import { idfOf } from './need-index.ts'
import { joinRelevance, toScore, weights } from './ranking.ts'
import { searchFields, type SearchTexts } from './search-document.ts'
import { addWeights, joinVector, type TermWeights, valueOfImpact } from './term-vector.ts'
import { ruleOfField, textsOf } from './text-index.ts'
import { isStopWord, tokenizeSentences } from './tokenize.ts'

/** A match that the database found, with its texts. */
export interface Candidate extends SearchTexts {
  readonly num: number
  /** The terms of the latest version's SKILL.md, from `toContentVector`; empty without content. */
  readonly content: Uint8Array
  readonly isDeprecated: boolean
}

/** Number of skills that the viewer may see, and of those that contain each term, by its number. */
export interface Frequencies {
  readonly size: number
  readonly counts: ReadonlyMap<number, number>
}

/** The weight of a term in the coverage of a query. */
export function weightOf({ size, counts }: Frequencies, term: number): number {
  return Math.log(1 + size / Math.max(1, counts.get(term) ?? 0))
}

interface Ranked {
  readonly num: number
  readonly key: number
  readonly match: SearchMatch
}

/**
 * Ranks what the database's full-text index found by the texts of the skills: by need as the index in memory, and by the
 * words of the short texts as it does, apart from corrections of misspellings.
 */
export class TextRanking {
  /** By the hash of a stem: its weight. */
  readonly values: ReadonlyMap<number, number>
  readonly #terms: readonly TextTerm[]
  readonly #idf: readonly number[]
  /** The number of the term that a word of a short text matches, or -1. */
  readonly #numbers = new Map<string, number>()
  readonly #byStem: ReadonlyMap<number, number>
  readonly #prefix: string | undefined
  readonly #wordsTotal: number
  readonly #valuesTotal: number

  constructor(terms: readonly TextTerm[], frequencies: Frequencies) {
    const { size, counts } = frequencies
    this.#terms = terms
    this.#idf = terms.map((_, i) => weightOf(frequencies, i))
    this.#wordsTotal = this.#idf.reduce((sum, idf) => sum + idf, 0)
    const stems = terms.flatMap(({ stem }, i) => (stem === undefined ? [] : [[stem, i] as const]))
    this.#byStem = new Map(stems)
    this.values = new Map(stems.map(([stem, i]) => [stem, idfOf(size, counts.get(i) ?? 0)]))
    this.#valuesTotal = this.values.values().reduce((sum, value) => sum + value, 0) * valueOfImpact.at(-1)!
    this.#prefix = terms.find(({ isPrefix }) => isPrefix)?.word
    for (const [i, { word }] of terms.entries()) this.#numbers.set(word!, i)
  }

  /** Best first; the order of equal candidates stays. */
  rank(candidates: readonly Candidate[]): Ranked[] {
    return candidates.map((one) => this.#judge(one)).toSorted((a, b) => b.key - a.key)
  }

  #judge(candidate: Candidate): Ranked {
    const { num, isDeprecated } = candidate
    const { relevance, fields, terms } = this.#readShort(candidate)
    const penalty = isDeprecated ? weights.deprecated : 0
    const key = joinRelevance(Math.max(0, relevance + penalty), this.#needOf(candidate) * (1 + penalty))
    return { num, key, match: { score: Math.round(toScore(key) * 10_000) / 10_000, fields, terms } }
  }

  /** The score by need as the share of the highest possible score. */
  #needOf(candidate: Candidate): number {
    if (this.#valuesTotal === 0) return 0
    const { hashes, impacts } = joinVector(candidate.content, toWeights(candidate))
    let score = 0
    for (let i = 0; i < hashes.length; i++) {
      const value = this.values.get(hashes[i]!)
      if (value !== undefined) score += value * valueOfImpact[impacts[i]!]!
    }
    return score / this.#valuesTotal
  }

  /** Relevance by short texts: coverage of the query by all of them, by the best sentence, and by a name. */
  #readShort(candidate: Candidate): { relevance: number; fields: string[]; terms: string[] } {
    const all = new Set<number>()
    const fields = new Set<string>()
    const words = new Set<string>()
    let [sentence, name] = [0, 0]
    for (const [at, texts] of textsOf(candidate).entries()) {
      for (const tokens of texts.flatMap((text) => tokenizeSentences(text))) {
        const found = new Set<number>()
        for (const token of tokens) {
          const number = this.#numberOf(token)
          if (number < 0) continue
          found.add(number)
          words.add(token)
          fields.add(searchFields[at]!)
        }
        for (const number of found) all.add(number)
        const covered = this.#sum(found)
        sentence = Math.max(sentence, covered)
        if (at === 0) name = Math.max(name, (covered * found.size) / tokens.length)
      }
    }
    const relevance = this.#sum(all) + weights.sentence * sentence + weights.name * name * name
    return { relevance, fields: [...fields], terms: [...words] }
  }

  /** The share of the terms in the weight of the query. */
  #sum(numbers: ReadonlySet<number>): number {
    let sum = 0
    for (const number of numbers) sum += this.#idf[number]!
    return this.#wordsTotal === 0 ? 0 : sum / this.#wordsTotal
  }

  #numberOf(token: string): number {
    let number = this.#numbers.get(token)
    if (number !== undefined) return number
    number = isStopWord(token) ? -1 : (this.#byStem.get(hashStem(token)) ?? -1)
    if (number < 0 && this.#prefix && token.startsWith(this.#prefix)) {
      number = this.#terms.findIndex(({ isPrefix }) => isPrefix)
    }
    this.#numbers.set(token, number)
    return number
  }
}

function toWeights(candidate: Candidate): TermWeights {
  const found: TermWeights = new Map()
  for (const [at, texts] of textsOf(candidate).entries()) {
    const field = searchFields[at]!
    if (candidate.content.length > 0 && (field === 'headings' || field === 'summary')) continue
    const { stems, length } = countStems(texts.join('\n'))
    addWeights(found, ruleOfField[field], stems, length)
  }
  return found
}
