import { shingleWords, toShingles, toWords } from './shingles.ts'

/** The similarity from which a text counts as a copy. */
export const copySimilarity = 0.4
/** Lower similarities are not shown. */
export const shownSimilarity = 0.3
/**
 * From this share of common shingles on, two bodies are the same text with small changes, not one part of the other.
 */
const nearResemblance = 0.8

/** The similarity of two bodies. */
export interface Comparison {
  /** The share of the smaller body's shingles that the other body contains. */
  readonly similarity: number
  /** `exact`: the same words; `near`: nearly the same words and size; `partial`: one contains a part of the other. */
  readonly kind: 'exact' | 'near' | 'partial'
  /** The share of both bodies' shingles that both contain (Jaccard index); 1 for the same set. */
  readonly resemblance: number
}

/**
 * How much of the smaller of two bodies the other contains, from 0 to 1: the share of its runs of five words. Case,
 * white space, punctuation and the order of passages make no difference, and common boilerplate does not count. A body
 * that is part of the other gives 1.
 *
 * @example measureSimilarity('Read the file, then sum it up.', 'First read the file, then sum it up. Be brief.') // 1
 */
export function measureSimilarity(a: string, b: string): number {
  return comparerWith(toWords(a))(toWords(b)).similarity
}

/** As {@link measureSimilarity}, with the kind of similarity; compares the words of one body with those of many. */
export function comparerWith(a: Int32Array): (b: Int32Array) => Comparison {
  const own = toShingles(a, shingleWords)
  return (b) => {
    // A body of fewer words than a shingle is one run of all its words.
    const length = Math.min(shingleWords, a.length, b.length)
    return compare(a, b, length < shingleWords ? toShingles(a, length) : own, toShingles(b, length))
  }
}

function compare(a: Int32Array, b: Int32Array, one: Float64Array, other: Float64Array): Comparison {
  if (isSame(a, b)) return { similarity: 1, kind: 'exact', resemblance: 1 }
  const isEmpty = a.length === 0 || b.length === 0
  const smaller = isEmpty ? 0 : Math.min(one.length, other.length)
  if (smaller === 0) return { similarity: 0, kind: 'partial', resemblance: 0 }
  const shared = countShared(one, other)
  const resemblance = shared / (one.length + other.length - shared)
  return { similarity: shared / smaller, kind: resemblance >= nearResemblance ? 'near' : 'partial', resemblance }
}

function isSame(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i])
}

function countShared(a: Float64Array, b: Float64Array): number {
  let shared = 0
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const difference = a[i]! - b[j]!
    if (difference === 0) shared++
    if (difference <= 0) i++
    if (difference >= 0) j++
  }
  return shared
}
