import type { Moderation } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { GovernanceContext } from './governance-context.ts'
import { changeSkill } from '../catalogue/change-skill.ts'
import { settleState } from '../catalogue/skill-state.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { getDecidedSkill } from './find-any-skill.ts'
import { showModeration } from './show-moderation.ts'

/** What an administrator decides about a skill, and what its owner is told of it. */
interface Decision {
  readonly state: SkillRow['moderation']
  readonly reason: string
}

/** PUT /skills/<name>/moderation: flags a skill, hides it, or shows it again. A reason replaces the one before. */
export async function moderateSkill(
  context: GovernanceContext,
  input: Decision & { name: string },
  caller: Caller,
): Promise<Moderation> {
  const skill = await getDecidedSkill(context, input.name, caller)
  return showModeration(context, await changeModeration(context, caller, skill, input))
}

/**
 * Carries out a decision together with `also`, what else belongs to it; both or neither. Where nothing changes and no
 * reason is given, the last one stays. Returns the skill as it is now.
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
