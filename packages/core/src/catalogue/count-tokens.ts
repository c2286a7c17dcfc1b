/** Counts the tokens of a text, or bounds them from above; never fewer than there are. */
export type CountTokens = (text: string) => number

let counting: Promise<CountTokens> | undefined

/**
 * The counter of the encoding `o200k_base`. Its table takes 0.4 s to read and 100 MB of memory, so that it is read when
 * somebody first asks for a budget.
 */
export function getTokenCounter(): Promise<CountTokens> {
  counting ??= createCounter()
  return counting
}

async function createCounter(): Promise<CountTokens> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  // A text that spells a mark of the encoding, such as the end of a text, is a text like any other.
  const options = { disallowedSpecial: new Set<string>() }
  return (text) => boundTokens(text, (part) => countTokens(part, options))
}

/**
 * Merging takes time with the square of the length of what the encoding takes as one piece: a run of letters, or of
 * anything but letters and digits. What is longer than any word counts as many tokens as bytes, which no text exceeds.
 */
function boundTokens(text: string, countTokens: CountTokens): number {
  if (!mayHoldLongRun(text)) return countTokens(text)
  let tokens = 0
  let from = 0
  for (const { 0: run, index } of text.matchAll(/[\p{L}\p{M}]+|[^\p{L}\p{N}]+/gu)) {
    if (run.length <= runCharactersMax) continue
    // The character before may belong to the run's piece, and so be a token less of what is counted here.
    tokens += countTokens(text.slice(from, index)) + Buffer.byteLength(run) + 2
    from = index + run.length
  }
  return tokens + countTokens(text.slice(from))
}

const runCharactersMax = 256

/** Looks at the kinds of ASCII characters alone, where others may be of either kind: quick, and never wrongly no. */
function mayHoldLongRun(text: string): boolean {
  let letters = 0
  let others = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isLetter = (code > 96 && code < 123) || (code > 64 && code < 91)
    const isDigit = code > 47 && code < 58
    letters = isLetter || code > 127 ? letters + 1 : 0
    others = isLetter || isDigit ? 0 : others + 1
    if (letters > runCharactersMax || others > runCharactersMax) return true
  }
  return false
}
