import { sql, type Kysely } from 'kysely'
import type { SkillRow, Tables } from '../storage/tables.ts'

/** The columns of a skill that say what others did for it. */
export type Credits = Pick<SkillRow, 'credited_stars' | 'credited_reviews' | 'credited_points'>

/**
 * What others than their owners did for skills, counted from the stars and reviews themselves: without the owner's own,
 * those of the owner's agents, and those of agents that did not prove who they are. Of one skill, or of all that there
 * is anything to count of.
 */
export async function countCredits(db: Kysely<Tables>, skillId?: string): Promise<Map<string, Credits>> {
  const counts = new Map<string, Credits>(skillId === undefined ? [] : [[skillId, noCredits]])
  const add = (id: string, more: Credits) => counts.set(id, sum(counts.get(id) ?? noCredits, more))
  for (const row of await countStars(db, skillId)) add(row.id, { ...noCredits, credited_stars: row.count })
  for (const row of await countReviews(db, skillId)) {
    add(row.id, { ...noCredits, credited_reviews: row.count, credited_points: row.points })
  }
  for (const row of await countAgentReviews(db, skillId)) {
    add(row.id, { ...noCredits, credited_reviews: row.count, credited_points: row.points })
  }
  return counts
}

/** Nobody did anything. */
export const noCredits: Credits = { credited_stars: 0, credited_reviews: 0, credited_points: 0 }

/** A review is worth its half stars above three stars, which say neither good nor bad. */
const halfStarsOfThree = 6

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

function countReviews(db: Kysely<Tables>, skillId: string | undefined) {
  return db
    .selectFrom('reviews')
    .innerJoin('skills', 'skills.id', 'reviews.skill_id')
    .select((eb) => ['skills.id', eb.fn.countAll<number>().as('count'), toSum(sql`2 * reviews.rating`).as('points')])
    .whereRef('reviews.user_id', '!=', 'skills.owner_id')
    .$if(skillId !== undefined, (query) => query.where('skills.id', '=', skillId!))
    .groupBy('skills.id')
    .execute()
}

function countAgentReviews(db: Kysely<Tables>, skillId: string | undefined) {
  return db
    .selectFrom('agent_reviews')
    .innerJoin('skills', 'skills.id', 'agent_reviews.skill_id')
    .innerJoin('agents', 'agents.id', 'agent_reviews.agent_id')
    .select((eb) => [
      'skills.id',
      eb.fn.countAll<number>().as('count'),
      toSum(sql`agent_reviews.half_stars`).as('points'),
    ])
    .where('agent_reviews.authenticated', '=', 1)
    .where((eb) => eb.or([eb('agents.user_id', 'is', null), eb('agents.user_id', '!=', eb.ref('skills.owner_id'))]))
    .$if(skillId !== undefined, (query) => query.where('skills.id', '=', skillId!))
    .groupBy('skills.id')
    .execute()
}

const toSum = (halfStars: ReturnType<typeof sql>) => sql<number>`sum(${halfStars} - ${sql.lit(halfStarsOfThree)})`

function sum(one: Credits, other: Credits): Credits {
  return {
    credited_stars: one.credited_stars + other.credited_stars,
    credited_reviews: one.credited_reviews + other.credited_reviews,
    credited_points: one.credited_points + other.credited_points,
  }
}
