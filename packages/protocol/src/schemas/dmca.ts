import * as v from 'valibot'
import { Id, Timestamp, boundedText } from './fields.ts'

/** The states of a takedown case (docs/api.md#takedowns). */
export const dmcaStatuses = [
  ...(['submitted', 'under_review', 'rejected', 'removed'] as const),
  ...(['counter_noticed', 'restored', 'upheld'] as const),
] as const
const Status = v.picklist(dmcaStatuses)
const Email = v.pipe(v.string(), v.email(), v.maxLength(320))

/** Statements of a claimant (17 U.S.C. 512(c)(3)). */
export const noticeFields = {
  claimantName: boundedText(200),
  claimantEmail: Email,
  workDescription: boundedText(10_000),
  // Displayed as a link, so only http and https: other schemes could run scripts.
  originalUrl: v.optional(
    v.pipe(v.string(), v.maxLength(2000), v.url(), v.regex(/^https?:/i, 'must be an http or https URL')),
  ),
  organization: v.optional(boundedText(200)),
  goodFaith: v.literal(true),
  accuracy: v.literal(true),
  signature: boundedText(200),
}
const Notice = v.object(noticeFields)
/** What the sender of a takedown notice states. */
export type DmcaNotice = v.InferOutput<typeof Notice>

/** Statements of a counter-notice (17 U.S.C. 512(g)(3)). */
export const counterNoticeFields = {
  name: boundedText(200),
  email: Email,
  address: boundedText(1000),
  statement: boundedText(10_000),
  goodFaith: v.literal(true),
  jurisdictionConsent: v.literal(true),
  signature: boundedText(200),
}
const CounterNotice = v.object(counterNoticeFields)
/** What the sender of a counter-notice states. */
export type DmcaCounterNotice = v.InferOutput<typeof CounterNotice>

/** A takedown case. Fields that identify a person or the skill are only sent to the parties and administrators. */
export const DmcaCase = v.object({
  id: Id,
  status: Status,
  submittedAt: Timestamp,
  counterNoticeUntil: v.optional(Timestamp),
  history: v.array(v.object({ status: Status, at: Timestamp, note: v.optional(v.string()) })),
  skill: v.optional(v.object({ fullName: v.string() })),
  notice: v.optional(Notice),
  /**
   * Counter-notices, oldest first. `confirmed`: sent with the owner's key, or confirmed by an administrator; all other
   * counter-notices of the case are then deleted.
   */
  counterNotices: v.optional(
    v.array(v.object({ id: Id, sentAt: Timestamp, confirmed: v.boolean(), ...CounterNotice.entries })),
  ),
})
export type DmcaCase = v.InferOutput<typeof DmcaCase>
