import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import {
  ContentBody,
  Count,
  Flag,
  NoContent,
  Term,
  pageLimit,
  page,
  pageFields,
  boundedText,
} from '../schemas/fields.ts'
import { QuarantinedDetails, QuarantinedVersion } from '../schemas/quarantine.ts'
import { PublishOutput } from './skills-endpoints.ts'

const id = { id: Term }

/** Results of scans: quarantined versions and rescans. */
export const securityEndpoints = toEndpoints('Security', {
  listQuarantined: {
    auth: 'key',
    summary: 'List quarantined versions, oldest first: your own, or all as an administrator',
    /** `own`: those of the caller's skills, for administrators too. */
    input: v.object({ own: v.optional(Flag, false), page, limit: pageLimit() }),
    output: v.object({ quarantined: v.array(QuarantinedVersion), ...pageFields }),
  },
  getQuarantined: {
    auth: 'key',
    summary: 'Show a quarantined version with its scan report, for its owner and administrators',
    input: v.object(id),
    output: QuarantinedDetails,
  },
  getQuarantinedFile: {
    auth: 'key',
    summary: 'Read one file of a quarantined version',
    input: v.object({ ...id, path: boundedText(1024) }),
    output: ContentBody,
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
    summary: 'Withdraw your quarantined version (scope publish), or reject one as an administrator (scope manage)',
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
