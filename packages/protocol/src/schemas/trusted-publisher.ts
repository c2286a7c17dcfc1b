import * as v from 'valibot'
import { limits } from '../limits.ts'
import { boundedRecord, boundedText, Id, Timestamp } from './fields.ts'

/** Claims of a token by name: at least one, each of at most 500 characters. */
export const Claims = v.pipe(
  boundedRecord(
    v.pipe(boundedText(100), v.regex(/^[\w.:/-]+$/, 'must be the name of a claim')),
    boundedText(500),
    limits.trustedClaimsMax,
  ),
  v.minEntries(1, 'must name at least one claim'),
)

/** The CI identity that published a version: the issuer of the token, and the claims that the skill's owner named. */
export const PublisherIdentity = v.object({
  issuer: boundedText(500),
  claims: v.record(v.string(), v.string()),
})
export type PublisherIdentity = v.InferOutput<typeof PublisherIdentity>

/** A CI identity, whose jobs may publish without a stored secret. */
export const TrustedPublisher = v.object({
  id: Id,
  /** The owner, or the full name of a skill, which may not exist yet. */
  target: v.string(),
  issuer: v.string(),
  /** The values that the claims of a token must have: exact values, or patterns with `*`. */
  claims: v.record(v.string(), v.string()),
  createdBy: v.string(),
  createdAt: Timestamp,
})
export type TrustedPublisher = v.InferOutput<typeof TrustedPublisher>
