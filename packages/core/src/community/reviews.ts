import { type Reply, type Review, toTimestamp, type Warning } from '@skillstead/protocol'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { CommunityContext } from './community-context.ts'
import { newId } from '../kernel/ids.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { getSkill, getSkillNow } from '../catalogue/find-skill.ts'
import { toName } from '../catalogue/skill-document.ts'
import type { ReviewRow } from '../storage/rows-community.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { checkTexts } from '../catalogue/text-scan.ts'
import { creditReview } from './review-credit.ts'

interface ReviewInput {
  name: string
  rating: number
  title: string
  body: string
}

/** GET /skills/<name>/reviews: by users, newest first. Changing a review does not change its position. */
export async function listReviews(
  context: CommunityContext,
  input: { name: string; page: number; limit: number },
  caller: Caller,
) {
  const { page, limit } = input
  const skill = await getSkill(context, input.name, caller)
  const reviews = context.database.read.selectFrom('reviews').where('skill_id', '=', skill.id)
  const { count } = await reviews.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await reviews
    .innerJoin('users', 'users.id', 'reviews.user_id')
    .selectAll('reviews')
    .select('username')
    .orderBy('reviews.id', 'desc')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { reviews: rows.map((row) => toReview(row, row.username)), ...toPage(count, page, limit) }
}

/** A stored review with the scan findings of its text. */
type ReviewAnswer = Review & { warnings?: Warning[] }

/** POST /skills/<name>/reviews: 201, or 200 if the user changes the review. */
export async function createReview(
  context: CommunityContext,
  input: ReviewInput,
  caller: Caller,
): Promise<Reply<ReviewAnswer>> {
  const user = requireAccount(caller)
  const found = await getSkill(context, input.name, caller)
  const { rating, title, body } = input
  const warned = await checkTexts(context, { title, body })
  return context.database.writer.write(async (trx) => {
    const at = context.clock.now()
    const skill = await getSkillNow(context, trx, found, caller)
    const before = await findReview(trx, skill.id, user.userId)
    const after: ReviewRow = {
      id: before?.id ?? newId(),
      skill_id: skill.id,
      user_id: user.userId,
      rating,
      title,
      body,
      created_at: before?.created_at ?? at,
      updated_at: at,
    }
    await creditReview(trx, { skill_id: skill.id, reviewer_id: user.userId }, at, async () => {
      if (before) await trx.updateTable('reviews').set(after).where('id', '=', before.id).execute()
      else await trx.insertInto('reviews').values(after).execute()
    })
    await context.upstreamQueue.queueOpinion(trx, { kind: 'review', skill, caller, payload: { rating, title, body } })
    if (!before) {
      await context.events.emit(trx, {
        event: 'skill.review.created',
        ownerId: skill.owner_id,
        skill,
        data: () => ({
          skill: { id: skill.id, name: toName(skill) },
          review: { id: after.id, rating, title, body },
          reviewer: { username: user.username },
        }),
      })
    }
    return { status: before ? 200 : 201, body: { ...toReview(after, user.username), ...warned } }
  })
}

function findReview(trx: WriteTransaction, skillId: string, userId: string): Promise<ReviewRow | undefined> {
  return trx
    .selectFrom('reviews')
    .selectAll()
    .where('skill_id', '=', skillId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

function toReview(row: ReviewRow, username: string): Review {
  const { id, rating, title, body } = row
  return {
    id,
    rating,
    title,
    body,
    reviewer: { username },
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}
