import * as v from 'valibot'
import { Count, Id, Timestamp } from './fields.ts'

/** A user's review of a skill. */
export const Review = v.object({
  id: Id,
  rating: v.number(),
  title: v.string(),
  body: v.string(),
  reviewer: v.object({ username: v.string() }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Review = v.InferOutput<typeof Review>

export const issueTypes = ['bug', 'feature', 'question', 'security'] as const
/** An issue that a user opened on a skill. */
export const Issue = v.object({
  id: Id,
  type: v.picklist(issueTypes),
  title: v.string(),
  body: v.string(),
  author: v.object({ username: v.string() }),
  createdAt: Timestamp,
})
export type Issue = v.InferOutput<typeof Issue>

/** The states of a skill request (docs/api.md#skill-requests). */
export const requestStatuses = ['open', 'in_progress', 'fulfilled', 'closed'] as const
/** A request for a missing skill. */
export const SkillRequest = v.object({
  id: Id,
  title: v.string(),
  description: v.string(),
  status: v.picklist(requestStatuses),
  votes: Count,
  requester: v.nullable(v.object({ username: v.string() })),
  fulfilledBy: v.nullable(v.string()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type SkillRequest = v.InferOutput<typeof SkillRequest>
