import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CommunityContext } from './community-context.ts'
import { createToken } from '../kernel/tokens.ts'
import { getAgentByKey } from '../accounts/find-agent.ts'

/**
 * POST /agents/<agentKey>/token, for administrators, after a token was lost or leaked: revokes the old token and
 * returns the new one, which is shown only in this response. The agent's user is unchanged.
 */
export async function resetAgentToken(
  context: CommunityContext,
  input: { agentKey: string },
  caller: Caller,
): Promise<{ agentKey: string; agentToken: string }> {
  return context.database.writer.write(async (trx) => {
    const agent = await getAgentByKey(trx, input.agentKey)
    const { token, hash } = createToken('sat')
    await trx.updateTable('agents').set({ token_hash: hash }).where('id', '=', agent.id).execute()
    const at = context.clock.now()
    await recordAudit(trx, { caller, action: 'agent.reset_token', subject: agent.agent_key, at })
    return { agentKey: agent.agent_key, agentToken: token }
  })
}
