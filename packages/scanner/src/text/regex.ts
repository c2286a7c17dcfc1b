/** A piece of an expression: another expression, or a list of words of which any one matches. */
type Piece = RegExp | readonly string[]
export type Composer<T> = (strings: TemplateStringsArray, ...pieces: readonly Piece[]) => T

/**
 * Composes a regular expression from readable text. It differs from a regular expression literal as follows:
 *
 * - A line break and the white space around it mean nothing, so a long expression may take several lines.
 * - `(a|b)` is a group that captures nothing.
 * - `${piece}` inserts another expression or a list of words, in a group of its own.
 * - Gaps have names: `{word}`, `{0-3 words}` (each with the space after it), `{0-30 in sentence}` and `{0-60 in line}`
 *   (number of characters that belong to the same sentence or line).
 */
export const regex = regexWith('')

/** As {@link regex}, with flags. */
export function regexWith(flags: string): Composer<RegExp> {
  return (strings, ...pieces) => new RegExp(compose(strings, pieces), flags)
}

const sugar = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|\s*\n\s*|\((?!\?)|\{(?:word|(\d+)-(\d+) (words|in sentence|in line))\}/g

function compose(strings: TemplateStringsArray, pieces: readonly Piece[]): string {
  const sources = pieces.map((piece) => `(?:${piece instanceof RegExp ? piece.source : piece.join('|')})`)
  return String.raw({ raw: strings.raw.map(toPatternSource) }, ...sources)
}

function toPatternSource(text: string): string {
  return text.replace(sugar, (found, least?: string, most?: string, unit?: keyof typeof units) => {
    if (unit) return `${units[unit]}{${least},${most}}?`
    if (found === '(') return '(?:'
    if (found === '{word}') return word
    return found.startsWith('\\') || found.startsWith('[') ? found : ''
  })
}

const word = String.raw`\w{1,16}`
const units = {
  words: `(?:${word} )`,
  'in sentence': String.raw`[^.!?\uE000]`,
  'in line': String.raw`[^\n\uE000]`,
}
