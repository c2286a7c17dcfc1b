import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { FileDiff } from '../schemas/access.ts'
import {
  ContentBody,
  Count,
  Flag,
  Id,
  NoContent,
  Term,
  Timestamp,
  Version,
  pageLimit,
  page,
  pageFields,
  boundedText,
  readableText,
  wholeNumber,
} from '../schemas/fields.ts'
import { QuarantinedDetails, QuarantinedVersion, ReviewVerdict } from '../schemas/quarantine.ts'
import { PublishOutput } from './skills-endpoints.ts'

const id = { id: Term }

/** Results of scans: quarantined versions and rescans. */
export const securityEndpoints = toEndpoints('Security', {
  listQuarantined: {
    auth: 'key',
    summary: 'List quarantined versions, oldest first: your own, and those that you may decide on',
    /** `own`: list only versions of the caller's skills, also for administrators. */
    input: v.object({ own: v.optional(Flag, false), page, limit: pageLimit() }),
    output: v.object({ quarantined: v.array(QuarantinedVersion), ...pageFields }),
  },
  getQuarantined: {
    auth: 'key',
    summary: 'Show a quarantined version with its scan report, for its author and those who decide',
    input: v.object(id),
    output: QuarantinedDetails,
  },
  getQuarantinedFile: {
    auth: 'key',
    summary: 'Read one file of a quarantined version',
    input: v.object({ ...id, path: boundedText(1024) }),
    output: ContentBody,
  },
  diffQuarantined: {
    auth: 'key',
    costly: true,
    summary: 'Compare a quarantined version with the latest published version',
    input: v.object(id),
    output: v.object({ since: v.nullable(Version), files: v.array(FileDiff) }),
  },
  reviewQuarantined: {
    auth: 'key',
    scope: 'publish',
    status: [200, 201],
    summary: 'Approve a version that waits for reviewers, or request changes; the last approval publishes it',
    input: v.strictObject({ ...id, verdict: ReviewVerdict }),
    output: v.object({ ...QuarantinedVersion.entries, created: v.boolean() }),
  },
  commentQuarantined: {
    auth: 'key',
    scope: 'publish',
    status: 201,
    summary: 'Comment on a version that waits for reviewers, or on a line of one of its files',
    input: v.strictObject({
      ...id,
      body: readableText(10_000),
      path: v.optional(boundedText(1024)),
      line: v.optional(wholeNumber(1, 10_000_000)),
    }),
    output: v.object({ id: Id, createdAt: Timestamp }),
  },
  releaseQuarantined: {
    auth: 'admin',
    scope: 'manage',
    status: [201, 200],
    summary: 'Release a quarantined version, as its publisher submitted it',
    input: v.strictObject(id),
    output: PublishOutput,
  },
  deleteQuarantined: {
    auth: 'key',
    scope: 'any',
    status: 204,
    summary: 'Withdraw your quarantined version (scope publish), or reject one that you may decide on (scope manage)',
    input: v.strictObject({ ...id, note: v.optional(boundedText(4000, 0), '') }),
    output: NoContent,
  },
  startRescan: {
    auth: 'admin',
    scope: 'manage',
    status: 202,
    summary: 'Rescan every stored version in the background',
    input: v.strictObject({}),
    output: v.object({ waiting: Count }),
  },
})
