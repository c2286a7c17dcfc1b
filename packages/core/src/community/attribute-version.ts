import type { UserCaller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { AgentRow } from '../storage/rows-community.ts'
import type { VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { linkAgent, recordAction } from './agent-actions.ts'
import { findCallingAgent } from '../accounts/find-agent.ts'

type MadeVersion = Pick<VersionRow, 'skill_id' | 'version' | 'published_at'>

/** Records a published version as an action of the agent whose token the request had, if any. */
export async function attributeVersion(
  trx: WriteTransaction,
  version: MadeVersion,
  by: { user: UserCaller; options: CallOptions },
): Promise<void> {
  const agent = await findCallingAgent(trx, by.options.agentToken)
  if (agent) await attributeTo(trx, agent, version, by.user.userId)
}

/** Records a published version as an action of an agent. */
export async function attributeTo(
  trx: WriteTransaction,
  agent: AgentRow,
  version: MadeVersion,
  userId: string,
): Promise<void> {
  const at = version.published_at
  await linkAgent(trx, agent, userId)
  const action = {
    type: 'published',
    skillId: version.skill_id,
    detail: `Published version ${version.version}`,
  } as const
  await recordAction(trx, agent, action, at, { authenticated: true, published: 1 })
}
