import { UTCDate } from '@date-fns/utc'
import { addBusinessDays } from 'date-fns/addBusinessDays'
import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { GovernanceContext } from './governance-context.ts'
import { newId } from '../kernel/ids.ts'
import { refreshSkill } from '../catalogue/refresh-skill.ts'
import { settleState } from '../catalogue/skill-rows.ts'
import type { DmcaCaseRow, DmcaStatus } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { requireTransition, type Mover } from './case-transitions.ts'

/** The outbox topic of cases whose deadline expires. */
export const restoreTopic = 'dmca.restore'

/**
 * The claimant's time to file a court action after a counter-notice (17 U.S.C. 512(g)(2)(C): 10 to 14 business days).
 */
const businessDays = 10

/**
 * Moves a case and hides or restores its skill, within a transaction. Throws `invalid_transition`. Returns the current
 * row.
 */
export async function moveCase(
  context: GovernanceContext,
  trx: WriteTransaction,
  before: DmcaCaseRow,
  move: { to: DmcaStatus; by: Mover; caller: Caller; note?: string },
): Promise<DmcaCaseRow> {
  const { to, by, caller, note } = move
  requireTransition(before.status, to, by)
  const at = context.clock.now()
  const change = { status: to, ...(to === 'counter_noticed' && { counter_notice_until: toDeadline(at) }) }
  const after = { ...before, ...change }
  await trx.updateTable('dmca_cases').set(change).where('id', '=', before.id).execute()
  await recordStep(trx, { caseId: before.id, status: to, at, note })
  // Ids only: the audit log contains no claimant's name and no text.
  await recordAudit(trx, { caller, action: `dmca.${to}`, subject: before.id, at, data: { skill: before.skill_id } })
  if (to === 'counter_noticed') {
    const job = { topic: restoreTopic, payload: { caseId: before.id }, dueAt: after.counter_notice_until! }
    await context.outbox.enqueue(trx, job)
  }
  await settleSkill(context, trx, before.skill_id, at)
  return after
}

/** Adds a step to the history of a case. */
export async function recordStep(
  trx: WriteTransaction,
  { caseId, status, at, note = '' }: { caseId: string; status: DmcaStatus; at: number; note?: string | undefined },
): Promise<void> {
  await trx.insertInto('dmca_history').values({ id: newId(), case_id: caseId, status, at, note }).execute()
}

/** Ten business days later at the same time of day, in UTC. Holidays are not considered. */
function toDeadline(at: number): number {
  return addBusinessDays(new UTCDate(at), businessDays).getTime()
}

/** Also after a transfer or deletion of the skill: the case continues, and a deleted skill stays deleted. */
async function settleSkill(
  context: GovernanceContext,
  trx: WriteTransaction,
  skillId: string,
  at: number,
): Promise<void> {
  const before = await trx.selectFrom('skills').selectAll().where('id', '=', skillId).executeTakeFirstOrThrow()
  if (!(await settleState(trx, before))) return
  await refreshSkill(context, trx, { skillId, before, cause: { type: 'skill' }, at })
}
