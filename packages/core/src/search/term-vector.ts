import { findBody } from '@skillstead/skill-format'
import { stemmer } from 'stemmer'
import { isStopWord, tokenize } from './tokenize.ts'

/** How a field counts: its weight, how much its length reduces it, and the average length in words. */
interface FieldRule {
  weight: number
  lengthShare: number
  averageLength: number
}

/**
 * The fields of a skill and their parameters for BM25F (S. Robertson, H. Zaragoza, M. Taylor: Simple BM25 extension to
 * multiple weighted fields, CIKM 2004). They were tuned on described needs of another corpus. The average lengths are
 * constants, measured on the open corpus: so a term's impact depends only on the skill that contains it, can be computed
 * when the skill is published, and reveals nothing about other skills.
 */
export const fieldRules = {
  name: { weight: 6, lengthShare: 0.2, averageLength: 2.5 },
  description: { weight: 8, lengthShare: 0.4, averageLength: 36 },
  keywords: { weight: 3, lengthShare: 0.2, averageLength: 1.7 },
  labels: { weight: 1, lengthShare: 0, averageLength: 1 },
  headings: { weight: 2, lengthShare: 0.6, averageLength: 77 },
  lead: { weight: 2, lengthShare: 0.6, averageLength: 190 },
  body: { weight: 1, lengthShare: 0.95, averageLength: 967 },
} satisfies Record<string, FieldRule>

/** BM25's k1: how quickly further occurrences of a term stop counting. */
const saturation = 6
/** Only this much of the body is indexed, in UTF-16 units, and the first part also counts as the lead. */
const bodyLengthMax = 20_000
const leadLengthMax = 1500
const headingPattern = /^#{1,6}[ \t]+(.+)$/gm

/** Impacts are stored as one byte on a logarithmic scale: `impactMin` for 0, doubled every `impactsPerDoubling` levels. */
const impactMin = 0.02
const impactsPerDoubling = 20
const impactLevels = 256
const weightOfImpact = Float64Array.from(
  { length: impactLevels },
  (_, impact) => impactMin * 2 ** (impact / impactsPerDoubling),
)
/** The saturated weight of each impact: BM25's term frequency component, below `saturation + 1`. */
export const valueOfImpact = weightOfImpact.map((weight) => (weight / (weight + saturation)) * (saturation + 1))

/** The weighted frequencies of the terms of some fields, by the hash of the term. */
export type TermWeights = Map<number, number>

/** Terms with their impacts, for the inverted index. */
export interface TermVector {
  readonly hashes: Int32Array
  readonly impacts: Uint8Array
}

/** Hashes of terms and bytes per term in a stored vector. */
const hashBytes = 4
const termBytes = hashBytes + 1

/**
 * Computes the vector of a SKILL.md's body for storage: the hashes of its stemmed terms in ascending order (32 bits,
 * little-endian), then one impact for each. It depends only on the text. About 1.5 kB.
 */
export function toContentVector(skillMd: string): Uint8Array {
  const body = findBody(skillMd).body.slice(0, bodyLengthMax)
  const headings = Array.from(body.matchAll(headingPattern), ([, heading]) => heading!).join('\n')
  const weights: TermWeights = new Map()
  const texts = { headings, lead: body.slice(0, leadLengthMax), body }
  for (const field of ['headings', 'lead', 'body'] as const) {
    const counts = countStems(tokenize(texts[field]))
    addWeights(weights, field, counts.stems, counts.length)
  }
  return packVector(weights)
}

/** Adds the terms of a field: how often it contains each, by the hash of the term, and its length in words. */
export function addWeights(
  weights: TermWeights,
  field: keyof typeof fieldRules,
  counts: ReadonlyMap<number, number>,
  length: number,
): void {
  const { weight, lengthShare, averageLength } = fieldRules[field]
  const factor = weight / (1 - lengthShare + (lengthShare * length) / averageLength)
  for (const [hash, count] of counts) weights.set(hash, (weights.get(hash) ?? 0) + factor * count)
}

/** Adds the weights of other fields to a stored vector. */
export function joinVector(stored: Uint8Array, others: TermWeights): TermVector {
  const { hashes, impacts } = unpackVector(stored)
  const rest = new Map(others)
  for (const [i, hash] of hashes.entries()) {
    const weight = rest.get(hash)
    if (weight === undefined) continue
    impacts[i] = toImpact(weightOfImpact[impacts[i]!]! + weight)
    rest.delete(hash)
  }
  return {
    hashes: Int32Array.from([...hashes, ...rest.keys()]),
    impacts: Uint8Array.from([...impacts, ...Array.from(rest.values(), toImpact)]),
  }
}

function packVector(weights: TermWeights): Uint8Array {
  const bytes = new Uint8Array(weights.size * termBytes)
  const view = new DataView(bytes.buffer)
  const sorted = Int32Array.from(weights.keys()).toSorted()
  for (const [i, hash] of sorted.entries()) {
    view.setInt32(i * hashBytes, hash, true)
    bytes[sorted.length * hashBytes + i] = toImpact(weights.get(hash)!)
  }
  return bytes
}

function unpackVector(bytes: Uint8Array): TermVector {
  const size = Math.floor(bytes.byteLength / termBytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const hashes = new Int32Array(size)
  for (let i = 0; i < size; i++) hashes[i] = view.getInt32(i * hashBytes, true)
  return { hashes, impacts: bytes.slice(size * hashBytes, size * termBytes) }
}

function toImpact(weight: number): number {
  const level = Math.round(Math.log2(weight / impactMin) * impactsPerDoubling)
  return Math.max(0, Math.min(impactLevels - 1, level))
}

function countStems(words: string[]): { stems: Map<number, number>; length: number } {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const stems = new Map<number, number>()
  for (const [word, count] of counts) {
    if (isStopWord(word)) continue
    const hash = hashStem(word)
    stems.set(hash, (stems.get(hash) ?? 0) + count)
  }
  return { stems, length: words.length }
}

/** The stem of an English word (M. Porter: An algorithm for suffix stripping, 1980); other words are unchanged. */
export function toStem(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word
}

/** Hashes of the stems of recent words: stemming takes longer than all else that makes a vector. */
const knownHashes = new Map<string, number>()
const knownHashesMax = 20_000

/** The hash of a word's stem: FNV-1a with a final mix, as a signed 32-bit number. */
export function hashStem(word: string): number {
  let hash = knownHashes.get(word)
  if (hash !== undefined) return hash
  if (knownHashes.size === knownHashesMax) knownHashes.clear()
  hash = hashText(toStem(word))
  knownHashes.set(word, hash)
  return hash
}

function hashText(stem: string): number {
  let hash = 0x811c9dc5 | 0
  for (let i = 0; i < stem.length; i++) hash = Math.imul(hash ^ stem.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 12)
}
