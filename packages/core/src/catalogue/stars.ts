import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { appendChange } from '../log/append-change.ts'
import { getSkill, getSkillNow } from './find-skill.ts'
import { toName } from './skill-document.ts'

/** PUT and DELETE /skills/<name>/star. Idempotent. */
export async function setStarred(context: CatalogueContext, input: { name: string }, starred: boolean, caller: Caller) {
  const { userId, username } = requireAccount(caller)
  const found = await getSkill(context, input.name, caller)
  const stars = await context.database.writer.write(async (trx) => {
    const skill = await getSkillNow(context, trx, found, caller)
    const at = context.clock.now()
    const mine = { skill_id: skill.id, user_id: userId }
    const changed = starred
      ? await trx
          .insertInto('stars')
          .values({ ...mine, created_at: at })
          .onConflict((conflict) => conflict.doNothing())
          .returning('user_id')
          .execute()
      : await trx
          .deleteFrom('stars')
          .where('skill_id', '=', skill.id)
          .where('user_id', '=', userId)
          .returning('user_id')
          .execute()
    const step = changed.length === 0 ? 0 : starred ? 1 : -1
    const row = await trx
      .updateTable('skills')
      .set((eb) => ({ stars: eb('stars', '+', step) }))
      .where('id', '=', skill.id)
      .returning('stars')
      .executeTakeFirstOrThrow()
    if (step === 0) return row.stars
    await appendChange(trx, { kind: 'counters', subject: skill.id, at, entries: [] })
    await context.upstreamQueue.queueOpinion(trx, { kind: 'star', skill, caller, payload: { starred } })
    // An owner's star on their own skill is shown but earns no reputation.
    if (skill.owner_id !== userId) await context.reputation.creditSkill(trx, skill.id, { stars: step }, at)
    if (starred) {
      await context.events.emit(trx, {
        event: 'skill.starred',
        ownerId: skill.owner_id,
        skill,
        data: () => ({
          skill: { id: skill.id, name: toName(skill), fullName: skill.full_name },
          user: { id: userId, username },
          starCount: row.stars,
        }),
      })
    }
    return row.stars
  })
  return { starred, stars }
}
