import * as v from 'valibot'
import { Count, Id, Timestamp } from './fields.ts'
import { Recalled } from './skill.ts'

/** A recall of the versions of a skill in a range, active until it is ended. */
export const Recall = v.object({
  id: Id,
  ...Recalled.entries,
  endedAt: v.optional(Timestamp),
  /** Whether the recall came from the upstream of a mirrored skill: only the upstream can end such a recall. */
  upstream: v.boolean(),
  /** Whether an administrator of the node made the recall: only administrators can end such a recall. */
  byAdministrator: v.optional(v.boolean()),
  /** The published versions in the range, highest first, at most 100 of them. */
  versions: v.array(v.string()),
  versionCount: Count,
  /** In the response that ends the recall: versions in its range that another recall still covers, at most 100. */
  stillRecalled: v.optional(v.array(v.string())),
})
export type Recall = v.InferOutput<typeof Recall>

/** The recalls of a skill; `known`, for the owner and administrators: the users and agents with a recalled version. */
export const Recalls = v.object({
  recalls: v.array(Recall),
  known: v.optional(
    v.object({
      /** Agents whose last heartbeat named a recalled version, most first. */
      agents: v.array(v.object({ version: v.string(), platform: v.string(), count: Count })),
      /** Users whose last install was a recalled version, if the operator records installs, most first. */
      users: v.array(v.object({ version: v.string(), count: Count })),
    }),
  ),
})
export type Recalls = v.InferOutput<typeof Recalls>
