import { findBody } from '@skillstead/skill-format'
import { shingleRange, shingleWords, toShingles, toWords } from './shingles.ts'
import { comparedCharactersMax } from './copy-words.ts'

/** Shorter bodies are alike by chance, and are in no index. */
const shinglesMin = 8
/** Of long bodies one shingle in so many is kept and looked up, so that a small part of them is found. */
const keptScaleMax = 32
const lookupScaleMax = 16
/** Of a short one at least so many are kept, or all: fewer may be the very ones that a copy changed. */
const keptMin = 24
/** And so many are looked up. */
const lookedUpMin = 96
/** However long a body is, no more are kept or looked up than twice as many. */
const shinglesMax = 512
/** How much of a SKILL.md can matter: the body as far as it is compared, after a frontmatter of any sane length. */
const comparedDocumentCharactersMax = 64 * 1024 + comparedCharactersMax
/** Of UTF-8 a UTF-16 unit. */
const bytesPerUnitMax = 3

/** What the index keeps of a body, and what is looked up for it. */
export interface Sketch {
  /** Of the whole body, repeated ones too; 0 for one too short to be in the index. */
  readonly shingleCount: number
  /** Those kept: all below {@link shingleRange} / {@link toKeptScale}. */
  readonly kept: readonly number[]
  /** Those to look up, all below {@link shingleRange} / {@link toLookupScale}: those kept, and more. */
  readonly lookedUp: readonly number[]
}

/** The sketch of a SKILL.md, from its bytes. */
export function toSketch(skillMd: Uint8Array): Sketch {
  return sketchWords(readWords(decodeSkillMd(skillMd)))
}

/** As much of a SKILL.md as can matter for a comparison. */
export function decodeSkillMd(bytes: Uint8Array): string {
  return cutSkillMd(new TextDecoder().decode(bytes.subarray(0, bytesPerUnitMax * comparedDocumentCharactersMax)))
}

/** The words of a SKILL.md's body as far as it is compared. */
export function readWords(skillMd: string): Int32Array {
  return toWords(findBody(cutSkillMd(skillMd)).body)
}

/** As {@link decodeSkillMd}, of one that is text already. */
export function cutSkillMd(skillMd: string): string {
  return skillMd.slice(0, comparedDocumentCharactersMax)
}

/**
 * A scaled sketch (FracMinHash): of all shingles those with the smallest numbers, by a threshold and not by a count, so
 * that a small body's are among those of a large one that has it. Thresholds are powers of two, and one is the other's
 * part.
 */
export function sketchWords(words: Int32Array): Sketch {
  const shingleCount = words.length - shingleWords + 1
  if (shingleCount < shinglesMin) return { shingleCount: 0, kept: [], lookedUp: [] }
  const lookedUp = toShingles(words, shingleWords, shingleRange / toLookupScale(shingleCount))
  const keptBound = shingleRange / toKeptScale(shingleCount)
  const keptCount = lookedUp.findIndex((shingle) => shingle >= keptBound)
  const kept = keptCount === -1 ? lookedUp : lookedUp.subarray(0, keptCount)
  return { shingleCount, kept: Array.from(kept), lookedUp: Array.from(lookedUp) }
}

/** One shingle in so many is kept: the more, the longer the body, and more in all. */
export function toKeptScale(shingleCount: number): number {
  const few = toPowerOfTwo(shingleCount / keptMin)
  const scale = Math.min(keptScaleMax, few, toPowerOfTwo(Math.sqrt(shingleCount)))
  return Math.max(scale, toPowerOfTwo(shingleCount / shinglesMax))
}

/** One shingle in so many is looked up; more than are kept, so that a body finds what is kept of a small part of it. */
export function toLookupScale(shingleCount: number): number {
  const scale = Math.min(lookupScaleMax, toKeptScale(shingleCount), toPowerOfTwo(shingleCount / lookedUpMin))
  return Math.max(scale, toPowerOfTwo(shingleCount / shinglesMax))
}

/** The largest that is not above the number. */
function toPowerOfTwo(number: number): number {
  return number < 2 ? 1 : 2 ** Math.floor(Math.log2(number))
}
