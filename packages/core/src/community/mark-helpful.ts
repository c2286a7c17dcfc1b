import { RegistryError, type AgentReview } from '@skillstead/protocol'
import { recognizeAgent } from './admit-agent.ts'
import { addHelpfulVote, recordActions } from './agent-actions.ts'
import { findAgent, isAuthentic } from '../accounts/find-agent.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { CommunityContext } from './community-context.ts'
import { getSkill, getSkillNow } from '../catalogue/find-skill.ts'
import type { AgentReviewRow, AgentRow } from '../storage/rows-community.ts'
import type { Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { Kysely } from 'kysely'
import { toAgentReview, type Reviewer } from './agent-review-form.ts'

type ReviewOfAgent = AgentReviewRow & Reviewer & Pick<AgentRow, 'user_id'>

/**
 * POST /skills/<name>/agent-reviews/<id>/helpful: one vote per agent and review; idempotent. Throws `conflict` for an
 * agent's own review, `forbidden` for a wrong token, `rate_limited`.
 */
export async function markAgentReviewHelpful(
  context: CommunityContext,
  input: { name: string; id: string; agentKey: string },
  caller: Caller,
  options: CallOptions = {},
): Promise<AgentReview> {
  const found = await getSkill(context, input.name, caller)
  const review = await getReview(context.database.read, found.id, input.id)
  await admitVote(context, review, input.agentKey, options)
  return context.database.writer.write(async (trx) => {
    const at = context.clock.now()
    const skill = await getSkillNow(context, trx, found, caller)
    const { agent, authenticated } = await recognizeAgent(trx, input.agentKey, { caller, options })
    if (agent && authenticated) await recordActions(trx, agent, [], at, { authenticated })
    const userId = agent && authenticated ? await findWeight(trx, review, agent) : null
    const vote = { review_id: review.id, agent_key: input.agentKey, user_id: userId, created_at: at }
    if (await insertVote(trx, vote)) await countVote(trx, review)
    else if (userId !== null) await proveVote(trx, vote)
    if (userId !== null) await addHelpfulVote(trx, review.agent_id)
    const now = await getReview(trx, skill.id, review.id)
    return toAgentReview(now, now)
  })
}

/** Refuses invalid votes before they count against the hourly limit; a repeated vote does not count either. */
async function admitVote(context: CommunityContext, review: ReviewOfAgent, agentKey: string, options: CallOptions) {
  if (review.agent_key === agentKey)
    throw new RegistryError('conflict', 'An agent cannot mark its own review as helpful.')
  isAuthentic(await findAgent(context.database.read, agentKey), options.agentToken)
  const vote = await context.database.read
    .selectFrom('agent_review_votes')
    .select('agent_key')
    .where('review_id', '=', review.id)
    .where('agent_key', '=', agentKey)
    .executeTakeFirst()
  if (!vote) await context.addressLimits.require('vote', options.address, review.id)
}

async function getReview(db: Kysely<Tables>, skillId: string, id: string): Promise<ReviewOfAgent> {
  const row = await db
    .selectFrom('agent_reviews')
    .innerJoin('agents', 'agents.id', 'agent_reviews.agent_id')
    .selectAll('agent_reviews')
    .select(['agent_key', 'display_name', 'platform_id', 'user_id'])
    .where('agent_reviews.id', '=', id)
    .where('skill_id', '=', skillId)
    .executeTakeFirst()
  if (!row) throw new RegistryError('not_found', 'This skill has no agent review with this id.')
  return row
}

/**
 * The user for whom an agent's vote counts towards the reviewer's trust score, or null. Anyone can register agents, so
 * each user counts once, and the reviewer's own user does not count.
 */
async function findWeight(trx: WriteTransaction, review: ReviewOfAgent, voter: AgentRow): Promise<string | null> {
  const { user_id } = voter
  if (user_id === null || user_id === (await getReview(trx, review.skill_id, review.id)).user_id) return null
  const earlier = await trx
    .selectFrom('agent_review_votes')
    .select('agent_key')
    .where('review_id', '=', review.id)
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  return earlier ? null : user_id
}

async function insertVote(trx: WriteTransaction, vote: Tables['agent_review_votes']): Promise<boolean> {
  const inserted = await trx
    .insertInto('agent_review_votes')
    .values(vote)
    .onConflict((conflict) => conflict.doNothing())
    .returning('review_id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** The vote exists: from before the agent authenticated, or by someone else in its name. */
async function proveVote(trx: WriteTransaction, vote: Tables['agent_review_votes']): Promise<void> {
  const { review_id, agent_key, user_id } = vote
  await trx
    .updateTable('agent_review_votes')
    .set({ user_id })
    .where('review_id', '=', review_id)
    .where('agent_key', '=', agent_key)
    .execute()
}

async function countVote(trx: WriteTransaction, review: ReviewOfAgent): Promise<void> {
  await trx
    .updateTable('agent_reviews')
    .set((eb) => ({ helpful_count: eb('helpful_count', '+', 1) }))
    .where('id', '=', review.id)
    .execute()
}
