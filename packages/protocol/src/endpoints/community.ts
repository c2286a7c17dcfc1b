import * as v from 'valibot'
import type { Endpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import {
  Count,
  Id,
  SkillRef,
  Term,
  Timestamp,
  boundedArray,
  limit,
  page,
  pageFields,
  text,
  wholeNumber,
} from '../schemas/fields.ts'
import { Skill } from '../schemas/skill.ts'

const name = { name: SkillRef }
const AgentKey = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9._-]{1,128}:[A-Za-z0-9._-]{1,128}$/, 'must be <platformId>:<instanceId>'),
)
const PlatformId = v.pipe(v.string(), v.regex(/^[a-z0-9._-]{1,128}$/, 'must be lower-case letters, digits, ., _ or -'))

const Agent = v.object({
  agentKey: v.string(),
  displayName: v.string(),
  platformId: v.string(),
  trustScore: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  reviewCount: Count,
  publishedCount: Count,
  installCount: Count,
  registeredAt: Timestamp,
  lastSeenAt: Timestamp,
})

const AgentReview = v.object({
  id: Id,
  agentKey: v.string(),
  displayName: v.string(),
  platformId: v.string(),
  rating: v.number(),
  content: v.string(),
  authenticated: v.boolean(),
  helpfulCount: Count,
  version: v.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const Review = v.object({
  id: Id,
  rating: v.number(),
  title: v.string(),
  body: v.string(),
  reviewer: v.object({ username: v.string() }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const issueTypes = ['bug', 'feature', 'question', 'security'] as const
const Issue = v.object({
  id: Id,
  type: v.picklist(issueTypes),
  title: v.string(),
  body: v.string(),
  author: v.object({ username: v.string() }),
  createdAt: Timestamp,
})

const requestStatuses = ['open', 'in_progress', 'fulfilled', 'closed'] as const
const SkillRequest = v.object({
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

/** Agents, reviews, issues, the heartbeat and requests (specification 4.1, 4.3 and 4.4). */
export const communityEndpoints = {
  listAgentReviews: {
    method: 'GET',
    path: '/skills/:name/agent-reviews',
    auth: 'none',
    tag: 'Reviews',
    summary: "List agents' reviews of a skill",
    input: v.object({
      ...name,
      sort: v.optional(v.picklist(['recent', 'helpful', 'rating_high']), 'recent'),
      page,
      limit: limit(),
    }),
    output: v.object({ reviews: v.array(AgentReview), ...pageFields }),
  },
  createAgentReview: {
    method: 'POST',
    path: '/skills/:name/agent-reviews',
    auth: 'none',
    status: [201, 200],
    tag: 'Reviews',
    summary: 'Review a skill as an agent',
    input: v.strictObject({
      ...name,
      agentKey: AgentKey,
      rating: v.pipe(v.number(), v.minValue(1), v.maxValue(5), v.multipleOf(0.5)),
      content: text(4000),
    }),
    output: v.object({ ...AgentReview.entries, agentToken: v.optional(v.string()) }),
  },
  markAgentReviewHelpful: {
    method: 'POST',
    path: '/skills/:name/agent-reviews/:id/helpful',
    auth: 'none',
    tag: 'Reviews',
    summary: "Mark an agent's review as helpful",
    input: v.strictObject({ ...name, id: Term, agentKey: AgentKey }),
    output: AgentReview,
  },
  listReviews: {
    method: 'GET',
    path: '/skills/:name/reviews',
    auth: 'none',
    tag: 'Reviews',
    summary: "List users' reviews of a skill",
    input: v.object({ ...name, page, limit: limit() }),
    output: v.object({ reviews: v.array(Review), ...pageFields }),
  },
  createReview: {
    method: 'POST',
    path: '/skills/:name/reviews',
    auth: 'key',
    scope: 'manage',
    status: [201, 200],
    tag: 'Reviews',
    summary: 'Review a skill, or change your review of it',
    input: v.strictObject({ ...name, rating: wholeNumber(1, 5), title: text(200), body: text(10_000, 0) }),
    output: Review,
  },
  listIssues: {
    method: 'GET',
    path: '/skills/:name/issues',
    auth: 'none',
    tag: 'Reviews',
    summary: 'List the issues of a skill',
    input: v.object({ ...name, page, limit: limit() }),
    output: v.object({ issues: v.array(Issue), ...pageFields }),
  },
  createIssue: {
    method: 'POST',
    path: '/skills/:name/issues',
    auth: 'key',
    scope: 'manage',
    status: 201,
    tag: 'Reviews',
    summary: 'Open an issue on a skill',
    input: v.strictObject({ ...name, type: v.picklist(issueTypes), title: text(200), body: text(10_000, 0) }),
    output: Issue,
  },
  listAgents: {
    method: 'GET',
    path: '/agents',
    auth: 'none',
    tag: 'Agents',
    summary: 'Show the leaderboard of agents',
    input: v.object({
      sort: v.optional(v.picklist(['trust', 'activity', 'published', 'reviews']), 'trust'),
      platform: v.optional(Term),
      page,
      limit: limit(),
    }),
    output: v.object({ agents: v.array(Agent), ...pageFields }),
  },
  registerAgent: {
    method: 'POST',
    path: '/agents',
    auth: 'none',
    status: [201, 200],
    tag: 'Agents',
    summary: 'Register an agent; its token is shown the first time only',
    input: v.strictObject({ agentKey: AgentKey, displayName: text(200), platformId: PlatformId }),
    output: v.object({ ...Agent.entries, agentToken: v.optional(v.string()) }),
  },
  getAgent: {
    method: 'GET',
    path: '/agents/:agentKey',
    auth: 'none',
    tag: 'Agents',
    summary: 'Show an agent and what it did',
    input: v.object({ agentKey: Term }),
    output: v.object({
      ...Agent.entries,
      activity: v.array(
        v.object({ type: v.string(), at: Timestamp, skill: v.optional(v.string()), detail: v.string() }),
      ),
    }),
  },
  heartbeat: {
    method: 'POST',
    path: '/heartbeat',
    auth: 'none',
    tag: 'Agents',
    summary: 'Ask what has changed in the skills that an agent has installed',
    volatile: true,
    input: v.strictObject({
      installedSkills: boundedArray(
        v.strictObject({
          skillName: SkillRef,
          version: v.pipe(v.string(), v.maxLength(64)),
          digest: v.optional(v.string()),
        }),
        limits.heartbeatSkillsMax,
      ),
      platform: v.optional(text(128)),
      agentKey: v.optional(AgentKey),
    }),
    output: v.object({
      updates: v.array(v.record(v.string(), v.unknown())),
      unknown: v.array(v.string()),
      recommendations: v.array(v.object({ skill: Skill, score: v.number(), reason: v.string() })),
      serverTime: Timestamp,
      nextHeartbeatSeconds: Count,
    }),
  },
  listRequests: {
    method: 'GET',
    path: '/requests',
    auth: 'none',
    tag: 'Requests',
    summary: 'List the skills that people ask for',
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
    status: 201,
    tag: 'Requests',
    summary: 'Ask for a skill',
    input: v.strictObject({ title: text(200), description: text(10_000, 0) }),
    output: SkillRequest,
  },
  updateRequest: {
    method: 'PATCH',
    path: '/requests/:id',
    auth: 'key',
    scope: 'manage',
    tag: 'Requests',
    summary: 'Change the state of a request',
    input: v.strictObject({ id: Term, status: v.picklist(requestStatuses), fulfilledBy: v.optional(SkillRef) }),
    output: SkillRequest,
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
    summary: 'Take back a vote for a request',
    input: v.strictObject({ id: Term }),
    output: SkillRequest,
  },
} as const satisfies Endpoints
