import type { Passage } from '@skillstead/protocol'
import { findBody } from '@skillstead/skill-format'
import { hashShingle, isBoilerplate, shingleWords } from './shingles.ts'
import { cutSkillMd } from './sketch.ts'
import { comparedCharactersMax, foldText, splitWords } from './copy-words.ts'

const passagesMax = 5
const passageCharactersMax = 500
/** Places with the same five words that are tried. More occur in tables and lists only. */
const placesMax = 8

/** The words of a document's body with their positions. */
export interface PlacedWords {
  readonly body: string
  readonly hashes: readonly number[]
  /** Offsets in UTF-16 units of the body. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** 1-based line numbers in the document. */
  readonly lines: readonly number[]
}

/** Finds the words of a SKILL.md, line by line, for {@link findPassages}. */
export function placeWords(skillMd: string): PlacedWords {
  const { body: whole, bodyLine } = findBody(cutSkillMd(skillMd))
  const body = whole.slice(0, comparedCharactersMax)
  const placed = { hashes: [] as number[], starts: [] as number[], ends: [] as number[], lines: [] as number[] }
  let start = 0
  for (const [i, line] of body.split('\n').entries()) {
    const folded = foldText(line)
    const words = splitWords(folded)
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

/** The longest runs of words that both documents contain, longest first, in the wording of the first. */
export function findPassages(one: PlacedWords, other: PlacedWords): Passage[] {
  const places = indexPlaces(other)
  const words = Int32Array.from(one.hashes)
  const runs: Run[] = []
  for (let i = 0; i + shingleWords <= words.length;) {
    const run = findLongest(one, other, i, places.get(hashShingle(words, i, shingleWords)) ?? [])
    if (run) runs.push(run)
    i += run?.length ?? 1
  }
  const longest = runs.toSorted((a, b) => b.length - a.length).slice(0, passagesMax)
  return longest.map((run) => ({
    text: cutText(one, run),
    line: one.lines[run.from]!,
    otherLine: other.lines[run.otherFrom]!,
  }))
}

interface Run {
  readonly from: number
  readonly otherFrom: number
  /** In words. */
  readonly length: number
}

/** The positions of each five-word sequence, without common boilerplate. */
function indexPlaces({ hashes }: PlacedWords): Map<number, number[]> {
  const words = Int32Array.from(hashes)
  const places = new Map<number, number[]>()
  for (let i = 0; i + shingleWords <= words.length; i++) {
    const shingle = hashShingle(words, i, shingleWords)
    if (isBoilerplate(shingle)) continue
    const list = places.get(shingle)
    if (!list) places.set(shingle, [i])
    else if (list.length < placesMax) list.push(i)
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

function cutText({ body, starts, ends }: PlacedWords, { from, length }: Run): string {
  const start = starts[from]!
  const end = Math.min(ends[from + length - 1]!, start + passageCharactersMax)
  return body.slice(start, end).toWellFormed()
}
