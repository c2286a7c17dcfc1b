import { contextCharacters } from './fold.ts'
import { toFactors } from './pattern-factors.ts'
import { toWidth } from './pattern-width.ts'
import type { Flow, Pattern } from './rule.ts'

/** A span of a text, its end not included. */
export interface Match {
  readonly start: number
  readonly end: number
}

export type OnMatch = (start: number, end: number) => void

/** Finds a pattern in a piece of text. Built once for each pattern. */
export interface Matcher {
  readonly view: 'folded' | 'raw'
  /** The most characters that a match takes before the end of its anchor, and behind its beginning. */
  readonly beforeMax: number
  readonly behindMax: number
  /** Of each of these lists, at most two, every match holds one beside its anchor. */
  readonly needs: readonly (readonly string[])[]
  find(text: string, onMatch: OnMatch): void
}

/** Throws a `TypeError` if a match may be wider than what is kept between two pieces of a text. */
export function toMatcher({ anchors, match, ...pattern }: Pattern): Matcher {
  const view = pattern.view ?? 'folded'
  const flags = view === 'raw' ? 'g' : 'gi'
  const isFlow = !(match instanceof RegExp)
  const widthMax = isFlow ? toFlowWidth(match) : toWidth(match.source)
  if (widthMax > contextCharacters) {
    const { source } = isFlow ? match.first : match
    throw new TypeError(`A match of ${source} may be of ${widthMax} characters; ${contextCharacters} is the most.`)
  }
  const reach = isFlow ? toFlowReach(match, anchors, widthMax) : { beforeMax: widthMax, behindMax: widthMax }
  const needs = (isFlow ? [match.first, match.last] : [match]).flatMap((part) => toNeed(part, anchors))
  return { view, ...reach, needs, find: isFlow ? toFlowFinder(match, flags) : toWordFinder(match, flags) }
}

/** Shorter words stand everywhere, and it is not worth looking for them. */
const needCharactersMin = 4

/** What a part of a pattern needs, unless its anchors ask for it already. */
function toNeed(part: RegExp, anchors: readonly string[]): (readonly string[])[] {
  const factors = toFactors(part)
  if (!factors || factors.some((factor) => factor.trim().length < needCharactersMin)) return []
  if (factors.every((factor) => anchors.some((anchor) => factor.includes(anchor)))) return []
  return [factors.filter((factor) => !factors.some((other) => other !== factor && factor.includes(other)))]
}

/** Where all anchors are words of one end of a flow, the flow lies on one side of them. */
function toFlowReach({ first, last }: Flow, anchors: readonly string[], widthMax: number) {
  const areIn = (end: RegExp, other: RegExp) => anchors.every((anchor) => holds(end, anchor) && !holds(other, anchor))
  return {
    beforeMax: areIn(first, last) ? toWidth(first.source) : widthMax,
    behindMax: areIn(last, first) ? toWidth(last.source) : widthMax,
  }
}

function holds({ source }: RegExp, anchor: string): boolean {
  return source.toLowerCase().includes(anchor)
}

type Find = Matcher['find']

function toWordFinder({ source, multiline, dotAll }: RegExp, flags: string): Find {
  const words = new RegExp(source, `${flags}${multiline ? 'm' : ''}${dotAll ? 's' : ''}`)
  return (text, onMatch) => {
    words.lastIndex = 0
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
  return (text, onMatch) => {
    beginnings.lastIndex = 0
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

/** How many groups of an expression keep what they matched. */
function countGroups({ source }: RegExp): number {
  return new RegExp(`${source}|`).exec('')!.length - 1
}

function toFlowWidth({ first, last, withinMax }: Flow): number {
  return toWidth(first.source) + withinMax + toWidth(last.source)
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
