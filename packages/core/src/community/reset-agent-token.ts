import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CommunityContext } from './community-context.ts'
import { createToken } from '../kernel/tokens.ts'
import { getAgentByKey } from '../accounts/find-agent.ts'

/**
 * POST /agents/<agentKey>/token, for administrators, where a token was lost or fell into wrong hands: the old one is
 * worth nothing from now on, the new one is in this answer alone. Whose agent it is stays as it was.
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
