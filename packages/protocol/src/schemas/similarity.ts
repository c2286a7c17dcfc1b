import * as v from 'valibot'
import { Timestamp, Version } from './fields.ts'

const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
const Line = v.pipe(v.number(), v.integer(), v.minValue(1))
const ComparedVersion = v.object({ id: v.string(), fullName: v.string(), version: Version })

/** A run of words that two documents share. */
export const Passage = v.object({
  /** As the skill that was asked about has it; cut where it is long. */
  text: v.pipe(v.string(), v.maxLength(500)),
  /** Where it begins in that skill's SKILL.md, and in the other's. */
  line: Line,
  otherLine: Line,
})
export type Passage = v.InferOutput<typeof Passage>

/** A skill that resembles another. */
export const SimilarityMatch = v.object({
  /** The version of it that resembles the most. */
  skill: ComparedVersion,
  /** The share of the smaller body's five-word shingles that the other has. */
  similarity: Share,
  /** Word for word; nearly, and of nearly the same size; or the one has a part of the other. */
  kind: v.picklist(['exact', 'near', 'partial']),
  /** Whether this skill had what they share before the one that was asked about. */
  publishedFirst: v.boolean(),
  related: v.nullable(v.picklist(['fork', 'same-owner'])),
  /** The longest, longest first. */
  passages: v.pipe(v.array(Passage), v.maxLength(5)),
})
export type SimilarityMatch = v.InferOutput<typeof SimilarityMatch>

/** Which other skills resemble one, the most similar first. */
export const Similarity = v.object({
  skill: ComparedVersion,
  scannedAt: Timestamp,
  matches: v.pipe(v.array(SimilarityMatch), v.maxLength(20)),
})
export type Similarity = v.InferOutput<typeof Similarity>
