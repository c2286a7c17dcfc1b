import { contextCharacters } from '../text/fold.ts'
import { needsMax, readExpression, spreadNeeds, toRarest, type ExpressionTraits, type Need } from './read-expression.ts'
import type { Flow, Pattern } from './rule.ts'

/** The properties of a pattern that a search needs before it tries the pattern: plain data, which packages store. */
export interface PatternTraits {
  /** The pattern is tried where the texts of all needs are near enough. */
  readonly needs: readonly Need[]
  /** Number of characters that the pattern examines after a match. */
  readonly ahead: number
}

/** Characters that an expression may examine before and after a match. */
export const lookCharactersMax = 128

/** The traits of the patterns of each probe. */
export function listTraits(probes: readonly { readonly patterns: readonly Pattern[] }[]): PatternTraits[][] {
  return probes.map(({ patterns }) => patterns.map(readTraits))
}

/**
 * Reads the traits of a pattern. Throws a `TypeError` if a match may be longer than the overlap of two pieces, or if the
 * pattern has no anchors and none can be derived from its expressions.
 */
export function readTraits(pattern: Pattern): PatternTraits {
  const { anchors = [], match, view } = 'match' in pattern ? pattern : { match: pattern }
  const expressions = listExpressions(match)
  const all = expressions.map(readExpression)
  const { width, needs } = readMatch(match, all)
  const { source } = expressions[0]!
  if (width > contextCharacters)
    throw new TypeError(`A match of ${source} can have ${width} characters; at most ${contextCharacters} are allowed.`)
  const plain = anchors.map((anchor) => anchor.replaceAll(/\s/g, ' '))
  const given = plain.length === 0 ? [] : [{ texts: plain, before: width, after: width }]
  // Folding may remove characters that the raw text has between those of a match.
  const derived = view === 'raw' ? [] : needs
  const hasAnchor = ({ texts }: Need) => texts.every((text) => anchors.some((anchor) => text.includes(anchor)))
  const used = derived.some(hasAnchor) ? derived : [...given, ...derived].slice(0, needsMax)
  if (used.length === 0)
    throw new TypeError(`The pattern ${source} needs anchors: literal texts, one of which every match contains.`)
  return { needs: used, ahead: Math.min(lookCharactersMax, Math.max(1, ...all.map(({ ahead }) => ahead))) }
}

/** All expressions of a pattern's match. */
export function listExpressions(match: RegExp | Flow): readonly RegExp[] {
  return match instanceof RegExp ? [match] : [match.first, match.last, match.stop]
}

/** The maximum number of characters of a match, and its needs. `all`: the traits of all expressions of the match. */
function readMatch(match: RegExp | Flow, all: readonly ExpressionTraits[]) {
  const [first, last] = all as [ExpressionTraits, ExpressionTraits]
  if (match instanceof RegExp) return { width: first.charactersMax, needs: first.needs }
  const { withinMax } = match
  const begins = spreadNeeds(first.needs, 0, withinMax + last.charactersMax)
  const ends = spreadNeeds(last.needs, first.charactersMax + withinMax, 0)
  const width = first.charactersMax + withinMax + last.charactersMax
  return { width, needs: toRarest([...begins, ...ends]) }
}
