import { sql } from 'kysely'
import { findCallingAgent } from '../accounts/find-agent.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { UserCaller } from '../kernel/caller.ts'
import { newId } from '../kernel/ids.ts'
import { countRows } from '../storage/count-rows.ts'
import type { AgentActionType, AgentRow, VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** An action of an agent. `detail` names no skill, since names change and not everyone may know them. */
export interface AgentAction {
  readonly type: AgentActionType
  readonly skillId?: string | null
  readonly detail: string
}

/** What actions of an agent add to its counters, and whether the actions were authenticated. */
interface ActionChange {
  readonly authenticated?: boolean
  readonly reviews?: number
  readonly authenticatedReviews?: number
  readonly published?: number
  readonly installs?: number
}

/** Rows per statement; databases limit the number of parameters. */
const rowsMax = 500
/** Activity rows stored per agent. Agents can create any number; a response shows 50 that the caller may see. */
const actionsStored = 200

/**
 * Records actions of an agent, and updates its counters, its trust score and when it was last seen. Without actions,
 * the agent was only seen. Returns the new row.
 */
export async function recordActions(
  trx: WriteTransaction,
  agent: Pick<AgentRow, 'id'>,
  actions: readonly AgentAction[],
  at: number,
  change: ActionChange = {},
): Promise<AgentRow> {
  for (let i = 0; i < actions.length; i += rowsMax) {
    const rows = actions.slice(i, i + rowsMax).map(({ type, skillId = null, detail }) => ({
      id: newId(),
      agent_id: agent.id,
      at,
      type,
      skill_id: skillId,
      detail,
    }))
    await trx.insertInto('agent_activity').values(rows).execute()
  }
  if (actions.length > 0) await deleteOldActions(trx, agent.id)
  const seen = { last_seen_at: at, ...(change.authenticated && { authenticated: 1 }) }
  return changeAgent(trx, agent.id, seen, {
    review_count: change.reviews,
    authenticated_review_count: change.authenticatedReviews,
    published_count: change.published,
    install_count: change.installs,
  })
}

async function deleteOldActions(trx: WriteTransaction, agentId: string): Promise<void> {
  const actionsOf = trx.selectFrom('agent_activity').select('id').where('agent_id', '=', agentId)
  const oldestStored = actionsOf
    .orderBy('id', 'desc')
    .limit(1)
    .offset(actionsStored - 1)
  await trx.deleteFrom('agent_activity').where('agent_id', '=', agentId).where('id', '<', oldestStored).execute()
}

/** Counts a helpful vote for a review by the agent. The agent did nothing itself, so it is not marked as seen. */
export async function addHelpfulVote(trx: WriteTransaction, agentId: string): Promise<void> {
  await changeAgent(trx, agentId, {}, { helpful_count: 1 })
}

/**
 * Links an agent to the user whose key was sent with the agent's token, unless the agent is already linked to a user.
 * Call this function only if the token was correct. Returns the agent's current row; does nothing for a caller without
 * an account.
 */
export async function linkAgent(trx: WriteTransaction, agent: AgentRow, userId: string | null): Promise<AgentRow> {
  if (userId === null || agent.user_id !== null) return agent
  const helpful_count = await countHelpful(trx, agent.id, userId)
  return changeAgent(trx, agent.id, { user_id: userId, helpful_count })
}

/** Counts the helpful votes for an agent's reviews, without votes of the user to whom the agent is being linked. */
function countHelpful(trx: WriteTransaction, agentId: string, userId: string): Promise<number> {
  const votes = trx
    .selectFrom('agent_review_votes')
    .innerJoin('agent_reviews', 'agent_reviews.id', 'agent_review_votes.review_id')
    .where('agent_reviews.agent_id', '=', agentId)
    .where('agent_review_votes.user_id', '!=', userId)
  return countRows(votes)
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
  return { ...agent, trust_score: await settleTrust(trx, agent) }
}

/** Computes the trust score of an agent from its counters, stores the score if it changed, and returns it. */
export async function settleTrust(trx: WriteTransaction, agent: TrustCounters & Pick<AgentRow, 'id' | 'trust_score'>) {
  const trust_score = toTrustScore(agent)
  if (trust_score !== agent.trust_score)
    await trx.updateTable('agents').set({ trust_score }).where('id', '=', agent.id).execute()
  return trust_score
}

/** The counters from which an agent's trust score is computed. */
export type TrustCounters = Pick<
  AgentRow,
  | 'authenticated'
  | 'authenticated_review_count'
  | 'review_count'
  | 'helpful_count'
  | 'published_count'
  | 'install_count'
>

/**
 * The trust score as a table: each counter adds at most `points`, reached at `fullAt`. Growth is logarithmic, so that
 * the first actions count most and no number of actions of one kind replaces the other kinds. Any caller can send
 * actions without a token, so they weigh little: an authenticated review counts in two rows of the table, an
 * unauthenticated review in one row.
 */
export const trustTable: readonly { counter: keyof TrustCounters; points: number; fullAt: number }[] = [
  { counter: 'authenticated', points: 15, fullAt: 1 },
  { counter: 'authenticated_review_count', points: 30, fullAt: 50 },
  { counter: 'helpful_count', points: 25, fullAt: 100 },
  { counter: 'published_count', points: 15, fullAt: 20 },
  { counter: 'install_count', points: 10, fullAt: 100 },
  { counter: 'review_count', points: 5, fullAt: 50 },
]

/** An agent's trust score: an integer from 0 to 100 that never falls while its counters rise. */
export function toTrustScore(counters: TrustCounters): number {
  const points = trustTable.map(({ counter, points: most, fullAt }) => {
    const share = Math.log1p(counters[counter]) / Math.log1p(fullAt)
    return most * Math.min(1, share)
  })
  return Math.round(points.reduce((sum, part) => sum + part, 0))
}

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
export async function attributeTo(trx: WriteTransaction, agent: AgentRow, version: MadeVersion, userId: string) {
  const at = version.published_at
  await linkAgent(trx, agent, userId)
  const action = {
    type: 'published',
    skillId: version.skill_id,
    detail: `Published version ${version.version}`,
  } as const
  await recordActions(trx, agent, [action], at, { authenticated: true, published: 1 })
}
