import { RegistryError } from '@skillstead/protocol'
import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { refreshSkill } from './refresh-skill.ts'
import type { SkillCause } from './skill-entries.ts'

/**
 * Changes a skill and all that follows from it. `work` gets the row as it is now, and tells whether anything changed.
 * `skill` is the row that the caller's right was checked on: throws `not_found` where it was deleted since, `conflict`
 * where it has another owner since.
 */
export async function changeSkill(
  context: CatalogueContext,
  caller: Caller,
  skill: SkillRow,
  what: { action: string; subject: string; cause: SkillCause; data?: Record<string, unknown> },
  work: (trx: WriteTransaction, before: SkillRow) => Promise<boolean>,
): Promise<SkillRow> {
  return context.database.writer.write(async (trx) => {
    const before = await trx.selectFrom('skills').selectAll().where('id', '=', skill.id).executeTakeFirstOrThrow()
    refuseChanged(skill, before)
    if (!(await work(trx, before))) return before
    const at = context.clock.now()
    await recordAudit(trx, { caller, action: what.action, subject: what.subject, at, data: what.data })
    return refreshSkill(context, trx, { skillId: skill.id, before, cause: what.cause, at })
  })
}

/** Between the check of a right and the write that rests on it, somebody else may have deleted or taken over the skill. */
export function refuseChanged(checked: Pick<SkillRow, 'owner_id'>, now: SkillRow): void {
  if (now.state === 'withdrawn') throw new RegistryError('not_found', `There is no skill '${now.full_name}' any more.`)
  if (now.owner_id !== checked.owner_id)
    throw new RegistryError('conflict', `${now.full_name} has a new owner since you asked. Look at it again.`)
}
