import { isOwnAgent } from '../agents/find-agent.ts'
import { creditSkill } from '../reputation/credit.ts'
import type { AgentReviewRow, AgentRow, ReviewRow } from '../storage/rows-community.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** What one review adds to the standing of a skill. */
export interface ReviewCredit {
  readonly reviews: number
  readonly points: number
}

const none: ReviewCredit = { reviews: 0, points: 0 }
/** Three stars say neither good nor bad. */
const neutralHalfStars = 6

/** A user's review counts unless it is the owner's own; without a review there is nothing to count. */
export function toUserCredit(
  review: Pick<ReviewRow, 'user_id' | 'rating'> | undefined,
  skill: Pick<SkillRow, 'owner_id'>,
): ReviewCredit {
  if (!review || review.user_id === skill.owner_id) return none
  return { reviews: 1, points: 2 * review.rating - neutralHalfStars }
}

/** An agent's review counts where it came with the token, unless the agent works for the owner. */
export function toAgentCredit(
  review: Pick<AgentReviewRow, 'authenticated' | 'half_stars'> | undefined,
  agent: Pick<AgentRow, 'user_id'>,
  skill: Pick<SkillRow, 'owner_id'>,
): ReviewCredit {
  if (!review || review.authenticated === 0 || isOwnAgent(agent, skill)) return none
  return { reviews: 1, points: review.half_stars - neutralHalfStars }
}

/** Credits the skill with what a change of a review makes different. */
export async function creditDifference(
  trx: WriteTransaction,
  skillId: string,
  change: { before: ReviewCredit; after: ReviewCredit },
  at: number,
): Promise<void> {
  const reviews = change.after.reviews - change.before.reviews
  const points = change.after.points - change.before.points
  if (reviews !== 0 || points !== 0) await creditSkill(trx, skillId, { reviews, points }, at)
}
