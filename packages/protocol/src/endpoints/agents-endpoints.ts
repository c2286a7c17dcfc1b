import * as v from 'valibot'
import type { Endpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Agent, AgentActivity, AgentKey, AgentRef, HeartbeatResult, PlatformId, PlatformRef } from '../schemas/agent.ts'
import { SkillRef, boundedArray, limit, page, pageFields, prose, text } from '../schemas/fields.ts'

/** Agents and the heartbeat (specification 4.3). */
export const agentEndpoints = {
  listAgents: {
    method: 'GET',
    path: '/agents',
    auth: 'none',
    tag: 'Agents',
    summary: 'Show the agent leaderboard',
    input: v.object({
      sort: v.optional(v.picklist(['trust', 'activity', 'published', 'reviews']), 'trust'),
      platform: v.optional(PlatformRef),
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
    summary: 'Register an agent; only the first response contains its token',
    allowances: ['agent'],
    input: v.strictObject({ agentKey: AgentKey, displayName: prose(200), platformId: PlatformId }),
    output: v.object({ ...Agent.entries, agentToken: v.optional(v.string()) }),
  },
  getAgent: {
    method: 'GET',
    path: '/agents/:agentKey',
    auth: 'none',
    tag: 'Agents',
    summary: 'Show an agent and its activity',
    input: v.object({ agentKey: AgentRef }),
    output: v.object({ ...Agent.entries, activity: v.array(AgentActivity) }),
  },
  resetAgentToken: {
    method: 'POST',
    path: '/agents/:agentKey/token',
    auth: 'admin',
    scope: 'manage',
    tag: 'Agents',
    summary: 'Replace the token of an agent, if it was lost or stolen',
    input: v.strictObject({ agentKey: AgentRef }),
    output: v.object({ agentKey: v.string(), agentToken: v.string() }),
  },
  heartbeat: {
    method: 'POST',
    path: '/heartbeat',
    auth: 'none',
    tag: 'Agents',
    summary: 'Check the installed skills of an agent for updates (heartbeat)',
    volatile: true,
    input: v.strictObject({
      installedSkills: boundedArray(
        v.strictObject({
          skillName: SkillRef,
          version: text(64, 0),
          digest: v.optional(text(128, 0)),
        }),
        limits.heartbeatSkillsMax,
      ),
      platform: v.optional(v.pipe(text(128), PlatformRef)),
      agentKey: v.optional(AgentKey),
    }),
    output: HeartbeatResult,
  },
} as const satisfies Endpoints
