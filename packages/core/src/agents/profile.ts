import type { Agent, AgentActivity } from '@skillstead/protocol'
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { callerId, type Caller } from '../caller.ts'
import { toTimestamp } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Tables } from '../storage/tables.ts'
import { toAgent } from './agent-form.ts'
import { getAgentByKey } from './find-agent.ts'

const activityMax = 50

/** GET /agents/<agentKey>: with the newest of what it did, as far as the caller may see the skills. */
export async function getAgent(
  context: Context,
  input: { agentKey: string },
  caller: Caller,
): Promise<Agent & { activity: AgentActivity[] }> {
  const agent = await getAgentByKey(context.database.read, input.agentKey)
  const rows = await context.database.read
    .selectFrom('agent_activity')
    .leftJoin('skills', 'skills.id', 'agent_activity.skill_id')
    .select(['type', 'at', 'detail', 'full_name'])
    .where('agent_id', '=', agent.id)
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
