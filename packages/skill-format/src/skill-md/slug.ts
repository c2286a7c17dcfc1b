import { limits } from '@skillstead/protocol'

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
