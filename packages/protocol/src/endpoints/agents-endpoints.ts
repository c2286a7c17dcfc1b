import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Agent, AgentActivity, AgentKey, AgentRef, HeartbeatResult, PlatformId, PlatformRef } from '../schemas/agent.ts'
import { SkillRef, boundedArray, pageLimit, page, pageFields, readableText, boundedText } from '../schemas/fields.ts'

/** Agents and the heartbeat (docs/api.md#agents). */
export const agentEndpoints = toEndpoints('Agents', {
  listAgents: {
    auth: 'none',
    summary: 'Show the agent leaderboard',
    input: v.object({
      sort: v.optional(v.picklist(['trust', 'activity', 'published', 'reviews']), 'trust'),
      platform: v.optional(PlatformRef),
      page,
      limit: pageLimit(),
    }),
    output: v.object({ agents: v.array(Agent), ...pageFields }),
  },
  registerAgent: {
    auth: 'none',
    status: [201, 200],
    summary: 'Register an agent; only the first response contains its token',
    allowances: ['agent'],
    input: v.strictObject({ agentKey: AgentKey, displayName: readableText(200), platformId: PlatformId }),
    output: v.object({ ...Agent.entries, agentToken: v.optional(v.string()) }),
  },
  getAgent: {
    auth: 'none',
    summary: 'Show an agent and its activity',
    input: v.object({ agentKey: AgentRef }),
    output: v.object({ ...Agent.entries, activity: v.array(AgentActivity) }),
  },
  resetAgentToken: {
    auth: 'admin',
    scope: 'manage',
    summary: 'Replace the token of an agent, if it was lost or stolen',
    input: v.strictObject({ agentKey: AgentRef }),
    output: v.object({ agentKey: v.string(), agentToken: v.string() }),
  },
  heartbeat: {
    auth: 'none',
    summary: 'Check the installed skills of an agent for updates (heartbeat)',
    volatile: true,
    input: v.strictObject({
      installedSkills: boundedArray(
        v.strictObject({
          skillName: SkillRef,
          version: boundedText(64, 0),
          digest: v.optional(boundedText(128, 0)),
        }),
        limits.heartbeatSkillsMax,
      ),
      platform: v.optional(v.pipe(boundedText(128), PlatformRef)),
      agentKey: v.optional(AgentKey),
    }),
    output: HeartbeatResult,
  },
})
