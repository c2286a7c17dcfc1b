import type { Credit } from '../catalogue/catalogue-ports.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { countCredits } from './count-credits.ts'
import { isCounted, noFacts, subtractFacts, toFacts } from './author-facts.ts'
import { addToStandings, type Author } from './author-standings.ts'

/**
 * Credits a skill, and its owner while the skill counts, with other users' contributions. The caller must leave out
 * contributions by owners and their own agents. `downloads` is only passed on to the owner; the skill's own count is
 * written separately.
 */
export async function creditSkill(trx: WriteTransaction, skillId: string, credit: Credit, at: number): Promise<void> {
  const { downloads = 0, stars = 0, reviews = 0, points = 0 } = credit
  if (stars !== 0 || reviews !== 0 || points !== 0) {
    await trx
      .updateTable('skills')
      .set((eb) => ({
        credited_stars: eb('credited_stars', '+', stars),
        credited_reviews: eb('credited_reviews', '+', reviews),
        credited_points: eb('credited_points', '+', points),
      }))
      .where('id', '=', skillId)
      .execute()
  }
  const skill = await findCounted(trx, skillId)
  if (!skill) return
  const facts = { ...noFacts, downloads, stars, reviews, review_points: points }
  await addToStandings(trx, [{ ...toAuthor(skill), facts }], at)
}

async function findCounted(trx: WriteTransaction, skillId: string) {
  const skill = await trx
    .selectFrom('skills')
    .select(['owner_id', 'owner', 'visibility', 'state', 'stub', 'latest_version'])
    .where('id', '=', skillId)
    .executeTakeFirst()
  return skill && isCounted(skill) ? skill : undefined
}

/**
 * Updates the standing of the owner, or both owners, after a change of a skill (published, hidden, transferred, ...).
 */
export async function changeStanding(
  trx: WriteTransaction,
  before: SkillRow | undefined,
  after: SkillRow,
  at: number,
): Promise<void> {
  const was = before ? toFacts(before) : noFacts
  const is = toFacts(after)
  const changes =
    before && before.owner_id !== after.owner_id
      ? [
          { ...toAuthor(before), facts: subtractFacts(noFacts, was) },
          { ...toAuthor(after), facts: is },
        ]
      : [{ ...toAuthor(after), facts: subtractFacts(is, was) }]
  await addToStandings(trx, changes, at)
}

/**
 * Recounts other users' contributions to a skill, without its owner's standing: for a transfer, after which those of
 * the new owner no longer count and those of the old owner do.
 */
export async function recountCredit(trx: WriteTransaction, skillId: string): Promise<void> {
  const credits = (await countCredits(trx, skillId)).get(skillId)!
  await trx.updateTable('skills').set(credits).where('id', '=', skillId).execute()
}

function toAuthor(skill: Pick<SkillRow, 'owner_id' | 'owner'>): Author {
  return { user_id: skill.owner_id, username: skill.owner }
}
