import type { Database } from '../../storage/database.ts'
import { countMatches, type TextToken } from '../../storage/text-search.ts'
import { hashStem } from '../words/count-stems.ts'
import { isIdeographic, parseNeed, parseQuery } from '../words/tokenize.ts'

/**
 * Maximum number of skills that one search reads, summed over its tokens, so that SQLite blocks the event loop for at
 * most some 40 ms. Rare tokens are read first; for a single token above the limit, only the newest skills are read.
 * Hidden skills count, too: counting visible skills would take as long as reading.
 */
export const queryMatchesMax = 10_000
/** Maximum tokens that are read. */
const tokensMax = 300
/** Minimum length of a prefix: the databases read all words with a prefix, and a shorter prefix has too many. */
const prefixLengthMin = 3

/** The tokens of a query that are read. */
export interface QueryTokens {
  readonly tokens: readonly TextToken[]
  /** Whether a part of the query, or of the skills with its words, is left out. */
  readonly isCut: boolean
}

/** The tokens to read for a query: the rarest tokens, as far as the limits allow. */
export async function chooseTokens({ read, dialect }: Database, q: string): Promise<QueryTokens> {
  const { tokens, isCut } = toTokens(q)
  const counts = await countMatches(read, dialect, tokens, queryMatchesMax + 1)
  const found = [...tokens.keys()].filter((at) => counts[at]! > 0)
  const order = found.toSorted((a, b) => counts[a]! - counts[b]! || a - b)
  let cost = 0
  const isRead = (at: number, place: number) =>
    place < tokensMax && ((cost += counts[at]!) <= queryMatchesMax || place === 0)
  const kept = order.filter(isRead)
  return { tokens: kept.map((at) => tokens[at]!), isCut: isCut || kept.length < found.length || cost > queryMatchesMax }
}

/** The words of the query, for the short texts, and the strong and the weak token of each stem, for all texts. */
function toTokens(q: string): { tokens: TextToken[]; isCut: boolean } {
  const { terms: words, lastIsOpen } = parseQuery(q)
  const need = parseNeed(q, Infinity)
  const stems = [...new Set(need.words.map(hashStem))]
  const isPrefix = (word: string, i: number) =>
    lastIsOpen && i === words.length - 1 && (isIdeographic(word) || word.length >= prefixLengthMin)
  const tokens: TextToken[] = words.map((word, i) => ({ kind: 'word', word, isPrefix: isPrefix(word, i) }))
  for (const stem of stems) tokens.push({ kind: 'strong', stem }, { kind: 'weak', stem })
  return { tokens, isCut: need.isCut }
}
