import * as v from 'valibot'
import { Change } from './change.ts'
import { Count, Digest, Id, Timestamp, Version } from './fields.ts'
import { Security } from './security.ts'
import { VersionFile } from './skill.ts'

/** A version that is stored, but not offered until an administrator, or the reviewers of the skill, decide. */
export const QuarantinedVersion = v.object({
  id: Id,
  fullName: v.string(),
  /** The version number at submission. If the author did not choose it, the release may assign a higher number. */
  version: Version,
  digest: Digest,
  publisher: v.object({ id: Id, username: v.string() }),
  security: Security,
  /** The verdict on what the version changes; the policy also applies to this verdict. */
  change: v.nullable(Change),
  /** When the version was quarantined. */
  createdAt: Timestamp,
  /**
   * `policy`: the scan policy requires the decision of an administrator; `approval`: the reviewers must decide;
   * `rescan`: a rescan quarantined the version after its publication.
   */
  reason: v.picklist(['policy', 'approval', 'rescan']),
  /** The approvals that the version needs and has, if it waits for reviewers. */
  approvals: v.optional(v.object({ needed: Count, given: Count, changesRequested: v.boolean() })),
  /**
   * Whether a rescan quarantined the version after its publication; such a version can be neither released nor
   * withdrawn.
   */
  published: v.boolean(),
})
export type QuarantinedVersion = v.InferOutput<typeof QuarantinedVersion>

/** The verdict of a reviewer. */
export const ReviewVerdict = v.picklist(['approved', 'changes_requested'])

/** A quarantined version, as the administrators and reviewers see it. */
export const QuarantinedDetails = v.object({
  ...QuarantinedVersion.entries,
  files: v.array(VersionFile),
  /** The latest verdict of each reviewer; empty for a version that waits for an administrator. */
  reviews: v.array(v.object({ username: v.string(), verdict: ReviewVerdict, at: Timestamp })),
  comments: v.array(
    v.object({
      id: Id,
      username: v.string(),
      path: v.nullable(v.string()),
      line: v.nullable(Count),
      body: v.string(),
      createdAt: Timestamp,
    }),
  ),
  /** Whether the caller may review the version. */
  mayReview: v.boolean(),
})
export type QuarantinedDetails = v.InferOutput<typeof QuarantinedDetails>
