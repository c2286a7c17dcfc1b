import { type Agent, type AgentActivity, toTimestamp } from '@skillstead/protocol'
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { callerId, type Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { CommunityContext } from './community-context.ts'
import { isAdministrator } from '../catalogue/visibility.ts'
import type { AgentDeed, AgentRow } from '../storage/rows-community.ts'
import type { Tables } from '../storage/tables.ts'
import { isTokenOf } from '../kernel/tokens.ts'
import { toAgent } from './agent-form.ts'
import { getAgentByKey } from '../accounts/find-agent.ts'

const activityMax = 50

/** What somebody has installed is for themselves to know: whose sets are in the open can be attacked through them. */
const ownDeeds: readonly AgentDeed[] = ['installed', 'removed']

/**
 * GET /agents/<agentKey>: with the newest of what it did, as far as the caller may see the skills. What it installed is
 * told to the agent itself, to its user and to administrators alone.
 */
export async function getAgent(
  context: CommunityContext,
  input: { agentKey: string },
  caller: Caller,
  options: CallOptions = {},
): Promise<Agent & { activity: AgentActivity[] }> {
  const agent = await getAgentByKey(context.database.read, input.agentKey)
  const isOwn = isAgent(agent, options) || isUserOf(agent, caller) || isAdministrator(caller)
  const rows = await context.database.read
    .selectFrom('agent_activity')
    .leftJoin('skills', 'skills.id', 'agent_activity.skill_id')
    .select(['type', 'at', 'detail', 'full_name'])
    .where('agent_id', '=', agent.id)
    .$if(!isOwn, (select) => select.where('type', 'not in', ownDeeds))
    .where((eb) => eb.or([eb('skill_id', 'is', null), isListedFor(eb, callerId(caller))]))
    .orderBy('agent_activity.id', 'desc')
    .limit(activityMax)
    .execute()
  const activity = rows.map(({ type, at, detail, full_name }) => ({
    type,
    at: toTimestamp(at),
    ...(full_name !== null && { skill: full_name }),
    detail,
  }))
  return { ...toAgent(agent), activity }
}

/** Agents look at each other with their own tokens, which is nothing to refuse. */
function isAgent(agent: AgentRow, { agentToken }: CallOptions): boolean {
  return agentToken !== undefined && isTokenOf(agent.token_hash, agentToken)
}

function isUserOf(agent: AgentRow, caller: Caller): boolean {
  return agent.user_id !== null && agent.user_id === callerId(caller)
}

/** Asked of the database, for there is no telling how much must be passed over to find enough that may be seen. */
function isListedFor(eb: ExpressionBuilder<Tables, 'skills'>, viewer: string | null): Expression<SqlBool> {
  const isLive = eb('skills.state', '=', 'live')
  if (viewer === null) return eb.and([isLive, eb('skills.visibility', '=', 'public')])
  const isCollaborator = eb.exists(
    eb
      .selectFrom('collaborators')
      .select('collaborators.user_id')
      .whereRef('collaborators.skill_id', '=', 'skills.id')
      .where('collaborators.user_id', '=', viewer),
  )
  const isOpen = eb('skills.visibility', 'in', ['public', 'internal'])
  return eb.and([isLive, eb.or([isOpen, eb('skills.owner_id', '=', viewer), isCollaborator])])
}
