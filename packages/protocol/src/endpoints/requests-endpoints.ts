import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { SkillRef, Term, pageLimit, page, pageFields, readableText } from '../schemas/fields.ts'
import { SkillRequest, requestStatuses } from '../schemas/review.ts'
import { textWarnings } from '../schemas/skill.ts'

/** Requests for missing skills (docs/api.md#skill-requests). */
export const requestEndpoints = toEndpoints('Requests', {
  listRequests: {
    auth: 'none',
    summary: 'List requested skills',
    input: v.object({
      status: v.optional(v.picklist(requestStatuses)),
      sort: v.optional(v.picklist(['votes', 'recent']), 'votes'),
      page,
      limit: pageLimit(),
    }),
    output: v.object({ requests: v.array(SkillRequest), ...pageFields }),
  },
  createRequest: {
    auth: 'none',
    scope: 'manage',
    status: 201,
    summary: 'Request a skill',
    allowances: ['request'],
    input: v.strictObject({ title: readableText(200), description: readableText(10_000, 0) }),
    output: v.object({ ...SkillRequest.entries, ...textWarnings }),
  },
  getRequest: {
    auth: 'none',
    summary: 'Show a request',
    input: v.object({ id: Term }),
    output: SkillRequest,
  },
  updateRequest: {
    auth: 'key',
    scope: 'manage',
    summary: 'Change the status of a request',
    input: v.strictObject({ id: Term, status: v.picklist(requestStatuses), fulfilledBy: v.optional(SkillRef) }),
    output: SkillRequest,
  },
  listVotes: {
    auth: 'key',
    summary: 'List the requests that you voted for, newest first',
    input: v.object({ page, limit: pageLimit() }),
    output: v.object({ requests: v.array(SkillRequest), ...pageFields }),
  },
  voteForRequest: {
    auth: 'key',
    scope: 'manage',
    summary: 'Vote for a request',
    input: v.strictObject({ id: Term }),
    output: SkillRequest,
  },
  withdrawRequestVote: {
    auth: 'key',
    scope: 'manage',
    summary: 'Remove a vote for a request',
    input: v.strictObject({ id: Term }),
    output: SkillRequest,
  },
})
