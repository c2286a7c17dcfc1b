import type { SearchResult } from '@skillstead/protocol'
import { shortenAtWord } from '@skillstead/skill-format'
import { mayShowUnasked } from './catalogue.ts'
import { frequentCharacters, frequentWords, frequentWordsAfterSpace } from './frequent-tokens.ts'

type Hit = SearchResult['skills'][number]

/** A hit of `search_skills`, with the facts that an agent needs to choose a skill without loading it. */
export interface LeanHit extends Pick<
  Hit,
  'fullName' | 'latestVersion' | 'description' | 'downloads' | 'securityScore'
> {
  /** The part of SKILL.md that answers the query best. */
  readonly passage?: string
  readonly deprecated?: true
}

const descriptionLengthMax = 120
/**
 * Maximum tokens of the encoding `o200k_base` for one hit as JSON: ten hits with the text around them take at most
 * 1,200 tokens.
 */
const hitTokensMax = 117
/** Tokens for the JSON of a hit without its texts, name and numbers. */
const emptyHitTokens = 27
/** The share of the description in the tokens for description and passage, if both texts are too long. */
const descriptionShare = 0.45

/** Shortens a hit so that ten hits fit into 1,200 tokens, whatever their language. */
export function toLeanHit({
  fullName,
  latestVersion,
  description,
  downloads,
  securityScore,
  deprecated,
  match,
}: Hit): LeanHit {
  const facts = { fullName, latestVersion, downloads, securityScore, ...(deprecated && { deprecated }) }
  const values = [fullName, latestVersion, downloads, securityScore].join(' ')
  const room = hitTokensMax - emptyHitTokens - boundJsonTokens(values)
  // Hosts show the result to a model: a dangerous skill gets no room for its instructions.
  const passage = (mayShowUnasked({ securityScore }) && match?.passage) || ''
  const needed = boundJsonTokens(passage)
  const forDescription = Math.max(room - needed, room * descriptionShare)
  const shortDescription = cutToTokens(shortenAtWord(description, descriptionLengthMax), forDescription)
  const shortPassage = cutToTokens(passage, room - boundJsonTokens(shortDescription))
  return { ...facts, description: shortDescription, ...(shortPassage && { passage: shortPassage }) }
}

function cutToTokens(text: string, tokensMax: number): string {
  let tokens = 0
  let end = 0
  for (const { 0: piece, index } of text.matchAll(piecePattern)) {
    if (tokens <= tokensMax - ellipsisTokens) end = index
    tokens += countPieceTokens(piece)
    if (tokens > tokensMax) return end === 0 ? '' : `${text.slice(0, end).trimEnd()}…`
  }
  return text
}

/** Tokens for an ellipsis, which may split the word before it into more tokens. */
const ellipsisTokens = 2

/**
 * An upper bound of the tokens that a text takes in JSON, by a list of frequent tokens. The table of the encoding would
 * give the exact number, but takes 100 MB of memory and half a second to load.
 */
function boundJsonTokens(text: string): number {
  let tokens = 0
  for (const [piece] of text.matchAll(piecePattern)) tokens += countPieceTokens(piece)
  return tokens
}

/** Matches a word or a part of an identifier with the space before it, up to three digits, or another character. */
const piecePattern = / ?(?:[A-Z]?[a-z]+|[A-Z]+)|\d{1,3}|[^]/gu

function countPieceTokens(piece: string): number {
  if (/^ ?[A-Za-z]/.test(piece)) return isFrequent(piece) ? 1 : boundLetters(piece)
  // Quotation marks and control characters are escaped: `\u0000` takes up to four tokens.
  const escapedLength = JSON.stringify(piece).length - 2
  if (escapedLength > piece.length) return Math.min(escapedLength, 4)
  return /^\p{ASCII}/u.test(piece) || frequentCharacters.has(piece) ? 1 : Buffer.byteLength(piece)
}

function isFrequent(piece: string): boolean {
  if (!piece.startsWith(' ')) return frequentWords.has(piece)
  const word = piece.slice(1)
  return (
    frequentWords.has(word) ||
    frequentWordsAfterSpace.has(word) ||
    (/^[A-Z][a-z]/.test(word) && frequentWords.has(word.toLowerCase()))
  )
}

/** Matches the first letter of each pair of lower-case letters that is not one token. Pairs may overlap. */
const rarePair = /(?=bq|g[kq]|j[vz]|k[qz]|lq|nq|q[fgjkvz]|rj|tq|w[qz]|x[gjkqvw]|yq|z[jqv])/g

/**
 * An upper bound of the tokens of a word. Nearly all pairs of letters are one token, so three letters take at most two
 * tokens; rare pairs and capitals are exceptions. A suffix after a frequent word may split the word once.
 */
function boundLetters(piece: string): number {
  if (/[A-Z]{2}/.test(piece)) return piece.length
  for (let end = piece.length - 1; end >= stemLengthMin; end--)
    if (isFrequent(piece.slice(0, end))) return 2 + boundRun(piece.slice(end))
  return boundRun(piece)
}

const stemLengthMin = 5

function boundRun(letters: string): number {
  return Math.ceil((2 * letters.length) / 3) + (letters.match(rarePair)?.length ?? 0)
}
