import { accountId, type Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { CommunityContext } from './community-context.ts'
import { newId } from '../kernel/ids.ts'
import type { AgentRow } from '../storage/rows-community.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { createToken } from '../kernel/tokens.ts'
import { linkAgent, recordAction } from './agent-actions.ts'
import { findAgent, isAuthentic } from '../accounts/find-agent.ts'

/**
 * Called before a write that may register an agent: counts a new agent against the hourly limit of the address. Throws
 * `forbidden` for a wrong token, which does not count, and `rate_limited`.
 */
export async function admitAgent(context: CommunityContext, agentKey: string, options: CallOptions): Promise<void> {
  const agent = await findAgent(context.database.read, agentKey)
  isAuthentic(agent, options.agentToken)
  if (!agent) await context.addressLimits.require('agent', options.address)
}

/**
 * The calling agent, and whether its token was correct. An authenticated agent is linked to the user whose key it uses.
 */
export async function recognizeAgent(
  trx: WriteTransaction,
  agentKey: string,
  by: { caller: Caller; options: CallOptions },
): Promise<{ agent: AgentRow | undefined; authenticated: boolean }> {
  const agent = await findAgent(trx, agentKey)
  const authenticated = isAuthentic(agent, by.options.agentToken)
  if (!agent || !authenticated) return { agent, authenticated: false }
  return { agent: await linkAgent(trx, agent, accountId(by.caller)), authenticated }
}

/** Registers an agent. The token is only in the response: the database stores its hash. */
export async function insertAgent(
  trx: WriteTransaction,
  agent: { agentKey: string; displayName: string },
  at: number,
): Promise<{ agent: AgentRow; agentToken: string }> {
  const { token, hash } = createToken('sat')
  const row: AgentRow = {
    id: newId(),
    agent_key: agent.agentKey,
    display_name: agent.displayName,
    platform_id: toPlatformId(agent.agentKey),
    token_hash: hash,
    user_id: null,
    authenticated: 0,
    trust_score: 0,
    review_count: 0,
    authenticated_review_count: 0,
    helpful_count: 0,
    published_count: 0,
    install_count: 0,
    registered_at: at,
    last_seen_at: at,
  }
  await trx.insertInto('agents').values(row).execute()
  await recordAction(trx, row, { type: 'registered', detail: 'Registered' }, at)
  return { agent: row, agentToken: token }
}

/** The platform part of an agent key. */
export function toPlatformId(agentKey: string): string {
  return agentKey.slice(0, agentKey.indexOf(':'))
}
