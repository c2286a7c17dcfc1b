/** Longest passage that is read at once, and its overlap with the next. */
const passageCharactersMax = 16_384
const overlapCharacters = 512

export interface Passage {
  readonly start: number
  readonly end: number
  readonly text: string
}

const blankLines = /\n\s*\n/g

/** Cuts a text at its blank lines, and longer passages into overlapping pieces. */
export function* toPassages(text: string): Generator<Passage> {
  let start = 0
  for (const { 0: gap, index } of text.matchAll(blankLines)) {
    yield* toPieces(text, start, index)
    start = index + gap.length
  }
  yield* toPieces(text, start, text.length)
}

function* toPieces(text: string, from: number, end: number): Generator<Passage> {
  for (let start = from; start < end; start += passageCharactersMax - overlapCharacters) {
    const pieceEnd = Math.min(start + passageCharactersMax, end)
    yield { start, end: pieceEnd, text: text.slice(start, pieceEnd) }
    if (pieceEnd === end) return
  }
}

/** The position of the first match of a global expression in a passage, as a position in the whole text. */
export function findPlace({ start, text }: Passage, pattern: RegExp): number {
  return start + Math.max(0, text.search(pattern))
}

/** Number of matches of a global expression, up to a limit. */
export function countMatches(text: string, pattern: RegExp, most: number): number {
  let count = 0
  pattern.lastIndex = 0
  while (count < most && pattern.test(text)) count++
  pattern.lastIndex = 0
  return count
}
