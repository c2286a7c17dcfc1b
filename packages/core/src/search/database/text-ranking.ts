import { setImmediate } from 'node:timers/promises'
import { hashStem } from '../words/count-stems.ts'
import type { SearchMatch } from '../explanation.ts'
import { idfOf } from '../need-index.ts'
import { joinRelevance, toScore, weights } from '../ranking.ts'
import { searchFields, type SearchTexts } from '../search-document.ts'
import { addWeights, joinVector, type TermVector, type TermWeights, valueOfImpact } from '../words/term-vector.ts'
import { ruleOfField, textsOf } from '../text-index.ts'
import { isStopWord, tokenizeSentences } from '../words/tokenize.ts'

/** A term of a query: a word, and its stem unless a word before it has the same. */
export interface TextTerm {
  readonly word: string
  /** Whether the word may be the beginning of a longer one. */
  readonly isPrefix: boolean
  /** The hash of the stem. */
  readonly stem?: number
}

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

/** Candidates that are ranked before the event loop runs again: about 5 ms. */
const sliceMax = 20

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
  /** By word: the number of the term. */
  readonly #numbers: ReadonlyMap<string, number>
  /** What was found out about tokens: texts share most of them. */
  readonly #readings = new Map<string, Reading>()
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
    this.#numbers = new Map(terms.map(({ word }, i) => [word, i]))
  }

  /** Best first; the order of equal candidates stays. Lets the event loop run meanwhile. */
  async rank(candidates: readonly Candidate[]): Promise<Ranked[]> {
    const ranked: Ranked[] = []
    for (const [i, candidate] of candidates.entries()) {
      if (i % sliceMax === sliceMax - 1) await setImmediate()
      ranked.push(this.#judge(candidate))
    }
    return ranked.toSorted((a, b) => b.key - a.key)
  }

  #judge(candidate: Candidate): Ranked {
    const { num, isDeprecated } = candidate
    const { relevance, weights: others, fields, terms } = this.#readShort(candidate)
    const penalty = isDeprecated ? weights.deprecated : 0
    const need = this.#needOf(joinVector(candidate.content, others)) * (1 + penalty)
    const key = joinRelevance(Math.max(0, relevance + penalty), need)
    return { num, key, match: { score: Math.round(toScore(key) * 10_000) / 10_000, fields, terms } }
  }

  /** The score by need as the share of the highest possible score. */
  #needOf({ hashes, impacts }: TermVector): number {
    if (this.#valuesTotal === 0) return 0
    let score = 0
    for (let i = 0; i < hashes.length; i++) {
      const value = this.values.get(hashes[i]!)
      if (value !== undefined) score += value * valueOfImpact[impacts[i]!]!
    }
    return score / this.#valuesTotal
  }

  /**
   * Relevance by short texts: coverage of the query by all of them, by the best sentence, and by a name. And the weights
   * of the query's stems in the fields that the content does not have.
   */
  #readShort(candidate: Candidate) {
    const all = new Set<number>()
    const fields = new Set<string>()
    const words = new Set<string>()
    const found: TermWeights = new Map()
    let [sentence, name] = [0, 0]
    for (const [at, texts] of textsOf(candidate).entries()) {
      const field = searchFields[at]!
      const stems = new Map<number, number>()
      let length = 0
      for (const tokens of texts.flatMap((text) => tokenizeSentences(text))) {
        const matches = new Set<number>()
        length += tokens.length
        for (const token of tokens) {
          const { number, stem } = this.#read(token)
          if (stem !== undefined) stems.set(stem, (stems.get(stem) ?? 0) + 1)
          if (number < 0) continue
          matches.add(number)
          words.add(token)
          fields.add(field)
        }
        for (const number of matches) all.add(number)
        const covered = this.#sum(matches)
        sentence = Math.max(sentence, covered)
        if (at === 0) name = Math.max(name, (covered * matches.size) / tokens.length)
      }
      const isInContent = candidate.content.length > 0 && (field === 'headings' || field === 'summary')
      if (!isInContent) addWeights(found, ruleOfField[field], stems, length)
    }
    const relevance = this.#sum(all) + weights.sentence * sentence + weights.name * name * name
    return { relevance, weights: found, fields: [...fields], terms: [...words] }
  }

  /** The share of the terms in the weight of the query. */
  #sum(numbers: ReadonlySet<number>): number {
    let sum = 0
    for (const number of numbers) sum += this.#idf[number]!
    return this.#wordsTotal === 0 ? 0 : sum / this.#wordsTotal
  }

  /** The term of the query that a token of a short text matches, or -1, and the token's stem if the query has it. */
  #read(token: string): Reading {
    const known = this.#readings.get(token)
    if (known) return known
    const hash = isStopWord(token) ? undefined : hashStem(token)
    const stem = hash !== undefined && this.values.has(hash) ? hash : undefined
    let number = this.#numbers.get(token) ?? (hash === undefined ? -1 : (this.#byStem.get(hash) ?? -1))
    if (number < 0 && this.#prefix && token.startsWith(this.#prefix)) {
      number = this.#terms.findIndex(({ isPrefix }) => isPrefix)
    }
    const reading = { number, stem }
    this.#readings.set(token, reading)
    return reading
  }
}

interface Reading {
  readonly number: number
  readonly stem: number | undefined
}
