import type { UserCaller } from '../caller.ts'
import type { CallOptions } from '../context.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { linkAgent, recordDeed } from './agent-deeds.ts'
import { findCallingAgent } from './find-agent.ts'

/** Enters a version that was made into the activity of the agent whose token came along, if one did. */
export async function attributeVersion(
  trx: WriteTransaction,
  version: { skill_id: string; version: string; published_at: number },
  by: { user: UserCaller; options: CallOptions },
): Promise<void> {
  const agent = await findCallingAgent(trx, by.options.agentToken)
  if (!agent) return
  const at = version.published_at
  await linkAgent(trx, agent, by.user.userId)
  const deed = { type: 'published', skillId: version.skill_id, detail: `Published version ${version.version}` } as const
  await recordDeed(trx, agent, deed, at, { authenticated: true, published: 1 })
}
