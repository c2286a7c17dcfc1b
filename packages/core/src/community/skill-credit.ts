import { type Kysely, sql } from 'kysely'
import { addCredits, type Credits, setCredits } from '../catalogue/skills/skill-counters.ts'
import type { Credit } from '../catalogue/context/ports.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { addToStandings, type Author } from './author-standings.ts'
import { noFacts, subtractFacts, toFacts } from './standing-facts.ts'
import { pointUnits } from './badges.ts'
import { isListedToAll } from '../visibility/decisions.ts'

/**
 * Credits a skill with other users' contributions, and its owner too if the skill counts for the owner's reputation.
 * The caller must leave out contributions by owners and their own agents. `downloads` only counts for the owner's
 * reputation; the skill's download counter is written separately.
 */
export async function creditSkill(trx: WriteTransaction, skillId: string, credit: Credit, at: number): Promise<void> {
  const { downloads = 0, stars = 0, reviews = 0, points = 0 } = credit
  if (stars !== 0 || reviews !== 0 || points !== 0) {
    const steps = { credited_stars: stars, credited_reviews: reviews, credited_points: points }
    await addCredits(trx, skillId, steps)
  }
  const skill = await findRatedSkill(trx, skillId)
  if (!skill) return
  const facts = { ...noFacts, downloads, stars, reviews, review_points: points }
  await addToStandings(trx, [{ ...toSkillAuthor(skill), facts }], at)
}

async function findRatedSkill(trx: WriteTransaction, skillId: string) {
  const skill = await trx
    .selectFrom('skills')
    .select(['owner_id', 'owner', 'visibility', 'state', 'stub', 'latest_version'])
    .where('id', '=', skillId)
    .executeTakeFirst()
  return skill && isListedToAll(skill) ? skill : undefined
}

/** Updates the standing of a skill's owner after a change of the skill, or of both owners after a transfer. */
export function changeStanding(
  trx: WriteTransaction,
  { before, skill: after, at }: { before: SkillRow | undefined; skill: SkillRow; at: number },
): Promise<void> {
  const was = before ? toFacts(before) : noFacts
  const is = toFacts(after)
  const changes =
    before && before.owner_id !== after.owner_id
      ? [
          { ...toSkillAuthor(before), facts: subtractFacts(noFacts, was) },
          { ...toSkillAuthor(after), facts: is },
        ]
      : [{ ...toSkillAuthor(after), facts: subtractFacts(is, was) }]
  return addToStandings(trx, changes, at)
}

/**
 * Recounts other users' contributions to a skill after a transfer: contributions of the new owner no longer count, and
 * contributions of the former owner count from now on. The standings of the owners are not changed.
 */
export async function recountCredit(trx: WriteTransaction, skillId: string): Promise<void> {
  const credits = (await countCredits(trx, skillId)).get(skillId)!
  await setCredits(trx, skillId, credits)
}

function toSkillAuthor(skill: Pick<SkillRow, 'owner_id' | 'owner'>): Author {
  return { user_id: skill.owner_id, username: skill.owner }
}

export const noCredits: Credits = { credited_stars: 0, credited_reviews: 0, credited_points: 0 }

/** The neutral rating. The points of a review are the half stars of its rating above or below the neutral rating. */
const neutralRating = 3
const unitsPerStar = 2 * pointUnits
/**
 * The sum of review points. The points of each review are rounded to integers, so that incremental counting and a
 * recount give the same result.
 */
const toPoints = sql<number>`sum(floor((rating - ${sql.lit(neutralRating)}) * ${sql.lit(unitsPerStar)} + 0.5))`

/** Counts other users' stars and reviews, each user once, of one skill or of all skills that have stars or reviews. */
export async function countCredits(db: Kysely<Tables>, skillId?: string): Promise<Map<string, Credits>> {
  const counts = await countReviewCredits(db, { skillId })
  if (skillId !== undefined && !counts.has(skillId)) counts.set(skillId, noCredits)
  for (const { id, count } of await countStars(db, skillId))
    counts.set(id, { ...(counts.get(id) ?? noCredits), credited_stars: count })
  return counts
}

/**
 * The review part of {@link countCredits}. Of each user, one review per skill counts: the user's own review, else the
 * first review by an agent of the user. Anyone can register agents, so reviews by agents that are linked to no user do
 * not count. With `reviewerId`, only reviews by this user and the user's agents are counted.
 */
async function countReviewCredits(db: Kysely<Tables>, of: { skillId?: string | undefined; reviewerId?: string }) {
  const rows = await db
    .selectFrom(rankReviews(db, of).as('ranked'))
    .innerJoin('skills', 'skills.id', 'ranked.skill_id')
    .select((eb) => ['skills.id', eb.fn.countAll<number>().as('count')])
    .select(toPoints.as('points'))
    .where('place', '=', 1)
    .whereRef('reviewer_id', '!=', 'skills.owner_id')
    .groupBy('skills.id')
    .execute()
  const toCredits = ({ count, points }: (typeof rows)[number]): Credits => ({
    ...noCredits,
    credited_reviews: count,
    credited_points: points,
  })
  return new Map(rows.map((row) => [row.id, toCredits(row)]))
}

/** The reviews per user and skill, ranked so that the review that counts comes first. */
function rankReviews(db: Kysely<Tables>, { skillId, reviewerId }: Parameters<typeof countReviewCredits>[1]) {
  const byUsers = db
    .selectFrom('reviews')
    .select(['id', 'skill_id', 'user_id as reviewer_id', 'rating'])
    .select(sql<number>`0`.as('by_agent'))
    .$if(skillId !== undefined, (query) => query.where('skill_id', '=', skillId!))
    .$if(reviewerId !== undefined, (query) => query.where('user_id', '=', reviewerId!))
  const byAgents = db
    .selectFrom('agent_reviews')
    .select(['id', 'skill_id', 'reviewer_id', 'rating', sql<number>`1`.as('by_agent')])
    .where('reviewer_id', 'is not', null)
    .$narrowType<{ reviewer_id: string }>()
    .$if(skillId !== undefined, (query) => query.where('skill_id', '=', skillId!))
    .$if(reviewerId !== undefined, (query) => query.where('reviewer_id', '=', reviewerId!))
  return db
    .selectFrom(byUsers.unionAll(byAgents).as('all_reviews'))
    .select(['skill_id', 'reviewer_id', 'rating'])
    .select((eb) =>
      eb.fn
        .agg<number>('row_number')
        .over((over) => over.partitionBy(['skill_id', 'reviewer_id']).orderBy('by_agent').orderBy('id'))
        .as('place'),
    )
}

function countStars(db: Kysely<Tables>, skillId: string | undefined) {
  return db
    .selectFrom('stars')
    .innerJoin('skills', 'skills.id', 'stars.skill_id')
    .select((eb) => ['skills.id', eb.fn.countAll<number>().as('count')])
    .whereRef('stars.user_id', '!=', 'skills.owner_id')
    .$if(skillId !== undefined, (query) => query.where('skills.id', '=', skillId!))
    .groupBy('skills.id')
    .execute()
}

/**
 * Changes a review and credits the skill with the difference. Reviews by agents that are linked to no user do not
 * count.
 */
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
