import type { Moderation } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { GovernanceContext } from './governance-context.ts'
import { changeSkill } from '../catalogue/change-skill.ts'
import { settleState } from '../catalogue/skill-rows.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { getDecidedSkill } from './find-any-skill.ts'
import { showModeration } from './show-moderation.ts'

/** An administrator's decision about a skill, and the reason shown to its owner. */
interface Decision {
  readonly state: SkillRow['moderation']
  readonly reason: string
}

/**
 * PUT /skills/<name>/moderation: flags a skill, hides it, or shows it again. A new reason replaces the previous one.
 */
export async function moderateSkill(
  context: GovernanceContext,
  input: Decision & { name: string },
  caller: Caller,
): Promise<Moderation> {
  const skill = await getDecidedSkill(context, input.name, caller)
  return showModeration(context, await changeModeration(context, caller, skill, input))
}

/**
 * Applies a decision and runs `also` in the same transaction. If nothing changes and no reason is given, the previous
 * reason stays. Returns the current row.
 */
export function changeModeration(
  context: GovernanceContext,
  caller: Caller,
  skill: SkillRow,
  { state, reason }: Decision,
  also: (trx: WriteTransaction) => Promise<void> = async () => {},
): Promise<SkillRow> {
  const cause = { type: 'skill' } as const
  const what = { action: `skill.${state}`, subject: skill.full_name, cause, data: { reason } }
  return changeSkill(context, caller, skill, what, async (trx, before) => {
    await also(trx)
    const isSame = state === before.moderation
    const decided = {
      moderation: state,
      moderation_reason: isSame && reason === '' ? before.moderation_reason : reason,
      moderated_at: isSame ? before.moderated_at : context.clock.now(),
    }
    await trx.updateTable('skills').set(decided).where('id', '=', skill.id).execute()
    await settleState(trx, before)
    return true
  })
}
