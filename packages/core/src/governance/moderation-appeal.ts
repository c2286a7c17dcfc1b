import { RegistryError, type Report } from '@skillstead/protocol'
import { recordAudit } from '../log/audit.ts'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { GovernanceContext } from './governance-context.ts'
import { refuseChanged } from '../catalogue/change-skill.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { getOwnSkill } from './find-any-skill.ts'
import { toReport } from './report-form.ts'
import { findOpen, insertReport } from './report-skill.ts'

/** POST /skills/<name>/appeal: by the owner of a flagged or hidden skill; one open appeal at a time. */
export async function appealModeration(
  context: GovernanceContext,
  input: { name: string; statement: string },
  caller: Caller,
): Promise<Report> {
  const user = requireAccount(caller)
  const skill = await getOwnSkill(context, input.name, caller)
  const row = await context.database.writer.write(async (trx) => {
    await refuseNeedless(trx, skill)
    const now = context.clock.now()
    const appeal = { kind: 'appeal' as const, skill_id: skill.id, reason: '', details: input.statement }
    const inserted = await insertReport(trx, { ...appeal, reporter_id: user.userId }, now)
    const data = { id: inserted.id }
    await recordAudit(trx, { caller, action: 'appeal.create', subject: skill.full_name, at: now, data })
    return inserted
  })
  return toReport({ ...row, full_name: skill.full_name, username: user.username })
}

async function refuseNeedless(trx: WriteTransaction, skill: SkillRow): Promise<void> {
  const now = await trx.selectFrom('skills').selectAll().where('id', '=', skill.id).executeTakeFirstOrThrow()
  refuseChanged(skill, now)
  if (now.moderation === 'shown')
    throw new RegistryError(
      'invalid_transition',
      `${now.full_name} is neither flagged nor hidden, so there is nothing to appeal.`,
    )
  const open = await findOpen(trx, { kind: 'appeal', skillId: skill.id, reporterId: now.owner_id })
  if (open)
    throw new RegistryError(
      'conflict',
      `There is already an open appeal about ${now.full_name}. Wait for the decision.`,
    )
}
