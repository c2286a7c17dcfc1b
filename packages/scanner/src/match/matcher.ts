import type { Flow, Pattern } from './rule.ts'

/** Reports the matches of a pattern in a text that begin at or after an offset. */
export type Matcher = (text: string, from: number, onMatch: (start: number, end: number) => void) => void

/** Builds the matcher of a pattern. */
export function toMatcher(pattern: Pattern): Matcher {
  const { match, view, isMeant } =
    'match' in pattern ? pattern : { match: pattern, view: undefined, isMeant: undefined }
  const flags = view === 'raw' ? 'g' : 'gi'
  if (match instanceof RegExp) return toWordMatcher(match, flags, isMeant)
  return toFlowMatcher(match, flags)
}

function toWordMatcher(
  { source, multiline, dotAll }: RegExp,
  flags: string,
  isMeant: (text: string) => boolean = always,
): Matcher {
  const words = new RegExp(source, `${flags}${multiline ? 'm' : ''}${dotAll ? 's' : ''}`)
  return (text, from, onMatch) => {
    words.lastIndex = from
    for (let found = words.exec(text); found; found = words.exec(text)) {
      if (isMeant(found[0])) onMatch(found.index, words.lastIndex)
      if (found[0] === '') words.lastIndex++
    }
  }
}

const always = () => true

/** Matches a beginning and an end near it, if no stop is between them. An end belongs to the beginning before it. */
function toFlowMatcher({ first, last, stop, withinMax }: Flow, flags: string): Matcher {
  const beginnings = new RegExp(first.source, flags)
  // The named groups distinguish an end from a beginning; a stop has no group.
  const marks = new RegExp(`(?<end>${last.source})|(?<begin>${first.source})|${stop.source}`, flags)
  return (text, from, onMatch) => {
    beginnings.lastIndex = from
    let begun = beginnings.exec(text)
    while (begun) {
      const begunEnd = begun.index + begun[0].length
      marks.lastIndex = begunEnd
      const next = marks.exec(text)
      if (!next) return
      const { end, begin } = next.groups!
      if (end !== undefined && next.index - begunEnd <= withinMax) onMatch(begun.index, marks.lastIndex)
      beginnings.lastIndex = Math.max(marks.lastIndex, begunEnd)
      begun = begin === undefined ? beginnings.exec(text) : next
    }
  }
}
