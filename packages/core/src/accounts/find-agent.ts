import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { AgentRow } from '../storage/rows-community.ts'
import type { Tables } from '../storage/tables.ts'
import { hashToken, isTokenOf } from '../kernel/tokens.ts'

/** The agent of a key; undefined where nobody registered it. */
export function findAgent(db: Kysely<Tables>, agentKey: string): Promise<AgentRow | undefined> {
  return db.selectFrom('agents').selectAll().where('agent_key', '=', agentKey).executeTakeFirst()
}

/** As {@link findAgent}; throws `not_found`. */
export async function getAgentByKey(db: Kysely<Tables>, agentKey: string): Promise<AgentRow> {
  const agent = await findAgent(db, agentKey)
  if (!agent) throw new RegistryError('not_found', `There is no agent '${agentKey}'.`)
  return agent
}

/** The agent that a token belongs to; undefined where there is none. */
function findAgentByToken(db: Kysely<Tables>, token: string): Promise<AgentRow | undefined> {
  return db.selectFrom('agents').selectAll().where('token_hash', '=', hashToken(token)).executeTakeFirst()
}

/** The agent that a call comes from, where it says so: with its token. Throws `forbidden` for a token of nobody. */
export async function findCallingAgent(
  db: Kysely<Tables>,
  agentToken: string | undefined,
): Promise<AgentRow | undefined> {
  if (agentToken === undefined) return undefined
  const agent = await findAgentByToken(db, agentToken)
  if (agent) return agent
  throw new RegistryError('forbidden', 'The token in X-Agent-Token belongs to no agent.')
}

/**
 * Whether a call comes from the agent itself: with its token. Without one it may or may not. A token that is not the
 * agent's, or one for an agent that is not registered, throws `forbidden`.
 */
export function isAuthentic(agent: AgentRow | undefined, agentToken: string | undefined): boolean {
  if (agentToken === undefined) return false
  if (agent && isTokenOf(agent.token_hash, agentToken)) return true
  throw new RegistryError('forbidden', 'The token in X-Agent-Token is not that of this agent.')
}

/** Whether a skill's owner is who the agent works for: what it does then is no recommendation. */
export function isOwnAgent(agent: Pick<AgentRow, 'user_id'>, owner: { owner_id: string }): boolean {
  return agent.user_id === owner.owner_id
}
