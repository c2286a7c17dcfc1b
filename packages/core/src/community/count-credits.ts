import { sql, type Kysely } from 'kysely'
import type { SkillRow, Tables } from '../storage/tables.ts'
import { pointUnits } from './reputation-formula.ts'

/** The columns of a skill that say what others did for it. */
export type Credits = Pick<SkillRow, 'credited_stars' | 'credited_reviews' | 'credited_points'>

/** Nobody did anything. */
export const noCredits: Credits = { credited_stars: 0, credited_reviews: 0, credited_points: 0 }

/** The rating that says neither good nor bad. A review is worth its half stars above that. */
const neutralRating = 3
const unitsPerStar = 2 * pointUnits
/** Rounded to whole units for each review, so that counting up and counting again give the same. */
const toPoints = sql<number>`sum(floor((rating - ${sql.lit(neutralRating)}) * ${sql.lit(unitsPerStar)} + 0.5))`

/**
 * What others than their owners did for skills, counted from the stars and reviews themselves: what counts is people,
 * once each. Of one skill, or of all that there is anything to count of.
 */
export async function countCredits(db: Kysely<Tables>, skillId?: string): Promise<Map<string, Credits>> {
  const counts = await countReviewCredits(db, { skillId })
  if (skillId !== undefined && !counts.has(skillId)) counts.set(skillId, noCredits)
  for (const { id, count } of await countStars(db, skillId))
    counts.set(id, { ...(counts.get(id) ?? noCredits), credited_stars: count })
  return counts
}

/**
 * The part of {@link countCredits} that is reviews: of each user one of a skill, the own, or else the first that an agent
 * wrote for the user. Anyone can register agents, so those that are nobody's say nothing. `reviewerId`: of that user alone.
 */
export async function countReviewCredits(
  db: Kysely<Tables>,
  of: { skillId?: string | undefined; reviewerId?: string },
): Promise<Map<string, Credits>> {
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

/** The reviews of each user and skill, the one that counts in the first place. */
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
