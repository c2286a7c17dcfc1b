import { countReviewCredits, noCredits } from './count-credits.ts'
import { creditSkill } from './skill-credit.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** Changes a review and credits the skill with the difference. Reviews by unlinked agents do not count. */
export async function creditReview<T>(
  trx: WriteTransaction,
  review: { skill_id: string; reviewer_id: string | null },
  at: number,
  change: () => Promise<T>,
): Promise<T> {
  const { skill_id: skillId, reviewer_id: reviewerId } = review
  if (reviewerId === null) return change()
  const count = async () => (await countReviewCredits(trx, { skillId, reviewerId })).get(skillId) ?? noCredits
  const before = await count()
  const changed = await change()
  const after = await count()
  const reviews = after.credited_reviews - before.credited_reviews
  const points = after.credited_points - before.credited_points
  if (reviews !== 0 || points !== 0) await creditSkill(trx, skillId, { reviews, points }, at)
  return changed
}
