import { limits } from '@skillstead/protocol'

/** Converts a plain JSON value to text: list items joined by commas, mappings as `key: value`. */
export function toPlainText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(toPlainText).filter(Boolean).join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([key, item]) => (item === null ? key : `${key}: ${toPlainText(item)}`))
    .join(', ')
}

/** Truncates a text, at a word if it has words, never inside a surrogate pair. */
export function cutAtWord(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const cut = text.slice(0, charactersMax + 1)
  const space = cut.lastIndexOf(' ')
  if (space > charactersMax / 2) return cut.slice(0, space).trimEnd()
  return text.slice(0, /[\uD800-\uDBFF]/.test(text[charactersMax - 1]!) ? charactersMax - 1 : charactersMax)
}

/** As {@link cutAtWord}. A truncated text ends with an ellipsis, which counts as one of the characters. */
export function shortenAtWord(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${cutAtWord(text, charactersMax - 1).trimEnd()}…`
}

/**
 * Derives a name from a text: lower case, without diacritics, every other run of characters a hyphen, at most 64
 * characters. `''` if no usable characters remain, as for a text in Chinese.
 *
 * @example
 * toSlug('Crème Brûlée & Co.') // 'creme-brulee-co'
 */
export function toSlug(text: string): string {
  // Longer texts are not names, and normalising them would take long.
  const letters = text
    .slice(0, slugSourceCharactersMax)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
  const hyphenated = letters.replace(/[^a-z0-9]+/g, '-').replace(/^-/, '')
  return hyphenated.slice(0, limits.skillNameCharactersMax).replace(/-$/, '')
}

const slugSourceCharactersMax = 10_000
