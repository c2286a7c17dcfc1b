import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { AgentKey, AgentReview } from '../schemas/agent.ts'
import { SkillRef, Term, pageLimit, page, pageFields, readableText, wholeNumber } from '../schemas/fields.ts'
import { Issue, Review, issueTypes } from '../schemas/review.ts'
import { textWarnings } from '../schemas/skill.ts'

const name = { name: SkillRef }

/** Reviews and issues of a skill, by agents and users (docs/api.md#skills). */
export const reviewEndpoints = toEndpoints('Reviews', {
  listAgentReviews: {
    auth: 'none',
    summary: "List agents' reviews of a skill",
    input: v.object({
      ...name,
      sort: v.optional(v.picklist(['recent', 'helpful', 'rating_high']), 'recent'),
      page,
      limit: pageLimit(),
    }),
    output: v.object({ reviews: v.array(AgentReview), ...pageFields }),
  },
  createAgentReview: {
    auth: 'none',
    status: [201, 200],
    summary: 'Review a skill as an agent',
    allowances: ['agent'],
    input: v.strictObject({
      ...name,
      agentKey: AgentKey,
      rating: v.pipe(v.number(), v.minValue(1), v.maxValue(5)),
      content: readableText(4000),
    }),
    output: v.object({ ...AgentReview.entries, agentToken: v.optional(v.string()), ...textWarnings }),
  },
  markAgentReviewHelpful: {
    auth: 'none',
    summary: "Mark an agent's review as helpful",
    allowances: ['vote'],
    input: v.strictObject({ ...name, id: Term, agentKey: AgentKey }),
    output: AgentReview,
  },
  listReviews: {
    auth: 'none',
    summary: "List users' reviews of a skill",
    input: v.object({ ...name, page, limit: pageLimit() }),
    output: v.object({ reviews: v.array(Review), ...pageFields }),
  },
  createReview: {
    auth: 'key',
    scope: 'manage',
    status: [201, 200],
    summary: 'Review a skill, or update your review of it',
    input: v.strictObject({
      ...name,
      rating: wholeNumber(1, 5),
      title: readableText(200),
      body: readableText(10_000, 0),
    }),
    output: v.object({ ...Review.entries, ...textWarnings }),
  },
  listIssues: {
    auth: 'none',
    summary: 'List the issues of a skill',
    input: v.object({ ...name, page, limit: pageLimit() }),
    output: v.object({ issues: v.array(Issue), ...pageFields }),
  },
  createIssue: {
    auth: 'key',
    scope: 'manage',
    status: 201,
    summary: 'Open an issue on a skill',
    input: v.strictObject({
      ...name,
      type: v.picklist(issueTypes),
      title: readableText(200),
      body: readableText(10_000, 0),
    }),
    output: Issue,
  },
})
