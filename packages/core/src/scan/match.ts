import { contextCharacters } from './fold.ts'
import { crossings, toCrossing, type Crossing } from './pattern-crossing.ts'
import { spread, toNeeds, type Need } from './pattern-needs.ts'
import { toWidth } from './pattern-width.ts'
import type { Flow, Pattern } from './rule.ts'

/** A span of a text, its end not included. */
export interface Match {
  readonly start: number
  readonly end: number
}

type OnMatch = (start: number, end: number) => void

/** Finds a pattern in a piece of text. Built once for each pattern. */
export interface Matcher {
  readonly view: 'folded' | 'raw'
  /** Of the texts of each of these, every match holds one; of its anchors too. */
  readonly needs: readonly Need[]
  /** Whether a match may go on behind the end of a passage, or of a line. */
  readonly crosses: Crossing
  /** How much of what follows a match is to be seen for it. */
  readonly aheadMax: number
  /** Whether something may begin at an offset: no match does where nothing does. */
  mayBegin(text: string, at: number): boolean
  /** Finds all that begins at an offset or behind it. */
  find(text: string, from: number, onMatch: OnMatch): void
}

/** Throws a `TypeError` if a match may be wider than what is kept between two pieces of a text. */
export function toMatcher({ anchors, match, ...pattern }: Pattern): Matcher {
  const view = pattern.view ?? 'folded'
  const flags = view === 'raw' ? 'g' : 'gi'
  const isFlow = !(match instanceof RegExp)
  const width = isFlow ? toFlowWidth(match) : toWidth(match.source)
  if (width > contextCharacters) {
    const { source } = isFlow ? match.first : match
    throw new TypeError(`A match of ${source} may be of ${width} characters; ${contextCharacters} is the most.`)
  }
  const sources = isFlow ? [match.first.source, match.last.source, match.stop.source] : [match.source]
  const aheadMax = sources.some((source) => lookAheadPattern.test(source)) ? aheadCharactersMax : 1
  const anchored: Need = anchors.map((text) => ({ text, before: width, behind: width, outside: text.length - 1 }))
  const find = isFlow ? toFlowFinder(match, flags) : toWordFinder(match, flags)
  const mayBegin = toBeginningTest(isFlow ? match.first : match, flags)
  // What folding takes away may stand in the text as it is written.
  if (view === 'raw') return { view, needs: [anchored], crosses: 'passages', aheadMax, mayBegin, find }
  const hasAnchor = (need: Need) => need.every(({ text }) => anchors.some((anchor) => text.includes(anchor)))
  const needs = (isFlow ? toFlowNeeds(match) : toNeeds(match)).filter((need) => isWorthIt(need) || hasAnchor(need))
  return {
    view,
    needs: needs.some(hasAnchor) ? needs : [...needs, anchored],
    aheadMax,
    crosses: isFlow ? toFlowCrossing(match) : toCrossing(match.source),
    mayBegin,
    find,
  }
}

function toFlowNeeds({ first, last, withinMax }: Flow): Need[] {
  const behindFirst = withinMax + toWidth(last.source)
  const beforeLast = toWidth(first.source) + withinMax
  return [
    ...toNeeds(first).map((need) => spread(need, 0, behindFirst)),
    ...toNeeds(last).map((need) => spread(need, beforeLast, 0)),
  ]
}

/** A look ahead at more than the next character. */
const lookAheadPattern = /\(\?[=!](?!\\s(?:\|\$)?\))/
const aheadCharactersMax = 128

/** Shorter words stand everywhere, and it is not worth looking for them. */
const needCharactersMin = 4

function isWorthIt(need: Need): boolean {
  return need.every(({ text }) => text.trim().length >= needCharactersMin)
}

function toBeginningTest({ source, multiline, dotAll }: RegExp, flags: string): Matcher['mayBegin'] {
  // Many are never asked for, and to read an expression takes its time.
  let words: RegExp | undefined
  return (text, at) => {
    words ??= new RegExp(source, `${flags.replace('g', 'y')}${multiline ? 'm' : ''}${dotAll ? 's' : ''}`)
    words.lastIndex = at
    return words.test(text)
  }
}

type Find = Matcher['find']

function toWordFinder({ source, multiline, dotAll }: RegExp, flags: string): Find {
  const words = new RegExp(source, `${flags}${multiline ? 'm' : ''}${dotAll ? 's' : ''}`)
  return (text, from, onMatch) => {
    words.lastIndex = from
    for (let found = words.exec(text); found; found = words.exec(text)) {
      const { index } = found
      onMatch(index, index + found[0].length)
      if (found[0] === '') words.lastIndex++
    }
  }
}

/** What begins last is what an end belongs to, as long as nothing stops it and it is near. */
function toFlowFinder({ first, last, stop, withinMax }: Flow, flags: string): Find {
  const beginnings = new RegExp(first.source, flags)
  const marks = new RegExp(`(${last.source})|(${first.source})|${stop.source}`, flags)
  const firstGroup = countGroups(last) + 2
  return (text, from, onMatch) => {
    beginnings.lastIndex = from
    let begun = beginnings.exec(text)
    while (begun) {
      const begunEnd = begun.index + begun[0].length
      marks.lastIndex = begunEnd
      const next = marks.exec(text)
      if (!next) return
      const end = next.index + next[0].length
      if (next.index - begunEnd <= withinMax && next[1] !== undefined) onMatch(begun.index, end)
      beginnings.lastIndex = Math.max(end, begunEnd)
      begun = next[firstGroup] === undefined ? beginnings.exec(text) : next
    }
  }
}

/** Escapes and classes, whose brackets are no groups; and the beginnings of groups that keep what they match. */
const groupPattern = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|(?<group>\((?:(?!\?)|\?<(?![=!])))/g

function countGroups({ source }: RegExp): number {
  return [...source.matchAll(groupPattern)].filter(({ groups }) => groups!['group'] !== undefined).length
}

function toFlowWidth({ first, last, withinMax }: Flow): number {
  return toWidth(first.source) + withinMax + toWidth(last.source)
}

/** A flow goes on until what stops it, whatever its ends are. */
function toFlowCrossing({ first, last, stop }: Flow): Crossing {
  const ends = toCrossing(`${first.source}|${last.source}`)
  const between = !stop.test('\uE000') ? 'passages' : stop.test('\n') ? 'nothing' : 'lines'
  return crossings[Math.max(crossings.indexOf(ends), crossings.indexOf(between))]!
}

/** Whether an offset lies in one of some spans, which are in order and apart. */
export function isWithin(spans: readonly Match[], offset: number): boolean {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (spans[middle]!.end <= offset) low = middle + 1
    else high = middle
  }
  return low < spans.length && spans[low]!.start <= offset
}
