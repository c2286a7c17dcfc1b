import { type Issue, type Review, toTimestamp } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { getSkill, getSkillNow } from '../catalogue/skills/find-skill.ts'
import { checkTexts } from '../catalogue/inspecting/metadata-scan.ts'
import { toPublicName } from '../catalogue/versions/skill-document.ts'
import { requireAccount } from '../kernel/caller.ts'
import { newId } from '../kernel/ids.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { readPage } from '../storage/read-page.ts'
import type { IssueRow, ReviewRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { creditReview } from './skill-credit.ts'

/** GET /skills/<name>/reviews: by users, newest first. Changing a review does not change its position. */
export const listReviews: Operation<'listReviews', StorageContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  const reviews = context.database.read.selectFrom('reviews').where('skill_id', '=', skill.id)
  const sorted = reviews
    .innerJoin('users', 'users.id', 'reviews.user_id')
    .selectAll('reviews')
    .select('username')
    .orderBy('reviews.id', 'desc')
  const { rows, paging } = await readPage(reviews, sorted, input)
  return { reviews: rows.map((row) => toUserReview(row, row.username)), ...paging }
}

/** POST /skills/<name>/reviews: 201, or 200 if the user changes the review. */
export const createReview: Operation<'createReview', CatalogueContext> = async (context, input, caller) => {
  const user = requireAccount(caller)
  const found = await getSkill(context, input.name, caller)
  const { rating, title, body } = input
  const warned = await checkTexts(context, { title, body })
  return context.database.writer.write(async (trx) => {
    const at = context.clock.now()
    const skill = await getSkillNow(context, trx, found, caller)
    const before = await findReviewByUser(trx, skill.id, user.userId)
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
          skill: { id: skill.id, name: toPublicName(skill) },
          review: { id: after.id, rating, title, body },
          reviewer: { username: user.username },
        }),
      })
    }
    return { status: before ? 200 : 201, body: { ...toUserReview(after, user.username), ...warned } }
  })
}

function findReviewByUser(trx: WriteTransaction, skillId: string, userId: string): Promise<ReviewRow | undefined> {
  return trx
    .selectFrom('reviews')
    .selectAll()
    .where('skill_id', '=', skillId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

function toUserReview(row: ReviewRow, username: string): Review {
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

/** GET /skills/<name>/issues, newest first. */
export const listIssues: Operation<'listIssues', StorageContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  const issues = context.database.read.selectFrom('issues').where('skill_id', '=', skill.id)
  const sorted = issues
    .innerJoin('users', 'users.id', 'issues.user_id')
    .selectAll('issues')
    .select('username')
    .orderBy('issues.id', 'desc')
  const { rows, paging } = await readPage(issues, sorted, input)
  return { issues: rows.map((row) => toPublicIssue(row, row.username)), ...paging }
}

/** POST /skills/<name>/issues, by any signed-in user who may see the skill. */
export const createIssue: Operation<'createIssue', CatalogueContext> = async (context, input, caller) => {
  const user = requireAccount(caller)
  const found = await getSkill(context, input.name, caller)
  return context.database.writer.write(async (trx) => {
    const skill = await getSkillNow(context, trx, found, caller)
    const row: IssueRow = {
      id: newId(),
      skill_id: skill.id,
      user_id: user.userId,
      type: input.type,
      title: input.title,
      body: input.body,
      created_at: context.clock.now(),
    }
    await trx.insertInto('issues').values(row).execute()
    await context.events.emit(trx, {
      event: 'skill.issue.created',
      ownerId: skill.owner_id,
      skill,
      data: () => ({
        skill: { id: skill.id, name: toPublicName(skill) },
        issue: { id: row.id, type: row.type, title: row.title, body: row.body },
        author: { username: user.username },
      }),
    })
    return toPublicIssue(row, user.username)
  })
}

function toPublicIssue({ id, type, title, body, created_at }: IssueRow, username: string): Issue {
  return { id, type, title, body, author: { username }, createdAt: toTimestamp(created_at) }
}
