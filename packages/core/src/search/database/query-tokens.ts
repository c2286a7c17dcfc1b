import { setImmediate } from 'node:timers/promises'
import type { Database } from '../../storage/database.ts'
import { countMatches, type TextToken } from '../../storage/text-search.ts'
import { hashStem } from '../words/count-stems.ts'
import type { TextTerm } from './text-ranking.ts'
import { isIdeographic, parseNeed, parseQuery } from '../words/tokenize.ts'

/**
 * Skills with a token that one search reads, summed over its tokens. Tokens are read by rarity; of a single more frequent
 * one the newest skills. Hidden skills count too: counting visible ones would take as long as reading.
 */
export const matchesMax = 30_000
/** Further tokens are not read. */
const tokensMax = 300
/** Tokens that one statement counts, so that SQLite blocks the event loop for about 5 ms. */
const countedMax = 100
/** In a longer query, words of the short texts count by their stems alone. */
const namingTermsMax = 12
/** The databases read all words that begin with a prefix, and too many begin with a shorter one. */
const prefixLengthMin = 3

/** A token to look for, with the number of its term. */
type TermToken = TextToken & { readonly term: number }

/** The tokens of a query that are read. */
export interface QueryTokens {
  readonly terms: readonly TextTerm[]
  /** The terms of which only the strong token is read, because too many skills have the weak one. */
  readonly halved: ReadonlySet<number>
  readonly tokens: readonly TermToken[]
  /** The number of skills with one of the tokens, summed over the tokens; at most {@link matchesMax}. */
  readonly cost: number
  /** Whether a part of the query, or a token that some skill has, is left out. */
  readonly isCut: boolean
}

/** The tokens to read for a query: the rarest ones, as far as the limits allow. */
export async function chooseTokens(database: Database, q: string): Promise<QueryTokens> {
  const { terms, isCut } = toTerms(q)
  const tokens = toTokens(terms)
  const rarest = keepRarest(terms, tokens, await countAll(database, tokens))
  return { ...rarest, isCut: isCut || rarest.isCut }
}

/**
 * The words of the query for the short texts, and the stems of the same and of further words for all texts. Words with
 * the same stem, such as `test` and `tests`, share it: only the first has it.
 */
function toTerms(q: string): { terms: TextTerm[]; isCut: boolean } {
  const { terms: words, lastIsOpen } = parseQuery(q)
  const need = parseNeed(q, Infinity)
  const wanted = new Set(need.words)
  const taken = new Set<number>()
  const stemOf = (word: string) => {
    const stem = hashStem(word)
    if (!wanted.has(word) || taken.has(stem)) return {}
    taken.add(stem)
    return { stem }
  }
  const isPrefix = (word: string, i: number) =>
    lastIsOpen && i === words.length - 1 && (isIdeographic(word) || word.length >= prefixLengthMin)
  const named = words.map((word, i) => ({ word, isPrefix: isPrefix(word, i), ...stemOf(word) }))
  const others = need.words
    .filter((word) => !words.includes(word))
    .map((word) => ({ word, isPrefix: false, ...stemOf(word) }))
    .filter((term) => 'stem' in term)
  return { terms: [...named, ...others], isCut: need.isCut }
}

function toTokens(terms: readonly TextTerm[]): TermToken[] {
  const stems = terms.flatMap(({ stem }, term): TermToken[] =>
    stem === undefined ? [] : [{ kind: 'strong', stem, term } as const, { kind: 'weak', stem, term } as const],
  )
  if (terms.length > namingTermsMax && stems.length > 0) return stems
  return [...stems, ...terms.map(({ word, isPrefix }, term) => ({ kind: 'word', word, isPrefix, term }) as const)]
}

async function countAll({ read, dialect }: Database, tokens: readonly TextToken[]): Promise<number[]> {
  const counts: number[] = []
  for (let i = 0; i < tokens.length; i += countedMax) {
    counts.push(...(await countMatches(read, dialect, tokens.slice(i, i + countedMax), matchesMax)))
    await setImmediate()
  }
  return counts
}

function keepRarest(terms: readonly TextTerm[], tokens: readonly TermToken[], counts: readonly number[]): QueryTokens {
  const found = [...tokens.keys()].filter((at) => counts[at]! > 0)
  const order = found.toSorted((a, b) => counts[a]! - counts[b]! || a - b)
  let cost = 0
  const isRead = (at: number, place: number) =>
    place < tokensMax && ((cost += counts[at]!) <= matchesMax || place === 0)
  const read = new Set(order.filter(isRead))
  const known = new Set(found.map((at) => tokens[at]!.term))
  const kept = tokens.filter((_, at) => read.has(at))
  const keptTerms = new Set(kept.map(({ term }) => term))
  // A word that no skill contains stays: no skill has the whole query.
  const numbers = [...terms.keys()].filter((term) => keptTerms.has(term) || !known.has(term))
  const lost = found.filter((at) => !read.has(at) && tokens[at]!.kind === 'weak').map((at) => tokens[at]!.term)
  return {
    terms: numbers.map((term) => terms[term]!),
    halved: new Set(lost.map((term) => numbers.indexOf(term))),
    tokens: kept.map((token) => ({ ...token, term: numbers.indexOf(token.term) })),
    cost: Math.min(cost, matchesMax),
    isCut: read.size < found.length,
  }
}
