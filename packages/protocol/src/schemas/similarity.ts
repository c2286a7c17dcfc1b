import * as v from 'valibot'
import { Timestamp, Version } from './fields.ts'

const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
const Line = v.pipe(v.number(), v.integer(), v.minValue(1))
const ComparedVersion = v.object({ id: v.string(), fullName: v.string(), version: Version })

/** A sequence of words that two documents share. */
export const Passage = v.object({
  /** The text of the passage in the requested skill; truncated if it is long. */
  text: v.pipe(v.string(), v.maxLength(500)),
  /** The first line of the passage in SKILL.md: of the requested skill, and of the other skill. */
  line: Line,
  otherLine: Line,
})
export type Passage = v.InferOutput<typeof Passage>

/** A skill that is similar to another. */
export const SimilarityMatch = v.object({
  /** The similar skill, with the version that is most similar. */
  skill: ComparedVersion,
  /** Share of the smaller document's five-word sequences in the other document; sequences in code may count more. */
  similarity: Share,
  /** `exact`: identical. `near`: similar, and of about the same size. `partial`: one contains a part of the other. */
  kind: v.picklist(['exact', 'near', 'partial']),
  /** Whether the similar skill had the shared text before the requested skill. */
  publishedFirst: v.boolean(),
  related: v.nullable(v.picklist(['fork', 'same-owner'])),
  /** The longest shared passages, longest first. */
  passages: v.pipe(v.array(Passage), v.maxLength(5)),
})
export type SimilarityMatch = v.InferOutput<typeof SimilarityMatch>

/** The skills that are similar to `skill`, most similar first. */
export const Similarity = v.object({
  skill: ComparedVersion,
  scannedAt: Timestamp,
  matches: v.pipe(v.array(SimilarityMatch), v.maxLength(20)),
})
export type Similarity = v.InferOutput<typeof Similarity>
