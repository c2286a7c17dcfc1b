import type { SkillRow, SkillState } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** The states of a takedown case in which the content is hidden (CONTRACT, DMCA). */
const hidingStatuses = ['removed', 'counter_noticed', 'upheld'] as const

/**
 * Sets the state of a skill from its cases: a takedown takes precedence over moderation, and nothing restores a skill
 * that its owner deleted. `refreshSkill` updates the rest. Returns whether the state changed.
 */
export async function settleState(trx: WriteTransaction, skill: SkillRow): Promise<boolean> {
  if (skill.state === 'withdrawn') return false
  const state = await findState(trx, skill.id)
  if (state === skill.state) return false
  await trx.updateTable('skills').set({ state }).where('id', '=', skill.id).execute()
  return true
}

/** The state of a skill that is not deleted. */
export async function findState(trx: WriteTransaction, skillId: string): Promise<SkillState> {
  const takedown = await trx
    .selectFrom('dmca_cases')
    .select('id')
    .where('skill_id', '=', skillId)
    .where('status', 'in', hidingStatuses)
    .limit(1)
    .executeTakeFirst()
  if (takedown) return 'taken_down'
  const { moderation, source_state } = await trx
    .selectFrom('skills')
    .select(['moderation', 'source_state'])
    .where('id', '=', skillId)
    .executeTakeFirstOrThrow()
  // A takedown at the upstream also applies here, whatever is decided here.
  if (source_state === 'taken_down') return 'taken_down'
  return moderation === 'hidden' ? 'hidden' : 'live'
}
