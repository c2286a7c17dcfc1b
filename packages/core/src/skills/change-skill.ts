import { recordAudit } from '../audit.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { refreshSkill, type SkillDeed } from './refresh-skill.ts'

/** Changes a skill and all that follows from it. `work` tells whether anything changed. */
export async function changeSkill(
  context: Context,
  caller: Caller,
  skill: SkillRow,
  what: { action: string; subject: string; deed: SkillDeed },
  work: (trx: WriteTransaction) => Promise<boolean>,
): Promise<SkillRow> {
  return context.database.writer.write(async (trx) => {
    const before = await trx.selectFrom('skills').selectAll().where('id', '=', skill.id).executeTakeFirstOrThrow()
    if (!(await work(trx))) return before
    const at = context.clock.now()
    await recordAudit(trx, { caller, action: what.action, subject: what.subject, at })
    return refreshSkill(trx, { dialect: context.database.dialect, skillId: skill.id, before, deed: what.deed, at })
  })
}
