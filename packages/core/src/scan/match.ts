import type { Flow, Pattern } from './rules.ts'

/** A span of a text, its end not included. */
export interface Match {
  readonly start: number
  readonly end: number
}

/** Finds a pattern in a piece of text. Built once for each pattern. */
export type Matcher = (text: string) => Iterable<Match>

export function toMatcher(pattern: Pattern): Matcher {
  return pattern instanceof RegExp ? toWordMatcher(pattern) : toFlowMatcher(pattern)
}

function toWordMatcher({ source }: RegExp): Matcher {
  const words = new RegExp(source, 'gi')
  return function* (text) {
    for (const { 0: found, index } of text.matchAll(words)) yield { start: index, end: index + found.length }
  }
}

/** What begins last is what an end belongs to, as long as nothing stops it and it is near. */
function toFlowMatcher({ first, last, stop, withinMax }: Flow): Matcher {
  const beginnings = new RegExp(first.source, 'gi')
  const marks = new RegExp(`(?<last>${last.source})|(?<first>${first.source})|${stop.source}`, 'gi')
  return function* (text) {
    let begun = findNext(beginnings, text, 0)
    while (begun) {
      const next = findNext(marks, text, begun.end)
      if (!next) return
      const isNear = next.start - begun.end <= withinMax
      if (isNear && next.groups!.last !== undefined) yield { start: begun.start, end: next.end }
      begun = next.groups!.first === undefined ? findNext(beginnings, text, next.end) : next
    }
  }
}

function findNext(pattern: RegExp, text: string, from: number) {
  pattern.lastIndex = from
  const found = pattern.exec(text)
  return found ? { start: found.index, end: pattern.lastIndex, groups: found.groups } : undefined
}

/** Whether its sentence forbids what was found: `Never run ...`, but not `Never hesitate to run ...`. */
export function isForbidden(text: string, { start }: Match): boolean {
  const before = text.slice(Math.max(0, start - forbiddanceCharactersMax), start)
  const parts = before.split(sentenceEndPattern)
  return forbiddancePattern.test(parts.at(-1)!)
}

const forbiddanceCharactersMax = 120
const sentenceEndPattern = /[.!?]\s|[\uE000:;,\u2013\u2014]/
const forbiddancePattern =
  /\b(?:never|do not|don't|must not|mustn't|should not|shouldn't|may not|cannot|can't|avoid|refuse to|forbidden to|not allowed to)\b(?! (?:hesitate|fail|forget|worry|stop|mind|skip|omit|miss|leave|refuse|delay|wait))/i

/** The HTML comments of a text, in order. */
export function findComments(text: string): Match[] {
  const comments: Match[] = []
  let start = text.indexOf('<!--')
  while (start !== -1) {
    const close = text.indexOf('-->', start + 4)
    const end = close === -1 ? text.length : close + 3
    comments.push({ start, end })
    start = text.indexOf('<!--', end)
  }
  return comments
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
