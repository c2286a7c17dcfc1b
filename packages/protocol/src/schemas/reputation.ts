import * as v from 'valibot'
import { VerificationMethod } from './account.ts'
import { Id, Timestamp } from './fields.ts'

const Points = v.pipe(v.number(), v.integer())

/** What an author is known for; the formula is in the documentation of reputation. */
export const Reputation = v.object({
  username: v.string(),
  score: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1000)),
  level: v.string(),
  /** 1 is the highest score; authors of one score share a rank. */
  rank: v.pipe(v.number(), v.integer(), v.minValue(1)),
  components: v.object({
    downloads: Points,
    stars: Points,
    reviews: Points,
    verification: Points,
    quality: Points,
    /** 0 or below. */
    penalties: Points,
  }),
  verified: v.array(VerificationMethod),
  badges: v.array(v.object({ id: v.string(), title: v.string(), since: Timestamp })),
  computedAt: Timestamp,
})
export type Reputation = v.InferOutput<typeof Reputation>

export const verificationStatuses = ['pending', 'verified', 'rejected'] as const

/** How a verification stands, with what its user has to do. */
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
  /** Why it is rejected, or why a check did not succeed yet. */
  note: v.string(),
  createdAt: Timestamp,
})
export type ListedVerification = v.InferOutput<typeof ListedVerification>
