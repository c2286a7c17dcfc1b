import type { Lexicon } from './lexicon.ts'
import type { TextIndex } from './text-index.ts'
import { isIdeographic, type ParsedQuery, queryTermsMax } from './words/tokenize.ts'

/** A word of the index that matches a term of the query. */
interface Variant {
  id: number
  /** The weight of the word: the inverse document frequency, reduced if the match is uncertain. */
  value: number
}

/** A term of the query with the words that match it, highest weight first. */
export interface TermGroup {
  /** Weight of the term itself, whether or not it was found. */
  idf: number
  variants: Variant[]
}

/** Certainty of each kind of match. */
const sureness = { inflection: 0.7, repair: 0.95, secondRepair: 0.7, completion: 0.8, doubt: 0.5, bridge: 0.4 }
/** Maximum number of corrections for a term. */
const repairsMax = 8
const groupCompletionsMax = 16
/** Maximum number of ideograph pairs for a query of a single ideograph. */
const containingMax = 256
/** A word that fewer than this number of skills contain may be misspelled or incomplete. */
const doubtfulCount = 3
/** A doubtful word counts as a misspelling of a word that is at least this many times as frequent. */
const doubtRatio = 10
/** Minimum length of the parts when a compound word is split. */
const splitLengthMin = 3

/**
 * Finds the matching words for each term of a query. A term that is not in the viewer's lexicon is corrected, split or
 * completed.
 */
export function toTermGroups(query: ParsedQuery, text: TextIndex, lexicon: Lexicon): TermGroup[] {
  const finder = new VariantFinder(text, lexicon)
  const last = query.terms.length - 1
  return query.terms.flatMap((term, i) => finder.find(term, query.lastIsOpen && i === last)).slice(0, queryTermsMax)
}

class VariantFinder {
  readonly #text: TextIndex
  readonly #lexicon: Lexicon
  #sure = new Map<number, number>()

  constructor(text: TextIndex, lexicon: Lexicon) {
    this.#text = text
    this.#lexicon = lexicon
  }

  find(term: string, isOpen: boolean): TermGroup[] {
    this.#sure = new Map()
    const id = this.#lexicon.idOf(term)
    if (isIdeographic(term) && [...term].length === 1) this.#complete(term, 1, containingMax)
    else if (id !== 0) this.#confirm(id, term, isOpen)
    else if (isIdeographic(term)) this.#bridge(term)
    else {
      this.#repair(term)
      if (isOpen) this.#complete(term, sureness.completion)
      if (this.#sure.size === 0) return this.#split(term)
    }
    return [this.#toGroup(id)]
  }

  #confirm(id: number, term: string, isOpen: boolean): void {
    this.#add(id, 1)
    for (const form of inflectionsOf(term)) this.#add(this.#lexicon.idOf(form), sureness.inflection)
    const count = this.#lexicon.countOf(id)
    if (count >= doubtfulCount) return
    if (isIdeographic(term)) this.#bridge(term)
    if (isOpen) this.#complete(term, sureness.doubt)
    for (const repair of this.#lexicon.findRepairs(term, repairsMax)) {
      if (this.#lexicon.countOf(repair.id) >= doubtRatio * Math.max(1, count)) this.#add(repair.id, sureness.doubt)
    }
  }

  #repair(term: string): void {
    for (const form of inflectionsOf(term)) this.#add(this.#lexicon.idOf(form), sureness.repair)
    for (const { id, distance } of this.#lexicon.findRepairs(term, repairsMax)) {
      this.#add(id, distance === 1 ? sureness.repair : sureness.secondRepair)
    }
  }

  /**
   * A pair of ideographs that almost no skill contains may lack a middle character: `何示` for the `何提` and `提示` of 何提示.
   */
  #bridge(pair: string): void {
    const lexicon = this.#lexicon
    const [first, last] = [...pair]
    for (const id of lexicon.visitWords(first!)) {
      const word = this.#text.vocabulary.wordOf(id)
      const missing = [...word][1]
      const second = missing === undefined ? 0 : lexicon.idOf(missing + last!)
      const begun = lexicon.idOf(word)
      if (second === 0 || begun === 0) continue
      this.#add(begun, sureness.bridge)
      this.#add(second, sureness.bridge)
    }
  }

  #complete(prefix: string, sure: number, max = groupCompletionsMax): void {
    for (const id of this.#lexicon.idsWithPrefix(prefix, max)) this.#add(id, sure)
  }

  /** Splits `webscraping` into `web` and `scraping`; without a valid split, returns a group that nothing matches. */
  #split(term: string): TermGroup[] {
    const lexicon = this.#lexicon
    let parts = [0]
    let most = doubtfulCount - 1
    for (let at = splitLengthMin; at <= term.length - splitLengthMin; at++) {
      const ids = [lexicon.idOf(term.slice(0, at)), lexicon.idOf(term.slice(at))]
      const count = Math.min(...ids.map((id) => lexicon.countOf(id)))
      if (count <= most) continue
      parts = ids
      most = count
    }
    return parts.map((id) => ({ idf: this.#idf(id), variants: id === 0 ? [] : [{ id, value: this.#idf(id) }] }))
  }

  #add(id: number, sure: number): void {
    if (id !== 0 && !this.#sure.has(id)) this.#sure.set(id, sure)
  }

  /**
   * A variant never weighs more than the term that it stands for: a rare correction must not outrank the frequent word
   * that was more likely meant.
   */
  #toGroup(id: number): TermGroup {
    const ids = id === 0 ? [...this.#sure.keys()] : [id]
    const idf = ids.length === 0 ? this.#idf(0) : Math.min(...ids.map((other) => this.#idf(other)))
    const variants = Array.from(this.#sure, ([other, sure]) => ({
      id: other,
      value: sure * Math.min(idf, this.#idf(other)),
    }))
    return { idf, variants: variants.toSorted((a, b) => b.value - a.value || this.#byLetters(a.id, b.id)) }
  }

  /** The order in which floats are summed: stable and independent of other skills. */
  #byLetters(a: number, b: number): number {
    const { vocabulary } = this.#text
    return vocabulary.wordOf(a) < vocabulary.wordOf(b) ? -1 : 1
  }

  #idf(id: number): number {
    const count = this.#lexicon.countOf(id)
    return Math.log(1 + (this.#lexicon.size - count + 0.5) / (count + 0.5))
  }
}

const variantStemLengthMin = 3

/**
 * Other possible forms of an English word: plurals and verb endings. Many of the forms are not words; the caller uses
 * only forms that the vocabulary contains. Exact words stay exact, because neither the query nor the index is stemmed.
 *
 * @example inflectionsOf('deploys') // has 'deploy', 'deployed' and 'deploying'
 */
export function inflectionsOf(word: string): string[] {
  if (!/^[a-z]{4,}$/.test(word)) return []
  const forms = new Set(stemsOf(word).flatMap((stem) => formsOf(stem)))
  forms.delete(word)
  return [...forms]
}

/** The stems that a word may be a form of, including itself. */
function stemsOf(word: string): string[] {
  const stems = [word]
  if (/[^su]s$/.test(word)) stems.push(word.slice(0, -1))
  if (/(?:s|x|z|ch|sh)es$/.test(word)) stems.push(word.slice(0, -2))
  if (/ie[sd]$/.test(word)) stems.push(`${word.slice(0, -3)}y`)
  const verb = /^(.*[aeiouy].*)(?:ing|ed)$/.exec(word)?.[1]
  if (verb) stems.push(verb, `${verb}e`)
  if (verb && /([^aeiouls])\1$/.test(verb)) stems.push(verb.slice(0, -1))
  return stems.filter((stem) => stem.length >= variantStemLengthMin)
}

function formsOf(stem: string): string[] {
  const forms = [stem, `${stem}s`]
  if (stem.endsWith('e')) return [...forms, `${stem}d`, `${stem.slice(0, -1)}ing`]
  if (/[^aeiou]y$/.test(stem)) return [...forms, `${stem.slice(0, -1)}ies`, `${stem.slice(0, -1)}ied`, `${stem}ing`]
  if (/(?:s|x|z|ch|sh)$/.test(stem)) forms.push(`${stem}es`)
  // `plan` doubles its last letter: `planning`.
  const doubled = /^[^aeiou]*[aeiou][^aeiouwxy]$/.test(stem) ? stem + stem.at(-1)! : stem
  return [...forms, `${stem}ed`, `${stem}ing`, `${doubled}ed`, `${doubled}ing`]
}
