import type { Passage } from '@skillstead/protocol'
import { findBody, readBlocks } from '@skillstead/skill-format'
import {
  comparedCharactersMax,
  foldComparedText,
  hashShingle,
  isBoilerplate,
  shingleWords,
  splitFoldedWords,
  toShingles,
  hashBodyWords,
} from './shingles.ts'
import { cutSkillMd } from './sketch.ts'

/** The similarity from which a text counts as a copy. */
export const copySimilarity = 0.4
/** Matches with a lower similarity are not shown. */
export const shownSimilarity = 0.3
/** The minimum Jaccard index of two bodies that count as nearly the same text. */
const nearResemblance = 0.8

/** Weight of a shingle in a code fence. Copies keep the code; other skills from the same template do not. */
const codeWeight = 3

/** A body that is compared. */
export interface ComparedBody {
  readonly body: string
  readonly words: Int32Array
}

export interface Comparison {
  /** The similarity from 0 to 1; see {@link measureSimilarity}. */
  readonly similarity: number
  /** `exact`: the same words; `near`: nearly the same words and size; `partial`: one contains a part of the other. */
  readonly kind: 'exact' | 'near' | 'partial'
  /** Of the shingles of either body, the share that both bodies contain (Jaccard index); 1 for the same set. */
  readonly resemblance: number
}

/**
 * How much of the smaller of two bodies the other contains, from 0 to 1: the share of its runs of five words, or the
 * share in which runs in code fences count three times, whichever is higher. Case, white space, punctuation and the
 * order of passages make no difference, and common boilerplate does not count. A body that is part of the other gives
 * 1.
 *
 * @example measureSimilarity('Read the file, then sum it up.', 'First read the file, then sum it up. Be brief.') // 1
 */
export function measureSimilarity(a: string, b: string): number {
  return comparerWith(toCompared(a))(toCompared(b)).similarity
}

/** The compared part of a SKILL.md. */
export function readCompared(skillMd: string): ComparedBody {
  return toCompared(findBody(cutSkillMd(skillMd)).body)
}

/** Prepares a body for {@link comparerWith}. */
export function toCompared(body: string): ComparedBody {
  return { body, words: hashBodyWords(body) }
}

/** Returns a function that compares bodies with `one` as {@link measureSimilarity} does, and also returns the kind. */
export function comparerWith(one: ComparedBody): (other: ComparedBody) => Comparison {
  const own = toShingles(one.words, shingleWords)
  let ownCode: Float64Array | undefined
  return (other) => {
    const [a, b] = [one.words, other.words]
    if (areSameWords(a, b)) return { similarity: 1, kind: 'exact', resemblance: 1 }
    // A body of fewer words than a shingle is one run of all its words.
    const length = Math.min(shingleWords, a.length, b.length)
    const [mine, theirs] = [length < shingleWords ? toShingles(a, length) : own, toShingles(b, length)]
    const smaller = length === 0 ? 0 : Math.min(mine.length, theirs.length)
    const shared = smaller === 0 ? 0 : countSharedShingles(mine, theirs)
    if (shared === 0) return { similarity: 0, kind: 'partial', resemblance: 0 }
    const resemblance = shared / (mine.length + theirs.length - shared)
    const kind = resemblance >= nearResemblance ? 'near' : 'partial'
    if (shared === smaller) return { similarity: 1, kind, resemblance }
    const [code, otherCode] = [(ownCode ??= toCodeShingles(one.body)), toCodeShingles(other.body)]
    const weighed = Math.min(weighShingles(mine.length, code.length), weighShingles(theirs.length, otherCode.length))
    const share = weighShingles(shared, countSharedShingles(code, otherCode)) / weighed
    return { similarity: Math.max(shared / smaller, share), kind, resemblance }
  }
}

/** The total weight of `all` shingles, of which `inCode` are in code fences. */
function weighShingles(all: number, inCode: number): number {
  return all + (codeWeight - 1) * inCode
}

const codeFencePattern = /^ {0,3}[`~]/

/** The shingles within the code fences of a body. */
function toCodeShingles(body: string): Float64Array {
  const { text, list } = readBlocks(body)
  const fences = list.filter(
    ({ kind, start }) => kind === 'hidden' && codeFencePattern.test(text.slice(start, start + 4)),
  )
  return toShingles(hashBodyWords(fences.map(({ start, end }) => text.slice(start, end)).join('\n')))
}

function areSameWords(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i])
}

function countSharedShingles(a: Float64Array, b: Float64Array): number {
  let shared = 0
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const difference = a[i]! - b[j]!
    if (difference === 0) shared++
    if (difference <= 0) i++
    if (difference >= 0) j++
  }
  return shared
}

const sharedPassagesMax = 5
const sharedPassageCharactersMax = 500
/** The maximum positions in a document tried for the same five words. Only tables and lists repeat words more often. */
const shinglePlacesMax = 8

/** The words of a document's body with their positions. */
interface PlacedWords {
  readonly body: string
  readonly hashes: readonly number[]
  /** Offsets in UTF-16 units of the body. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** 1-based line numbers in the document. */
  readonly lines: readonly number[]
}

/** Finds the words of a SKILL.md, line by line, for {@link findSharedPassages}. */
export function placeWords(skillMd: string): PlacedWords {
  const { body: whole, bodyLine } = findBody(cutSkillMd(skillMd))
  const body = whole.slice(0, comparedCharactersMax)
  const placed: Record<'hashes' | 'starts' | 'ends' | 'lines', number[]> = {
    hashes: [],
    starts: [],
    ends: [],
    lines: [],
  }
  let start = 0
  for (const [i, line] of body.split('\n').entries()) {
    const folded = foldComparedText(line)
    const words = splitFoldedWords(folded)
    // Folding rarely changes lengths. If it does, positions within the line are unknown, so the whole line is used.
    const isInPlace = folded.length === line.length
    for (const [k, hash] of words.hashes.entries()) {
      placed.hashes.push(hash)
      placed.starts.push(start + (isInPlace ? words.starts[k]! : 0))
      placed.ends.push(start + (isInPlace ? words.ends[k]! : line.length))
      placed.lines.push(bodyLine + i)
    }
    start += line.length + 1
  }
  return { body, ...placed }
}

/** The longest runs of words that both documents contain, longest first, in the wording of the first document. */
export function findSharedPassages(one: PlacedWords, other: PlacedWords): Passage[] {
  const places = indexShinglePlaces(other)
  const words = Int32Array.from(one.hashes)
  const runs: Run[] = []
  for (let i = 0; i + shingleWords <= words.length;) {
    const run = findLongest(one, other, i, places.get(hashShingle(words, i, shingleWords)) ?? [])
    if (run) runs.push(run)
    i += run?.length ?? 1
  }
  const longest = runs.toSorted((a, b) => b.length - a.length).slice(0, sharedPassagesMax)
  return longest.map((run) => ({
    text: cutSharedPassage(one, run),
    line: one.lines[run.from]!,
    otherLine: other.lines[run.otherFrom]!,
  }))
}

interface Run {
  readonly from: number
  readonly otherFrom: number
  /** The length of the passage in words. */
  readonly length: number
}

/** The positions of each five-word sequence, without common boilerplate. */
function indexShinglePlaces({ hashes }: PlacedWords): Map<number, number[]> {
  const words = Int32Array.from(hashes)
  const places = new Map<number, number[]>()
  for (let i = 0; i + shingleWords <= words.length; i++) {
    const shingle = hashShingle(words, i, shingleWords)
    if (isBoilerplate(shingle)) continue
    const list = places.get(shingle)
    if (!list) places.set(shingle, [i])
    else if (list.length < shinglePlacesMax) list.push(i)
  }
  return places
}

function findLongest(one: PlacedWords, other: PlacedWords, from: number, places: readonly number[]): Run | undefined {
  let best: Run | undefined
  for (const otherFrom of places) {
    let length = 0
    while (from + length < one.hashes.length && one.hashes[from + length] === other.hashes[otherFrom + length]) length++
    if (length >= shingleWords && length > (best?.length ?? 0)) best = { from, otherFrom, length }
  }
  return best
}

function cutSharedPassage({ body, starts, ends }: PlacedWords, { from, length }: Run): string {
  const start = starts[from]!
  const end = Math.min(ends[from + length - 1]!, start + sharedPassageCharactersMax)
  return body.slice(start, end).toWellFormed()
}
