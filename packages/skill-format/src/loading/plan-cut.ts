import { cutAtWord } from '../skill-md/text.ts'

/**
 * Shortens a text to `charactersMax` characters: at the end of a sentence if at least half of the text remains,
 * otherwise after a word, with an ellipsis. Never splits a surrogate pair.
 */
export function cutAtSentence(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const end = findSentenceEnd(text, charactersMax)
  if (end >= charactersMax / 2) return text.slice(0, end)
  return charactersMax < 1 ? '' : `${cutAtWord(text, charactersMax - 1)}…`
}

/** End of the last whole sentence within `charactersMax` characters; 0 for none. */
function findSentenceEnd(text: string, charactersMax: number): number {
  for (let at = charactersMax - 1; at >= 0; at--) {
    const mark = text[at]!
    if (wideMarks.has(mark) || (marks.has(mark) && /\s/.test(text[at + 1]!) && !endsWithLetters(text, at)))
      return at + 1
  }
  return 0
}

const marks = new Set(['.', '!', '?'])
const wideMarks = new Set(['。', '！', '？'])

/** Whether the full stop follows an abbreviation such as `e.g.` or an initial. */
function endsWithLetters(text: string, at: number): boolean {
  return /(?:^|[\s(.])(?:\p{L}|vs|etc|cf|incl)$/u.test(text.slice(Math.max(0, at - 6), at))
}
