import type { SearchResult } from '@skillstead/protocol'
import { cutAtWord } from '@skillstead/skill-format'
import { isOffered } from './catalogue.ts'

type Hit = SearchResult['skills'][number]

/** A hit of `search_skills`: what an agent needs to choose a skill without loading it. */
export interface LeanHit extends Pick<
  Hit,
  'fullName' | 'latestVersion' | 'description' | 'downloads' | 'securityScore'
> {
  /** The part of SKILL.md that answers the query best. */
  readonly passage?: string
  readonly deprecated?: true
}

const descriptionLengthMax = 120
/** Tokens of the encoding `o200k_base` for one hit as JSON: ten take at most 1,200. */
const hitTokensMax = 115
/** Of the tokens left for both texts, the share of the description if both are too long. */
const descriptionShare = 0.45

/** Shortens a hit so that ten of them fit into about 1,200 tokens, whatever their language. */
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
  const room = hitTokensMax - estimateTokens(JSON.stringify({ ...facts, description: '', passage: '' }))
  // Hosts show the result to a model: a dangerous skill gets no room for its instructions.
  const passage = (isOffered({ securityScore }) && match?.passage) || ''
  const needed = estimateTokens(passage)
  const forDescription = Math.max(room - needed, room * descriptionShare)
  const shortDescription = cutToTokens(shorten(description, descriptionLengthMax), forDescription)
  const shortPassage = cutToTokens(passage, room - estimateTokens(shortDescription))
  return { ...facts, description: shortDescription, ...(shortPassage && { passage: shortPassage }) }
}

function shorten(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${cutAtWord(text, lengthMax - 1)}…`
}

function cutToTokens(text: string, tokensMax: number): string {
  let tokens = 0
  for (const { 0: piece, index } of text.matchAll(piecePattern)) {
    tokens += tokensOf(piece)
    if (tokens > tokensMax) return tokensMax < 1 ? '' : `${text.slice(0, index).trimEnd()}…`
  }
  return text
}

/**
 * An estimate that is rarely too low: the table of the encoding takes 100 MB of memory and half a second to load.
 */
function estimateTokens(text: string): number {
  let tokens = 0
  for (const [piece] of text.matchAll(piecePattern)) tokens += tokensOf(piece)
  return tokens
}

/** Letters of a word or of a part of an identifier, up to three digits, or another character. A single space belongs to the word that follows. */
const piecePattern = / ?(?:[A-Z]{2,12}(?![a-z])|[A-Z]?[a-z]{1,11}|[A-Z])|\d{1,3}|[^]/gu
/** Letters of languages whose characters mostly have tokens of their own. */
const commonLetter =
  /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Thai}\p{P}]/u
/** The most frequent pairs of letters in English texts about software. */
const pairs =
  'inerreontiatteesenntstcoioseordengleriitmealtaroecthanedctarraceliveacicnsetmaeaprisomnetrsiilchasgeurhenapenctofilos' +
  'slandcaeloumppaustsplemutpohadaexamdirsllaiimcrieagidvioltyrtunhiigadscodepckulevptminihomouecuabqusutueffoowsooposwi' +
  'shryocapkettlydoblbefevaipclwhooivirciuiotauee'
const frequentPairs: ReadonlySet<string> = new Set(pairs.match(/../g))
/** A word with a smaller share of frequent pairs is not in the encoding: each token covers only about two letters. */
const frequentShareMin = 0.6

function tokensOf(piece: string): number {
  if (/^ ?[A-Za-z]/.test(piece)) return tokensOfWord(piece.trimStart())
  if (/^[\d\p{ASCII}]/u.test(piece) || commonLetter.test(piece)) return 1
  return Buffer.byteLength(piece)
}

function tokensOfWord(word: string): number {
  if (word.length <= 2) return 1
  const letters = word.toLowerCase()
  let frequent = 0
  for (let i = 0; i + 1 < letters.length; i++) if (frequentPairs.has(letters.slice(i, i + 2))) frequent++
  const isUsual = frequent >= frequentShareMin * (letters.length - 1)
  return Math.ceil(word.length / (isUsual ? (word === letters ? 8 : 5) : 1.8))
}
