import { RegistryError } from '@skillstead/protocol'
import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { refreshSkill } from './refresh-skill.ts'
import type { SkillCause } from './skill-entries.ts'

/**
 * Changes a skill and updates everything derived from it. `work` receives the current row and returns whether it
 * changed anything. `skill` is the row on which the caller's permission was checked. Throws `not_found` if it was
 * deleted since, `conflict` if its owner changed since.
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

/** Between the permission check and the write, another user may have deleted or taken over the skill. */
export function refuseChanged(checked: Pick<SkillRow, 'owner_id'>, now: SkillRow): void {
  if (now.state === 'withdrawn') throw new RegistryError('not_found', `There is no skill '${now.full_name}' any more.`)
  if (now.owner_id !== checked.owner_id)
    throw new RegistryError('conflict', `${now.full_name} has a new owner. Read it again before you change it.`)
}
