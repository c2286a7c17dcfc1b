import { anchorCharactersMin } from '../text/anchors.ts'
import { Expression, type Slice } from './expression.ts'
import { contextCharacters } from '../text/fold.ts'
import { crossings, spread, type Crossing, type Need } from './pattern-parts.ts'
import { readPattern, type PatternTraits } from './read-pattern.ts'
import type { Flow, Pattern, Together } from './rule.ts'

type OnMatch = (start: number, end: number) => void

/** Texts of which every match contains one. */
interface SearchNeed {
  readonly texts: readonly string[]
  /** For each text, in order: `before`, `behind` and `outside` of {@link Need}. */
  readonly distances: readonly number[]
}

/** What a search must know of a pattern before it tries it: plain data. */
export interface SearchTraits {
  readonly view: 'folded' | 'raw'
  /** Every match contains a text of each of these, including one of the anchors. */
  readonly needs: readonly SearchNeed[]
  /** Whether a match may extend past the end of a line or passage. */
  readonly crosses: Crossing
  /** Number of characters that the pattern examines after a match. */
  readonly aheadMax: number
}

/** Finds a pattern in a part of a piece of text. Built once per pattern. */
export interface Matcher {
  /** The expression that is searched for first. */
  readonly first: Expression
  /** Finds all matches that begin at or after an offset. */
  find(slice: Slice, from: number, onMatch: OnMatch): void
}

/**
 * Reads the traits of a pattern. Throws a `TypeError` if a match may be longer than the overlap of two pieces, or if the
 * pattern has no anchors and none can be derived from its expressions.
 */
export function readTraits(pattern: Pattern): SearchTraits {
  const { anchors, match, view } = open(pattern)
  const expressions = toExpressions(match)
  const traits = match instanceof RegExp ? readPattern(match) : 'all' in match ? readTogether(match) : readFlow(match)
  const { width, crosses } = traits
  const { source } = expressions[0]!
  if (width > contextCharacters)
    throw new TypeError(`A match of ${source} can have ${width} characters; at most ${contextCharacters} are allowed.`)
  const aheadMax = expressions.some((each) => lookAheadPattern.test(each.source)) ? aheadCharactersMax : 1
  const anchored: Need = (anchors ?? []).map((text) => {
    return { text, before: width, behind: width, outside: text.length - 1 }
  })
  // Folding may remove characters that the raw text has between those of a match.
  if (view === 'raw') return { view, needs: [toSearchNeed(anchored)], crosses: 'passages', aheadMax }
  const hasAnchor = (need: Need) => need.every(({ text }) => anchors?.some((anchor) => text.includes(anchor)))
  // Short words are rare enough next to the others of a sentence.
  const lengthMin = 'all' in match ? anchorCharactersMin : needCharactersMin
  const needs = traits.needs.filter((need) => isWorthIt(need, lengthMin) || hasAnchor(need))
  if (anchors && !needs.some(hasAnchor)) needs.push(anchored)
  if (needs.length === 0) throw new TypeError(`The pattern ${source} needs anchors.`)
  return { view, needs: needs.map(toSearchNeed), aheadMax, crosses }
}

function toSearchNeed(need: Need): SearchNeed {
  return {
    texts: need.map(({ text }) => text),
    distances: need.flatMap(({ before, behind, outside = 0 }) => [before, behind, outside]),
  }
}

/** Builds a matcher of a pattern. */
export function toMatcher(pattern: Pattern): Matcher {
  const { match, view, isMeant } = open(pattern)
  const flags = view === 'raw' ? '' : 'i'
  if (match instanceof RegExp) return toWordMatcher(match, flags, isMeant)
  return 'all' in match ? toTogetherMatcher(match, flags) : toFlowMatcher(match, flags)
}

/** All expressions of a pattern's match. */
export function toExpressions(match: RegExp | Flow | Together): readonly RegExp[] {
  if (match instanceof RegExp) return [match]
  return 'all' in match ? [...match.all, match.stop, match.unless] : [match.first, match.last, match.stop]
}

function open(pattern: Pattern) {
  const {
    anchors,
    match,
    view = 'folded' as const,
    isMeant = always,
  } = 'match' in pattern ? pattern : { anchors: undefined, match: pattern }
  return { anchors, match, view, isMeant }
}

/** A sentence may have any of the needed texts at both of its ends. */
function readTogether({ all, stop, withinMax }: Together): PatternTraits {
  const width = 2 * withinMax
  const parts = all.map(readPattern)
  const needs = parts.flatMap((part) => part.needs.map((need) => need.map(({ text }) => toNeeded(text, width))))
  return { width, needs, crosses: toWidestCrossing([...parts.map(({ crosses }) => crosses), toCrossing(stop)]) }
}

function toNeeded(text: string, width: number): Need[number] {
  return { text, before: width, behind: width }
}

function toCrossing(stop: RegExp): Crossing {
  return !stop.test('\uE000') ? 'passages' : stop.test('\n') ? 'nothing' : 'lines'
}

function toWidestCrossing(all: readonly Crossing[]): Crossing {
  return crossings.findLast((each) => all.includes(each))!
}

/** A flow may cross everything except its stop, regardless of its two expressions. */
function readFlow({ first, last, stop, withinMax }: Flow): PatternTraits {
  const begins = readPattern(first)
  const ends = readPattern(last)
  return {
    width: begins.width + withinMax + ends.width,
    needs: [
      ...begins.needs.map((need) => spread(need, 0, withinMax + ends.width)),
      ...ends.needs.map((need) => spread(need, begins.width + withinMax, 0)),
    ],
    crosses: toWidestCrossing([begins.crosses, ends.crosses, toCrossing(stop)]),
  }
}

/** A lookahead of more than one character. */
const lookAheadPattern = /\(\?[=!](?!\\s(?:\|\$)?\))/
const aheadCharactersMax = 128

/** Shorter words occur almost everywhere, so searching for them saves no time. */
const needCharactersMin = 4

function isWorthIt(need: Need, lengthMin: number): boolean {
  return need.every(({ text }) => text.trim().length >= lengthMin)
}

function withOwnFlags({ multiline, dotAll }: RegExp, flags: string): string {
  return `${flags}${multiline ? 'm' : ''}${dotAll ? 's' : ''}`
}

const always = () => true

function toWordMatcher(match: RegExp, flags: string, isMeant: (text: string) => boolean): Matcher {
  const words = new Expression(match.source, withOwnFlags(match, flags))
  return {
    first: words,
    find(slice, from, onMatch) {
      for (let found = words.exec(slice, from); found;) {
        const { 0: text, index } = found
        const end = index + text.length
        if (isMeant(text)) onMatch(index, end)
        found = words.exec(slice, text === '' ? end + 1 : end)
      }
    },
  }
}

/** An end belongs to the last beginning before it, if no stop is between them and it is near enough. */
function toFlowMatcher({ first, last, stop, withinMax }: Flow, flags: string): Matcher {
  const beginnings = new Expression(first.source, flags)
  let marks: RegExp | undefined
  let firstGroup = 0
  return {
    first: beginnings,
    find(slice, from, onMatch) {
      let begun = beginnings.exec(slice, from)
      while (begun) {
        if (!marks) {
          marks = new RegExp(`(${last.source})|(${first.source})|${stop.source}`, `g${flags}`)
          firstGroup = countGroups(last) + 2
        }
        const begunEnd = begun.index + begun[0].length
        marks.lastIndex = begunEnd
        const next = marks.exec(slice.text)
        if (!next) return
        const end = next.index + next[0].length
        if (next.index - begunEnd <= withinMax && next[1] !== undefined) onMatch(begun.index, end)
        begun = next[firstGroup] === undefined ? beginnings.exec(slice, Math.max(end, begunEnd)) : next
      }
    },
  }
}

/** Finds the first expression, then the others in the sentence around it; a sentence counts once. */
function toTogetherMatcher({ all, stop, withinMax, unless }: Together, flags: string): Matcher {
  const [first, ...others] = all.map(({ source }, index) => new Expression(source, index === 0 ? flags : 'i'))
  const stops = new Expression(stop.source, flags)
  const innocent = new Expression(unless.source, 'i')
  return {
    first: first!,
    find(slice, from, onMatch) {
      for (let found = first!.exec(slice, from); found;) {
        const foundEnd = found.index + found[0].length
        const [start, end] = findSentence(slice, found.index, foundEnd, stops, withinMax)
        const sentence = { ...slice, text: slice.text.slice(start, end), at: slice.at + start }
        const rest = findAll(sentence, others)
        let next = foundEnd
        if (rest && !innocent.exec(sentence, 0)) {
          onMatch(
            Math.min(found.index, ...rest.map(({ index }) => start + index)),
            Math.max(foundEnd, ...rest.map((other) => start + other.index + other[0].length)),
          )
          next = Math.max(end, foundEnd)
        }
        found = first!.exec(slice, next)
      }
    },
  }
}

/** The first match of each expression in a text; undefined unless all match. */
function findAll(slice: Slice, expressions: readonly Expression[]): RegExpExecArray[] | undefined {
  const found: RegExpExecArray[] = []
  for (const expression of expressions) {
    const match = expression.exec(slice, 0)
    if (!match) return undefined
    found.push(match)
  }
  return found
}

/** The sentence around a passage, as far as it may extend to both sides. */
function findSentence(slice: Slice, from: number, to: number, stops: Expression, withinMax: number): [number, number] {
  let start = Math.max(0, from - withinMax)
  for (let found = stops.exec(slice, start); found && found.index < from; found = stops.exec(slice, start)) {
    start = found.index + found[0].length
  }
  const next = stops.exec(slice, to)
  return [start, Math.min(next ? next.index : slice.text.length, to + withinMax, slice.text.length)]
}

/** Matches the beginnings of capturing groups; also escapes and classes, in which a bracket begins no group. */
const groupPattern = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|(?<group>\((?:(?!\?)|\?<(?![=!])))/g

function countGroups({ source }: RegExp): number {
  return [...source.matchAll(groupPattern)].filter(({ groups }) => groups!['group'] !== undefined).length
}
