import { closest, distance } from 'fastest-levenshtein'

/** The name that was probably meant, with at most one wrong letter in three; undefined if no name is close. */
export function findNearest(word: string, names: readonly string[]): string | undefined {
  if (names.length === 0 || word === '') return undefined
  const near = closest(word, names)
  return distance(word, near) <= Math.max(1, Math.floor(near.length / 3)) ? near : undefined
}
