import * as v from 'valibot'
import type { Endpoints } from '../endpoint.ts'
import { ContentBody, Count, NoContent, Term, limit, page, pageFields, text } from '../schemas/fields.ts'
import { QuarantinedDetails, QuarantinedVersion } from '../schemas/quarantine.ts'
import { PublishOutput } from './skills-endpoints.ts'

const id = { id: Term }

/** Results of scans: quarantined versions and rescans. */
export const securityEndpoints = {
  listQuarantined: {
    method: 'GET',
    path: '/quarantine',
    auth: 'key',
    tag: 'Security',
    summary: 'List quarantined versions, oldest first: your own, or all as an administrator',
    input: v.object({ page, limit: limit() }),
    output: v.object({ quarantined: v.array(QuarantinedVersion), ...pageFields }),
  },
  getQuarantined: {
    method: 'GET',
    path: '/quarantine/:id',
    auth: 'key',
    tag: 'Security',
    summary: 'Show a quarantined version with its scan report, for its owner and administrators',
    input: v.object(id),
    output: QuarantinedDetails,
  },
  getQuarantinedFile: {
    method: 'GET',
    path: '/quarantine/:id/files/**:path',
    auth: 'key',
    tag: 'Security',
    summary: 'Read one file of a quarantined version',
    kind: 'content',
    input: v.object({ ...id, path: text(1024) }),
    output: ContentBody,
  },
  releaseQuarantined: {
    method: 'POST',
    path: '/quarantine/:id/release',
    auth: 'admin',
    scope: 'manage',
    status: [201, 200],
    tag: 'Security',
    summary: 'Release a quarantined version, as its publisher submitted it',
    input: v.strictObject(id),
    output: PublishOutput,
  },
  deleteQuarantined: {
    method: 'DELETE',
    path: '/quarantine/:id',
    auth: 'key',
    scope: 'any',
    status: 204,
    tag: 'Security',
    summary: 'Withdraw your quarantined version (scope publish), or reject one as an administrator (scope manage)',
    input: v.strictObject({ ...id, note: v.optional(text(4000, 0), '') }),
    output: NoContent,
  },
  startRescan: {
    method: 'POST',
    path: '/scans',
    auth: 'admin',
    scope: 'manage',
    status: 202,
    tag: 'Security',
    summary: 'Rescan every stored version in the background',
    input: v.strictObject({}),
    output: v.object({ waiting: Count }),
  },
} as const satisfies Endpoints
