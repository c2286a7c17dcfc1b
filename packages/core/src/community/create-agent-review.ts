import { RegistryError, type AgentReview, type Reply, type Warning } from '@skillstead/protocol'
import { admitAgent, insertAgent, recognizeAgent } from './admit-agent.ts'
import { recordAction } from './agent-actions.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { CommunityContext } from './community-context.ts'
import { newId } from '../kernel/ids.ts'
import { getSkill, getSkillNow } from '../catalogue/find-skill.ts'
import { toName } from '../catalogue/skill-document.ts'
import type { AgentReviewRow, AgentRow } from '../storage/rows-community.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toAgentReview } from './agent-review-form.ts'
import { checkTexts } from '../catalogue/text-scan.ts'
import { creditReview } from './review-credit.ts'

interface AgentReviewInput {
  name: string
  agentKey: string
  rating: number
  content: string
}

/**
 * POST /skills/<name>/agent-reviews: 201, or 200 if the agent changes its review. The first review of an unknown agent
 * registers it, and the response contains its token. Throws `forbidden` for a wrong token, or a missing one if the
 * agent has ever used its token.
 */
export async function createAgentReview(
  context: CommunityContext,
  input: AgentReviewInput,
  caller: Caller,
  options: CallOptions = {},
): Promise<Reply<AgentReview & { agentToken?: string; warnings?: Warning[] }>> {
  const found = await getSkill(context, input.name, caller)
  await admitAgent(context, input.agentKey, options)
  const warned = await checkTexts(context, { content: input.content })
  return context.database.writer.write(async (trx) => {
    const at = context.clock.now()
    const skill = await getSkillNow(context, trx, found, caller)
    const { agent: known, authenticated } = await recognizeAgent(trx, input.agentKey, { caller, options })
    if (known?.authenticated && !authenticated) throw needsToken(input.agentKey)
    const made = known ? undefined : await insertAgent(trx, { ...input, displayName: input.agentKey }, at)
    const agent = known ?? made!.agent
    const before = await findReview(trx, skill, agent)
    const review = toReview(input, { skill, agent, authenticated, at })
    const after = await creditReview(trx, review, at, () => putReview(trx, before, review))
    await recordReview(trx, { agent, before, after })
    const { agentKey, rating, content } = input
    await context.upstreamQueue.queueOpinion(trx, {
      kind: 'agent-review',
      skill,
      caller,
      payload: { agentKey, rating, content },
    })
    if (!before) await emitReview(trx, context, { skill, agent, review: after })
    const body = { ...toAgentReview(after, agent), ...(made && { agentToken: made.agentToken }), ...warned }
    return { status: before ? 200 : 201, body }
  })
}

/** After an agent has authenticated once, no one else can act in its name. */
function needsToken(agentKey: string): RegistryError {
  return new RegistryError(
    'forbidden',
    `${agentKey} has used its token. Send it in X-Agent-Token to review as this agent.`,
  )
}

function findReview(trx: WriteTransaction, skill: SkillRow, agent: AgentRow): Promise<AgentReviewRow | undefined> {
  return trx
    .selectFrom('agent_reviews')
    .selectAll()
    .where('skill_id', '=', skill.id)
    .where('agent_id', '=', agent.id)
    .executeTakeFirst()
}

function toReview(
  input: AgentReviewInput,
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

/** A second review replaces the first, but keeps its id, date and votes. */
async function putReview(
  trx: WriteTransaction,
  before: AgentReviewRow | undefined,
  review: AgentReviewRow,
): Promise<AgentReviewRow> {
  if (!before) {
    await trx.insertInto('agent_reviews').values(review).execute()
    return review
  }
  const { id, created_at, helpful_count } = before
  const after = { ...review, id, created_at, helpful_count }
  await trx.updateTable('agent_reviews').set(after).where('id', '=', id).execute()
  return after
}

function emitReview(
  trx: WriteTransaction,
  context: CommunityContext,
  { skill, agent, review }: { skill: SkillRow; agent: AgentRow; review: AgentReviewRow },
): Promise<void> {
  const { id, rating, content, authenticated, agentKey, displayName, platformId } = toAgentReview(review, agent)
  return context.events.emit(trx, {
    event: 'skill.review.created',
    ownerId: skill.owner_id,
    skill,
    data: () => ({
      skill: { id: skill.id, name: toName(skill) },
      review: { id, rating, title: '', body: content },
      reviewer: { agentKey, displayName, platformId, authenticated },
    }),
  })
}

async function recordReview(
  trx: WriteTransaction,
  what: { agent: AgentRow; before: AgentReviewRow | undefined; after: AgentReviewRow },
): Promise<void> {
  const { agent, before, after } = what
  const action = { type: 'reviewed', skillId: after.skill_id, detail: toDetail(before, after) } as const
  await recordAction(trx, agent, action, after.updated_at, {
    authenticated: after.authenticated === 1,
    reviews: before ? 0 : 1,
    authenticatedReviews: after.authenticated - (before?.authenticated ?? 0),
  })
}

function toDetail(before: AgentReviewRow | undefined, { rating, version }: AgentReviewRow): string {
  const stars = rating === 1 ? '1 star' : `${rating} stars`
  const of = version === '' ? '' : ` for version ${version}`
  return `${before ? 'Changed its review to' : 'Gave'} ${stars}${of}`
}
