import { findBody } from '@skillstead/skill-format'
import { listStems } from './count-stems.ts'

/** How a field counts: its weight, how much its length reduces it, and the average length in words. */
interface FieldRule {
  weight: number
  lengthShare: number
  averageLength: number
}

/**
 * The fields of a skill and their parameters for BM25F (S. Robertson, H. Zaragoza, M. Taylor: Simple BM25 extension to
 * multiple weighted fields, CIKM 2004). The parameters were tuned on described needs of another corpus; parameters that
 * are chosen on other sources of the open corpus are no better. Headings count only as words of the body: any weight of
 * their own made the order worse. The average lengths are constants, measured on the open corpus: so a term's impact
 * depends only on the skill that contains it, can be computed when the skill is published, and reveals nothing about
 * other skills.
 */
export const fieldRules = {
  name: { weight: 6, lengthShare: 0.2, averageLength: 2.5 },
  description: { weight: 8, lengthShare: 0.4, averageLength: 36 },
  keywords: { weight: 3, lengthShare: 0.2, averageLength: 1.7 },
  labels: { weight: 1, lengthShare: 0, averageLength: 1 },
  lead: { weight: 2, lengthShare: 0.6, averageLength: 190 },
  body: { weight: 1, lengthShare: 0.95, averageLength: 967 },
} satisfies Record<string, FieldRule>

/** BM25's k1: how quickly further occurrences of a term stop counting. */
const saturation = 6
/** Maximum indexed length of a body, in UTF-16 units, and length of its first part, which also counts as the lead. */
export const bodyLengthMax = 20_000
const leadLengthMax = 1500

/**
 * An impact is stored as a byte on a logarithmic scale: `impactMin` for 0, doubled every `impactsPerDoubling` levels.
 */
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

/** Bytes of a term's hash, and of a term with its impact, in a stored vector. */
const stemHashBytes = 4
const termBytes = stemHashBytes + 1
/** More than the number of terms in all fields of a text, which is limited by {@link bodyLengthMax}. */
const placesMax = 2 ** 20

/**
 * Computes the vector of a SKILL.md's body for storage: the hashes of its stemmed terms in ascending order (32 bits,
 * little-endian), then an impact for each term. The vector depends only on the text and takes about 1.5 kB.
 */
export function toContentVector(skillMd: string): Uint8Array {
  const body = findBody(skillMd).body.slice(0, bodyLengthMax)
  const texts = { lead: body.slice(0, leadLengthMax), body }
  return packVector(
    (['lead', 'body'] as const).map((field) => {
      const { hashes, counts, length } = listStems(texts[field])
      return { hashes, counts, factor: toFactor(field, length) }
    }),
  )
}

/**
 * Adds the terms of a field: how often the field contains each term, by the hash of the term, and the length of the
 * field in words.
 */
export function addWeights(
  weights: TermWeights,
  field: keyof typeof fieldRules,
  counts: ReadonlyMap<number, number>,
  length: number,
): void {
  const factor = toFactor(field, length)
  for (const [hash, count] of counts) weights.set(hash, (weights.get(hash) ?? 0) + factor * count)
}

/** The weight of one occurrence of a term in a field of `length` words. */
function toFactor(field: keyof typeof fieldRules, length: number): number {
  const { weight, lengthShare, averageLength } = fieldRules[field]
  return weight / (1 - lengthShare + (lengthShare * length) / averageLength)
}

/** The hashes of the terms of a stored vector. */
function hashesOf(stored: Uint8Array): Int32Array {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
  const hashes = new Int32Array(Math.floor(stored.byteLength / termBytes))
  for (let i = 0; i < hashes.length; i++) hashes[i] = view.getInt32(i * stemHashBytes, true)
  return hashes
}

/** Adds the weights of other fields to a stored vector. */
export function joinVector(stored: Uint8Array, others: TermWeights): TermVector {
  const known = hashesOf(stored)
  const size = known.length
  const hashes = new Int32Array(size + others.size)
  const impacts = new Uint8Array(hashes.length)
  const rest = new Map(others)
  for (let i = 0; i < size; i++) {
    const hash = known[i]!
    const impact = stored[size * stemHashBytes + i]!
    const weight = rest.get(hash)
    hashes[i] = hash
    impacts[i] = weight === undefined ? impact : toImpact(weightOfImpact[impact]! + weight)
    if (weight !== undefined) rest.delete(hash)
  }
  let end = size
  for (const [hash, weight] of rest) {
    hashes[end] = hash
    impacts[end++] = toImpact(weight)
  }
  return { hashes: hashes.subarray(0, end), impacts: impacts.subarray(0, end) }
}

/** The counted terms of a field. */
interface FieldTerms {
  readonly hashes: readonly number[]
  readonly counts: readonly number[]
  readonly factor: number
}

/** Sorts the terms of all fields together, which takes half the time of adding their weights in a map. */
function packVector(fields: readonly FieldTerms[]): Uint8Array {
  const sorted = new Float64Array(fields.reduce((sum, { hashes }) => sum + hashes.length, 0))
  const weights = new Float64Array(sorted.length)
  let size = 0
  for (const { hashes, counts, factor } of fields) {
    for (let i = 0; i < hashes.length; i++) {
      weights[size] = factor * counts[i]!
      // The hash and the place of its weight in one number, exact below 2 ** 53.
      sorted[size] = hashes[i]! * placesMax + size
      size++
    }
  }
  sorted.sort()
  const terms = new Int32Array(size)
  const impacts = new Uint8Array(size)
  let end = 0
  for (let i = 0; i < size;) {
    const hash = Math.floor(sorted[i]! / placesMax)
    let weight = 0
    for (; i < size && Math.floor(sorted[i]! / placesMax) === hash; i++)
      weight += weights[sorted[i]! - hash * placesMax]!
    terms[end] = hash
    impacts[end++] = toImpact(weight)
  }
  const bytes = new Uint8Array(end * termBytes)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < end; i++) view.setInt32(i * stemHashBytes, terms[i]!, true)
  bytes.set(impacts.subarray(0, end), end * stemHashBytes)
  return bytes
}

function toImpact(weight: number): number {
  const level = Math.round(Math.log2(weight / impactMin) * impactsPerDoubling)
  return Math.max(0, Math.min(impactLevels - 1, level))
}
