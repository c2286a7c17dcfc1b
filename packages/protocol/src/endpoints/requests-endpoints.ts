import * as v from 'valibot'
import type { Endpoints } from '../endpoint.ts'
import { SkillRef, Term, limit, page, pageFields, prose } from '../schemas/fields.ts'
import { SkillRequest, requestStatuses } from '../schemas/review.ts'
import { textWarnings } from '../schemas/skill.ts'

/** Requests for missing skills (specification 4.4). */
export const requestEndpoints = {
  listRequests: {
    method: 'GET',
    path: '/requests',
    auth: 'none',
    tag: 'Requests',
    summary: 'List requested skills',
    input: v.object({
      status: v.optional(v.picklist(requestStatuses)),
      sort: v.optional(v.picklist(['votes', 'recent']), 'votes'),
      page,
      limit: limit(),
    }),
    output: v.object({ requests: v.array(SkillRequest), ...pageFields }),
  },
  createRequest: {
    method: 'POST',
    path: '/requests',
    auth: 'none',
    scope: 'manage',
    status: 201,
    tag: 'Requests',
    summary: 'Request a skill',
    allowances: ['request'],
    input: v.strictObject({ title: prose(200), description: prose(10_000, 0) }),
    output: v.object({ ...SkillRequest.entries, ...textWarnings }),
  },
  getRequest: {
    method: 'GET',
    path: '/requests/:id',
    auth: 'none',
    tag: 'Requests',
    summary: 'Show a request',
    input: v.object({ id: Term }),
    output: SkillRequest,
  },
  updateRequest: {
    method: 'PATCH',
    path: '/requests/:id',
    auth: 'key',
    scope: 'manage',
    tag: 'Requests',
    summary: 'Change the status of a request',
    input: v.strictObject({ id: Term, status: v.picklist(requestStatuses), fulfilledBy: v.optional(SkillRef) }),
    output: SkillRequest,
  },
  listVotes: {
    method: 'GET',
    path: '/votes',
    auth: 'key',
    tag: 'Requests',
    summary: 'List the requests that you voted for, newest first',
    input: v.object({ page, limit: limit() }),
    output: v.object({ requests: v.array(SkillRequest), ...pageFields }),
  },
  voteForRequest: {
    method: 'POST',
    path: '/requests/:id/vote',
    auth: 'key',
    scope: 'manage',
    tag: 'Requests',
    summary: 'Vote for a request',
    input: v.strictObject({ id: Term }),
    output: SkillRequest,
  },
  withdrawRequestVote: {
    method: 'DELETE',
    path: '/requests/:id/vote',
    auth: 'key',
    scope: 'manage',
    tag: 'Requests',
    summary: 'Remove a vote for a request',
    input: v.strictObject({ id: Term }),
    output: SkillRequest,
  },
} as const satisfies Endpoints
