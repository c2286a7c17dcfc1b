import * as v from 'valibot'
import { VerificationMethod } from './account.ts'
import { Id, Timestamp } from './fields.ts'

const Points = v.pipe(v.number(), v.integer())

/** The reputation of an author; docs/reputation.md has the formula. */
export const Reputation = v.object({
  username: v.string(),
  score: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1000)),
  level: v.string(),
  /** 1 is the highest score; authors with the same score share a rank. */
  rank: v.pipe(v.number(), v.integer(), v.minValue(1)),
  components: v.object({
    downloads: Points,
    stars: Points,
    reviews: Points,
    verification: Points,
    quality: Points,
    /** 0 or negative. */
    penalties: Points,
  }),
  verified: v.array(VerificationMethod),
  badges: v.array(v.object({ id: v.string(), title: v.string(), since: Timestamp })),
  computedAt: Timestamp,
})
export type Reputation = v.InferOutput<typeof Reputation>

/** The states of the verification of an author. */
export const verificationStatuses = ['pending', 'verified', 'rejected'] as const

/** State of a verification, with instructions for its user. */
export const Verification = v.object({
  id: Id,
  method: VerificationMethod,
  status: v.picklist(verificationStatuses),
  token: v.string(),
  instructions: v.string(),
  checkedAt: v.nullable(Timestamp),
})
export type Verification = v.InferOutput<typeof Verification>

/** A verification as its user and administrators list it. */
export const ListedVerification = v.object({
  ...Verification.entries,
  username: v.string(),
  proof: v.string(),
  /** Why the verification was rejected, or why the last check failed. */
  note: v.string(),
  createdAt: Timestamp,
})
export type ListedVerification = v.InferOutput<typeof ListedVerification>
