import { type Agent, type AgentActivity, toTimestamp } from '@skillstead/protocol'
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { callerId, type Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { CommunityContext } from './community-context.ts'
import { isAdministrator } from '../catalogue/visibility.ts'
import type { AgentActionType, AgentRow } from '../storage/rows-community.ts'
import type { Tables } from '../storage/tables.ts'
import { isTokenOf } from '../kernel/tokens.ts'
import { toAgent } from './agent-form.ts'
import { getAgentByKey } from '../accounts/find-agent.ts'

const activityMax = 50

/** What an agent has installed is private: attackers could use a public list of installed skills. */
const privateActions: readonly AgentActionType[] = ['installed', 'removed']

/**
 * GET /agents/<agentKey>: with the latest actions on skills that the caller may see. Only the agent itself, its user
 * and administrators see what it installed.
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
    .$if(!isOwn, (select) => select.where('type', 'not in', privateActions))
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

/** Agents may read each other's profiles with their own tokens, so a token of another agent is no error. */
function isAgent(agent: AgentRow, { agentToken }: CallOptions): boolean {
  return agentToken !== undefined && isTokenOf(agent.token_hash, agentToken)
}

function isUserOf(agent: AgentRow, caller: Caller): boolean {
  return agent.user_id !== null && agent.user_id === callerId(caller)
}

/** Filtered in the database: any number of rows might be skipped before enough visible ones are found. */
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
