import * as v from 'valibot'
import { Id, Timestamp } from './fields.ts'

/** The moderation states that administrators can set for a skill. */
export const moderationStates = ['shown', 'flagged', 'hidden'] as const
/** The kinds of reports: reports by users, and appeals by owners. */
export const reportKinds = ['report', 'appeal'] as const
/** The states of a report. */
export const reportStatuses = ['open', 'upheld', 'dismissed'] as const
export const copyReportStatuses = ['open', 'confirmed', 'dismissed'] as const

/** A report of a skill, or its owner's appeal, as administrators see it. */
export const Report = v.object({
  id: Id,
  kind: v.picklist(reportKinds),
  skill: v.object({ fullName: v.string() }),
  reason: v.string(),
  details: v.string(),
  reporter: v.nullable(v.object({ username: v.string() })),
  status: v.picklist(reportStatuses),
  note: v.string(),
  createdAt: Timestamp,
  decidedAt: v.nullable(Timestamp),
})
export type Report = v.InferOutput<typeof Report>

/** Moderation state of a skill, as administrators and its owner see it. */
export const Moderation = v.object({
  skill: v.object({ id: Id, fullName: v.string() }),
  state: v.picklist(moderationStates),
  reason: v.string(),
  decidedAt: v.nullable(Timestamp),
  /** The owner's appeals, newest first. */
  appeals: v.array(Report),
  /** Takedown cases about the skill, newest first. */
  cases: v.array(v.object({ id: Id, status: v.string(), submittedAt: Timestamp })),
})
export type Moderation = v.InferOutput<typeof Moderation>

/** A report that a skill is a copy of another one. */
export const CopyReport = v.object({
  id: Id,
  skillId: Id,
  originalSkillId: Id,
  status: v.picklist(copyReportStatuses),
  similarity: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  evidence: v.string(),
  createdAt: Timestamp,
})
export type CopyReport = v.InferOutput<typeof CopyReport>

/** A report of a copy, with the full names of both skills. */
export const NamedCopyReport = v.object({
  ...CopyReport.entries,
  skill: v.object({ fullName: v.string() }),
  original: v.object({ fullName: v.string() }),
})

/** A skill that administrators flagged or hid. */
export const ModeratedSkill = v.object({
  fullName: v.string(),
  state: v.picklist(['flagged', 'hidden']),
  reason: v.string(),
  decidedAt: v.nullable(Timestamp),
})
export type ModeratedSkill = v.InferOutput<typeof ModeratedSkill>
