import { sql } from 'kysely'
import { newId } from '../kernel/ids.ts'
import type { AgentDeed, AgentRow } from '../storage/rows-community.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toTrustScore, type TrustCounters } from './agent-trust.ts'

/** Something that an agent did. `detail` names no skill: names change, and not everyone may know them. */
export interface Deed {
  readonly type: AgentDeed
  readonly skillId?: string | null
  readonly detail: string
}

/** What deeds add to the counters of an agent, and whether they came with its token. */
export interface DeedChange {
  readonly authenticated?: boolean
  readonly reviews?: number
  readonly authenticatedReviews?: number
  readonly published?: number
  readonly installs?: number
}

/** In pieces: a statement takes only so many parameters. */
const rowsMax = 500
/** The newest deeds of an agent that are kept: it can make any number of them, and 50 are shown of those that may be. */
const deedsKept = 200

/** Enters a deed into the activity of an agent, and what follows from it: when it was seen, its counters, its trust. */
export function recordDeed(
  trx: WriteTransaction,
  agent: Pick<AgentRow, 'id'>,
  deed: Deed,
  at: number,
  change: DeedChange = {},
): Promise<AgentRow> {
  return recordDeeds(trx, agent, [deed], at, change)
}

/** As {@link recordDeed} for any number of deeds; with none of them the agent was only seen. Returns its new row. */
export async function recordDeeds(
  trx: WriteTransaction,
  agent: Pick<AgentRow, 'id'>,
  deeds: readonly Deed[],
  at: number,
  change: DeedChange = {},
): Promise<AgentRow> {
  for (let i = 0; i < deeds.length; i += rowsMax) {
    const rows = deeds.slice(i, i + rowsMax).map(({ type, skillId = null, detail }) => ({
      id: newId(),
      agent_id: agent.id,
      at,
      type,
      skill_id: skillId,
      detail,
    }))
    await trx.insertInto('agent_activity').values(rows).execute()
  }
  if (deeds.length > 0) await forgetOldDeeds(trx, agent.id)
  const seen = { last_seen_at: at, ...(change.authenticated && { authenticated: 1 }) }
  return changeAgent(trx, agent.id, seen, {
    review_count: change.reviews,
    authenticated_review_count: change.authenticatedReviews,
    published_count: change.published,
    install_count: change.installs,
  })
}

async function forgetOldDeeds(trx: WriteTransaction, agentId: string): Promise<void> {
  const deedsOf = trx.selectFrom('agent_activity').select('id').where('agent_id', '=', agentId)
  const oldestKept = deedsOf
    .orderBy('id', 'desc')
    .limit(1)
    .offset(deedsKept - 1)
  await trx.deleteFrom('agent_activity').where('agent_id', '=', agentId).where('id', '<', oldestKept).execute()
}

/** Counts a helpful vote for a review of the agent. It did nothing itself, so it was not seen. */
export async function addHelpfulVote(trx: WriteTransaction, agentId: string): Promise<void> {
  await changeAgent(trx, agentId, {}, { helpful_count: 1 })
}

/**
 * Makes the user whose key came along with the agent's token the one it works for, unless it has one. Call it only
 * where the token was right. Returns the agent's row as it is now; for a caller without an account nothing happens.
 */
export async function linkAgent(trx: WriteTransaction, agent: AgentRow, userId: string | null): Promise<AgentRow> {
  if (userId === null || agent.user_id !== null) return agent
  const helpful_count = await countHelpful(trx, agent.id, userId)
  return changeAgent(trx, agent.id, { user_id: userId, helpful_count })
}

/** The votes of others than the user that the agent turns out to work for. */
async function countHelpful(trx: WriteTransaction, agentId: string, userId: string): Promise<number> {
  const { count } = await trx
    .selectFrom('agent_review_votes')
    .innerJoin('agent_reviews', 'agent_reviews.id', 'agent_review_votes.review_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('agent_reviews.agent_id', '=', agentId)
    .where('agent_review_votes.user_id', '!=', userId)
    .executeTakeFirstOrThrow()
  return count
}

async function changeAgent(
  trx: WriteTransaction,
  agentId: string,
  change: Partial<AgentRow>,
  increments: Partial<Record<keyof TrustCounters, number | undefined>> = {},
): Promise<AgentRow> {
  const added = Object.entries(increments)
    .filter(([, step]) => step !== undefined)
    .map(([counter, step]) => [counter, sql<number>`${sql.ref(counter)} + ${step}`])
  const agent = await trx
    .updateTable('agents')
    .set({ ...change, ...Object.fromEntries(added) })
    .where('id', '=', agentId)
    .returningAll()
    .executeTakeFirstOrThrow()
  const trust_score = toTrustScore(agent)
  if (trust_score !== agent.trust_score)
    await trx.updateTable('agents').set({ trust_score }).where('id', '=', agentId).execute()
  return { ...agent, trust_score }
}
