import type { UserCaller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { AgentRow } from '../storage/rows-community.ts'
import type { VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { linkAgent, recordDeed } from './agent-deeds.ts'
import { findCallingAgent } from '../accounts/find-agent.ts'

type MadeVersion = Pick<VersionRow, 'skill_id' | 'version' | 'published_at'>

/** Enters a version that was made into the activity of the agent whose token came along, if one did. */
export async function attributeVersion(
  trx: WriteTransaction,
  version: MadeVersion,
  by: { user: UserCaller; options: CallOptions },
): Promise<void> {
  const agent = await findCallingAgent(trx, by.options.agentToken)
  if (agent) await attributeTo(trx, agent, version, by.user.userId)
}

/** Enters a version into the activity of the agent that made it. */
export async function attributeTo(
  trx: WriteTransaction,
  agent: AgentRow,
  version: MadeVersion,
  userId: string,
): Promise<void> {
  const at = version.published_at
  await linkAgent(trx, agent, userId)
  const deed = { type: 'published', skillId: version.skill_id, detail: `Published version ${version.version}` } as const
  await recordDeed(trx, agent, deed, at, { authenticated: true, published: 1 })
}
