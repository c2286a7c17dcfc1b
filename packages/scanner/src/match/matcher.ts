import type { Flow, Pattern, Together } from './rule.ts'

/** Reports the matches of a pattern in a text that begin at or after an offset. */
export type Matcher = (text: string, from: number, onMatch: (start: number, end: number) => void) => void

/** Builds the matcher of a pattern. */
export function toMatcher(pattern: Pattern): Matcher {
  const { match, view, isMeant } =
    'match' in pattern ? pattern : { match: pattern, view: undefined, isMeant: undefined }
  const flags = view === 'raw' ? 'g' : 'gi'
  if (match instanceof RegExp) return toWordMatcher(match, flags, isMeant)
  return 'all' in match ? toTogetherMatcher(match, flags) : toFlowMatcher(match, flags)
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

/** Finds the first expression, then the other expressions in the sentence around it; a sentence counts once. */
function toTogetherMatcher({ all, stop, withinMax, unless }: Together, flags: string): Matcher {
  const [first, ...others] = all.map(({ source }) => new RegExp(source, flags))
  const stops = new RegExp(stop.source, flags)
  const innocent = new RegExp(unless.source, 'i')
  return (text, from, onMatch) => {
    first!.lastIndex = from
    for (let found = first!.exec(text); found; found = first!.exec(text)) {
      const foundEnd = first!.lastIndex
      const [start, end] = findSentence(text, found.index, foundEnd, stops, withinMax)
      const sentence = text.slice(start, end)
      const spans = findAll(sentence, others)
      if (!spans || innocent.test(sentence)) continue
      onMatch(
        Math.min(found.index, ...spans.map((span) => start + span.start)),
        Math.max(foundEnd, ...spans.map((span) => start + span.end)),
      )
      first!.lastIndex = Math.max(end, foundEnd)
    }
  }
}

/** The first match of each expression in a text; undefined unless all match. */
function findAll(text: string, expressions: readonly RegExp[]): { start: number; end: number }[] | undefined {
  const spans: { start: number; end: number }[] = []
  for (const expression of expressions) {
    expression.lastIndex = 0
    const found = expression.exec(text)
    if (!found) return undefined
    spans.push({ start: found.index, end: expression.lastIndex })
  }
  return spans
}

/** The sentence around a passage, with at most `withinMax` characters on each side of the passage. */
function findSentence(text: string, from: number, to: number, stops: RegExp, withinMax: number): [number, number] {
  let start = Math.max(0, from - withinMax)
  stops.lastIndex = start
  for (let found = stops.exec(text); found && found.index < from; found = stops.exec(text)) start = stops.lastIndex
  stops.lastIndex = to
  const next = stops.exec(text)
  return [start, Math.min(next ? next.index : text.length, to + withinMax, text.length)]
}
