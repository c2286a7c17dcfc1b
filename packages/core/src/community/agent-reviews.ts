import { type AgentReview, RegistryError, toTimestamp } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { CommunityContext } from './community-context.ts'
import { findAgent, isAuthentic } from '../accounts/find-agent.ts'
import { getSkill, getSkillNow } from '../catalogue/skills/find-skill.ts'
import { checkTexts } from '../catalogue/inspecting/metadata-scan.ts'
import { toPublicName } from '../catalogue/versions/skill-document.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import { newId } from '../kernel/ids.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { readPage } from '../storage/read-page.ts'
import { addRow, hasRow, increment } from '../storage/table-rows.ts'
import type { AgentReviewRow, AgentRow, SkillRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { addHelpfulVote, recordActions } from './agent-actions.ts'
import { admitAgent, insertAgent, recognizeAgent } from './agents.ts'
import { creditReview } from './skill-credit.ts'

/**
 * POST /skills/<name>/agent-reviews: 201, or 200 if the agent changes its review. The first review of an unknown agent
 * registers it, and the response contains its token. Throws `forbidden` for a wrong token, or a missing one if the
 * agent has ever used its token.
 */
export const createAgentReview: Operation<'createAgentReview', CommunityContext> = async (
  context,
  input,
  caller,
  options = {},
) => {
  const found = await getSkill(context, input.name, caller)
  await admitAgent(context, input.agentKey, options)
  const warned = await checkTexts(context, { content: input.content })
  return context.database.writer.write(async (trx) => {
    const at = context.clock.now()
    const skill = await getSkillNow(context, trx, found, caller)
    const { agent: known, authenticated } = await recognizeAgent(trx, input.agentKey, { caller, options })
    if (known?.authenticated && !authenticated) {
      // After an agent has authenticated once, no one else can act in its name.
      const advice = `${input.agentKey} has used its token. Send it in X-Agent-Token to review as this agent.`
      throw new RegistryError('forbidden', advice)
    }
    const made = known ? undefined : await insertAgent(trx, { ...input, displayName: input.agentKey }, at)
    const agent = known ?? made!.agent
    const before = await findAgentReview(trx, skill, agent)
    const review = toAgentReviewRow(input, { skill, agent, authenticated, at })
    const after = await creditReview(trx, review, at, () => putAgentReview(trx, before, review))
    await recordReviewAction(trx, { agent, before, after })
    const { agentKey, rating, content } = input
    const payload = { agentKey, rating, content }
    await context.upstreamQueue.queueOpinion(trx, { kind: 'agent-review', skill, caller, payload })
    if (!before) await emitAgentReview(trx, context, { skill, agent, review: after })
    const body = { ...toAgentReview(after, agent), ...(made && { agentToken: made.agentToken }), ...warned }
    return { status: before ? 200 : 201, body }
  })
}

function findAgentReview(trx: WriteTransaction, skill: SkillRow, agent: AgentRow): Promise<AgentReviewRow | undefined> {
  return trx
    .selectFrom('agent_reviews')
    .selectAll()
    .where('skill_id', '=', skill.id)
    .where('agent_id', '=', agent.id)
    .executeTakeFirst()
}

function toAgentReviewRow(
  input: Input<'createAgentReview'>,
  by: { skill: SkillRow; agent: AgentRow; authenticated: boolean; at: number },
): AgentReviewRow {
  return {
    id: newId(),
    skill_id: by.skill.id,
    agent_id: by.agent.id,
    rating: input.rating,
    content: input.content,
    authenticated: by.authenticated ? 1 : 0,
    reviewer_id: by.authenticated ? by.agent.user_id : null,
    helpful_count: 0,
    version: by.skill.latest_version,
    created_at: by.at,
    updated_at: by.at,
  }
}

/** A second review by an agent replaces the first review, but keeps the id, date and votes of the first. */
async function putAgentReview(trx: WriteTransaction, before: AgentReviewRow | undefined, review: AgentReviewRow) {
  if (!before) {
    await trx.insertInto('agent_reviews').values(review).execute()
    return review
  }
  const { id, created_at, helpful_count } = before
  const after = { ...review, id, created_at, helpful_count }
  await trx.updateTable('agent_reviews').set(after).where('id', '=', id).execute()
  return after
}

function emitAgentReview(
  trx: WriteTransaction,
  context: CatalogueContext,
  { skill, agent, review }: { skill: SkillRow; agent: AgentRow; review: AgentReviewRow },
): Promise<void> {
  const { id, rating, content, authenticated, agentKey, displayName, platformId } = toAgentReview(review, agent)
  return context.events.emit(trx, {
    event: 'skill.review.created',
    ownerId: skill.owner_id,
    skill,
    data: () => ({
      skill: { id: skill.id, name: toPublicName(skill) },
      review: { id, rating, title: '', body: content },
      reviewer: { agentKey, displayName, platformId, authenticated },
    }),
  })
}

async function recordReviewAction(
  trx: WriteTransaction,
  what: { agent: AgentRow; before: AgentReviewRow | undefined; after: AgentReviewRow },
): Promise<void> {
  const { agent, before, after } = what
  const action = { type: 'reviewed', skillId: after.skill_id, detail: toReviewDetail(before, after) } as const
  await recordActions(trx, agent, [action], after.updated_at, {
    authenticated: after.authenticated === 1,
    reviews: before ? 0 : 1,
    authenticatedReviews: after.authenticated - (before?.authenticated ?? 0),
  })
}

function toReviewDetail(before: AgentReviewRow | undefined, { rating, version }: AgentReviewRow): string {
  const stars = rating === 1 ? '1 star' : `${rating} stars`
  const of = version === '' ? '' : ` for version ${version}`
  return `${before ? 'Changed its review to' : 'Gave'} ${stars}${of}`
}

/** Each column is in descending order; ties are ordered by id, so that pages never overlap. */
const sortColumns = {
  recent: ['updated_at'],
  helpful: ['helpful_count'],
  rating_high: ['rating', 'helpful_count'],
} as const

/** GET /skills/<name>/agent-reviews: a page of the reviews by agents. */
export const listAgentReviews: Operation<'listAgentReviews', StorageContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  const reviews = context.database.read.selectFrom('agent_reviews').where('skill_id', '=', skill.id)
  const columns = [...sortColumns[input.sort], 'id' as const]
  const sorted = reviews
    .innerJoin('agents', 'agents.id', 'agent_reviews.agent_id')
    .selectAll('agent_reviews')
    .select(['agent_key', 'display_name', 'platform_id'])
    .$call((query) => columns.reduce((ordered, column) => ordered.orderBy(`agent_reviews.${column}`, 'desc'), query))
  const { rows, paging } = await readPage(reviews, sorted, input)
  return { reviews: rows.map((row) => toAgentReview(row, row)), ...paging }
}

type ReviewOfAgent = AgentReviewRow & Reviewer & Pick<AgentRow, 'user_id'>

/**
 * POST /skills/<name>/agent-reviews/<id>/helpful: one vote per agent and review; idempotent. Throws `conflict` for an
 * agent's own review, `forbidden` for a wrong token, `rate_limited`.
 */
export const markAgentReviewHelpful: Operation<'markAgentReviewHelpful', CommunityContext> = async (
  context,
  input,
  caller,
  options = {},
) => {
  const found = await getSkill(context, input.name, caller)
  const review = await getAgentReview(context.database.read, found.id, input.id)
  await admitVote(context, review, input.agentKey, options)
  return context.database.writer.write(async (trx) => {
    const at = context.clock.now()
    const skill = await getSkillNow(context, trx, found, caller)
    const { agent, authenticated } = await recognizeAgent(trx, input.agentKey, { caller, options })
    if (agent && authenticated) await recordActions(trx, agent, [], at, { authenticated })
    const userId = agent && authenticated ? await findVoteOwner(trx, review, agent) : null
    const vote = { review_id: review.id, agent_key: input.agentKey, user_id: userId, created_at: at }
    if (await addRow(trx, 'agent_review_votes', vote))
      await increment(trx, 'agent_reviews', review.id, { helpful_count: 1 })
    else if (userId !== null) await linkVote(trx, vote)
    if (userId !== null) await addHelpfulVote(trx, review.agent_id)
    const now = await getAgentReview(trx, skill.id, review.id)
    return toAgentReview(now, now)
  })
}

/** Refuses invalid votes before they count against the hourly limit. Repeated votes also do not count. */
async function admitVote(context: CommunityContext, review: ReviewOfAgent, agentKey: string, options: CallOptions) {
  if (review.agent_key === agentKey)
    throw new RegistryError('conflict', 'An agent cannot mark its own review as helpful.')
  isAuthentic(await findAgent(context.database.read, agentKey), options.agentToken)
  const vote = { review_id: review.id, agent_key: agentKey }
  if (!(await hasRow(context.database.read, 'agent_review_votes', vote)))
    await context.addressLimits.require('vote', options.address, review.id)
}

async function getAgentReview(db: Kysely<Tables>, skillId: string, id: string): Promise<ReviewOfAgent> {
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
async function findVoteOwner(trx: WriteTransaction, review: ReviewOfAgent, voter: AgentRow): Promise<string | null> {
  const { user_id } = voter
  if (user_id === null || user_id === (await getAgentReview(trx, review.skill_id, review.id)).user_id) return null
  return (await hasRow(trx, 'agent_review_votes', { review_id: review.id, user_id })) ? null : user_id
}

/** Links a vote to a user. The vote was sent before the agent authenticated, or by another caller in its name. */
async function linkVote(trx: WriteTransaction, vote: Tables['agent_review_votes']): Promise<void> {
  const { review_id, agent_key, user_id } = vote
  await trx
    .updateTable('agent_review_votes')
    .set({ user_id })
    .where('review_id', '=', review_id)
    .where('agent_key', '=', agent_key)
    .execute()
}

/** The columns of an agent that its reviews show. */
type Reviewer = Pick<AgentRow, 'agent_key' | 'display_name' | 'platform_id'>

function toAgentReview(row: AgentReviewRow, agent: Reviewer): AgentReview {
  return {
    id: row.id,
    agentKey: agent.agent_key,
    displayName: agent.display_name,
    platformId: agent.platform_id,
    rating: row.rating,
    content: row.content,
    authenticated: row.authenticated === 1,
    helpfulCount: row.helpful_count,
    version: row.version,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}
