import { findBody } from '@skillstead/skill-format'
import { toContentVector } from '../../search/words/term-vector.ts'
import { comparedCharactersMax, shingleRange, shingleWords, toShingles, hashBodyWords } from './shingles.ts'

/** Bodies with fewer shingles resemble each other by chance and are not indexed. */
const shinglesMin = 8
/** Sampling scales of long bodies: 1 shingle in 32 is stored, 1 in 16 looked up. `shinglesMax` may raise the scale. */
const keptScaleMax = 32
const lookupScaleMax = 16
/** The minimum number of shingles stored for a short body: a copy may have changed some of them. */
const keptMin = 24
/** The minimum number of shingles that are looked up. */
const lookedUpMin = 96
/** The target for the number of shingles stored or looked up for a long body; at most twice as many are used. */
const shinglesMax = 512
/** The maximum characters of a SKILL.md in a comparison: a frontmatter of common length and the compared body. */
const comparedDocumentCharactersMax = 64 * 1024 + comparedCharactersMax
/** Bytes in UTF-8 per UTF-16 unit. */
const bytesPerUnitMax = 3

/** The shingles of a body that the index stores, and the shingles that a comparison looks up. */
export interface Sketch {
  /** The number of shingles in the whole body, repeated shingles included; 0 for a body too short to be indexed. */
  readonly shingleCount: number
  /** The stored shingles: all below {@link shingleRange} / {@link toKeptScale}. */
  readonly kept: readonly number[]
  /**
   * The shingles to look up: all below {@link shingleRange} / {@link toLookupScale}; they include the stored shingles.
   */
  readonly lookedUp: readonly number[]
}

/** The sketch of a body that is not indexed. */
export const emptySketch: Sketch = { shingleCount: 0, kept: [], lookedUp: [] }

/** The sketch of a SKILL.md, from its bytes. */
export function toSketch(skillMd: Uint8Array): Sketch {
  return sketchWords(hashSkillMdWords(decodeSkillMd(skillMd)))
}

/** The sketch of a SKILL.md for the copy check and the terms for the search by need. */
export function sketchSkillMd(bytes: Uint8Array): { sketch: Sketch; terms: Uint8Array } {
  const skillMd = decodeSkillMd(bytes)
  return { sketch: sketchWords(hashSkillMdWords(skillMd)), terms: toContentVector(skillMd) }
}

/** The part of a SKILL.md that a comparison can use. */
export function decodeSkillMd(bytes: Uint8Array): string {
  return cutSkillMd(new TextDecoder().decode(bytes.subarray(0, bytesPerUnitMax * comparedDocumentCharactersMax)))
}

/** The words of the compared part of a SKILL.md's body. */
export function hashSkillMdWords(skillMd: string): Int32Array {
  return hashBodyWords(findBody(cutSkillMd(skillMd)).body)
}

/** As {@link decodeSkillMd}, for a SKILL.md that is already text. */
export function cutSkillMd(skillMd: string): string {
  return skillMd.slice(0, comparedDocumentCharactersMax)
}

/**
 * A scaled sketch (FracMinHash): the shingles below a threshold, not a fixed number of them, so that the sketch of a
 * small body is contained in the sketch of a large body that includes the small body. The sampling scales are powers of
 * two, so the stored shingles are a subset of the shingles to look up.
 */
export function sketchWords(words: Int32Array): Sketch {
  const shingleCount = words.length - shingleWords + 1
  if (shingleCount < shinglesMin) return emptySketch
  const lookedUp = toShingles(words, shingleWords, shingleRange / toLookupScale(shingleCount))
  const keptBound = shingleRange / toKeptScale(shingleCount)
  const keptCount = lookedUp.findIndex((shingle) => shingle >= keptBound)
  const kept = keptCount === -1 ? lookedUp : lookedUp.subarray(0, keptCount)
  return { shingleCount, kept: Array.from(kept), lookedUp: Array.from(lookedUp) }
}

/** The sampling scale for storing: N means that one of N shingles is stored. Longer bodies have a higher scale. */
export function toKeptScale(shingleCount: number): number {
  const few = toPowerOfTwo(shingleCount / keptMin)
  const scale = Math.min(keptScaleMax, few, toPowerOfTwo(Math.sqrt(shingleCount)))
  return Math.max(scale, toPowerOfTwo(shingleCount / shinglesMax))
}

/** The sampling scale for look-ups: lower than for storing, so that small shared parts are found. */
export function toLookupScale(shingleCount: number): number {
  const scale = Math.min(lookupScaleMax, toKeptScale(shingleCount), toPowerOfTwo(shingleCount / lookedUpMin))
  return Math.max(scale, toPowerOfTwo(shingleCount / shinglesMax))
}

/** The largest power of two that is not above the number. */
function toPowerOfTwo(number: number): number {
  return number < 2 ? 1 : 2 ** Math.floor(Math.log2(number))
}
