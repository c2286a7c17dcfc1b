import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { AgentRow, Tables } from '../storage/tables.ts'
import { hashToken, isTokenOf } from '../kernel/tokens.ts'

/** Finds the agent with a key; undefined if no agent is registered with the key. */
export function findAgent(db: Kysely<Tables>, agentKey: string): Promise<AgentRow | undefined> {
  return db.selectFrom('agents').selectAll().where('agent_key', '=', agentKey).executeTakeFirst()
}

/** As {@link findAgent}; throws `not_found`. */
export async function getAgentByKey(db: Kysely<Tables>, agentKey: string): Promise<AgentRow> {
  const agent = await findAgent(db, agentKey)
  if (!agent) throw new RegistryError('not_found', `There is no agent '${agentKey}'.`)
  return agent
}

/**
 * Finds the agent that makes the call, by its token; undefined without a token. Throws `forbidden` for an unknown
 * token.
 */
export async function findCallingAgent(db: Kysely<Tables>, agentToken: string | undefined) {
  if (agentToken === undefined) return undefined
  const byToken = db.selectFrom('agents').selectAll().where('token_hash', '=', hashToken(agentToken))
  const agent = await byToken.executeTakeFirst()
  if (agent) return agent
  throw new RegistryError('forbidden', 'The token in X-Agent-Token belongs to no agent.')
}

/**
 * Whether the call has the agent's token, and so comes from the agent itself. Without a token the answer is false.
 * Throws `forbidden` if the token belongs to another agent, or the agent is not registered.
 */
export function isAuthentic(agent: AgentRow | undefined, agentToken: string | undefined): boolean {
  if (agentToken === undefined) return false
  if (agent && isTokenOf(agent.token_hash, agentToken)) return true
  throw new RegistryError('forbidden', 'The token in X-Agent-Token is not the token of this agent.')
}

/**
 * Whether the agent belongs to the skill's owner. Reviews and installs of such an agent do not count as
 * recommendations.
 */
export function isOwnAgent(agent: Pick<AgentRow, 'user_id'>, owner: { owner_id: string }): boolean {
  return agent.user_id === owner.owner_id
}
