import { UTCDateMini } from '@date-fns/utc/date/mini'
import { RegistryError } from '@skillstead/protocol'
import { addBusinessDays } from 'date-fns/addBusinessDays'
import type { Kysely } from 'kysely'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { refreshSkill } from '../catalogue/skills/refresh-skill.ts'
import { updateSkillState } from '../catalogue/skills/skill-rows.ts'
import { type Caller, guest } from '../kernel/caller.ts'
import { hourMs, minuteMs } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import { recordAudit } from '../log/audit.ts'
import type { DmcaCaseRow, DmcaStatus, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** The outbox topic of cases whose deadline expires. */
const restoreTopic = 'dmca.restore'

/**
 * The claimant's time to file a court action after a counter-notice (17 U.S.C. 512(g)(2)(C): 10 to 14 business days).
 */
const businessDays = 10

/**
 * Changes the status of a case, and hides or restores its skill, within a transaction. Throws `invalid_transition`.
 * Returns the current row.
 */
export async function moveCase(
  context: CatalogueContext,
  trx: WriteTransaction,
  before: DmcaCaseRow,
  move: { to: DmcaStatus; by: CaseMover; caller: Caller; note?: string },
): Promise<DmcaCaseRow> {
  const { to, by, caller, note } = move
  requireCaseTransition(before.status, to, by)
  const at = context.clock.now()
  const change = { status: to, ...(to === 'counter_noticed' && { counter_notice_until: toDeadline(at) }) }
  const after = { ...before, ...change }
  await trx.updateTable('dmca_cases').set(change).where('id', '=', before.id).execute()
  await recordStep(trx, { caseId: before.id, status: to, at, note })
  // Record only ids: the audit log contains no claimant's name and no text of a notice.
  await recordAudit(trx, { caller, action: `dmca.${to}`, subject: before.id, at, data: { skill: before.skill_id } })
  if (to === 'counter_noticed') {
    const job = { topic: restoreTopic, payload: { caseId: before.id }, dueAt: after.counter_notice_until! }
    await context.outbox.enqueue(trx, job)
  }
  await applyCaseToSkill(context, trx, before.skill_id, at)
  return after
}

/** Adds a step to the history of a case. */
export async function recordStep(
  trx: WriteTransaction,
  { caseId, status, at, note = '' }: { caseId: string; status: DmcaStatus; at: number; note?: string | undefined },
): Promise<void> {
  await trx.insertInto('dmca_history').values({ id: newId(), case_id: caseId, status, at, note }).execute()
}

/** The time ten business days later, at the same time of day in UTC. Holidays are not considered. */
function toDeadline(at: number): number {
  return addBusinessDays(new UTCDateMini(at), businessDays).getTime()
}

/** Applies also to a transferred or deleted skill: the case continues, and a deleted skill stays deleted. */
async function applyCaseToSkill(
  context: CatalogueContext,
  trx: WriteTransaction,
  skillId: string,
  at: number,
): Promise<void> {
  const before = await trx.selectFrom('skills').selectAll().where('id', '=', skillId).executeTakeFirstOrThrow()
  if (!(await updateSkillState(trx, before))) return
  await refreshSkill(context, trx, { skillId, before, cause: { type: 'skill' }, at })
}

/** The case with an id; throws `not_found`. */
export async function getCase(db: Kysely<Tables>, id: string): Promise<DmcaCaseRow> {
  const found = await db.selectFrom('dmca_cases').selectAll().where('id', '=', id).executeTakeFirst()
  if (!found) throw new RegistryError('not_found', 'There is no takedown case with this id.')
  return found
}

/**
 * Who changes the status of a case: an administrator, the skill's owner with a counter-notice, or an expired deadline.
 */
export type CaseMover = 'administrator' | 'owner' | 'time'

/** All allowed transitions of a case (docs/api.md#takedowns). Others are refused. */
const caseTransitions: readonly { from: DmcaStatus; to: DmcaStatus; by: CaseMover }[] = [
  { from: 'submitted', to: 'under_review', by: 'administrator' },
  { from: 'submitted', to: 'rejected', by: 'administrator' },
  { from: 'submitted', to: 'removed', by: 'administrator' },
  { from: 'under_review', to: 'rejected', by: 'administrator' },
  { from: 'under_review', to: 'removed', by: 'administrator' },
  { from: 'removed', to: 'counter_noticed', by: 'owner' },
  // The administrator confirms the sender of a counter-notice that was sent without the owner's key.
  { from: 'removed', to: 'counter_noticed', by: 'administrator' },
  { from: 'counter_noticed', to: 'upheld', by: 'administrator' },
  { from: 'counter_noticed', to: 'restored', by: 'time' },
]

/** Throws `invalid_transition`, which lists the allowed transitions, for any other transition. */
export function requireCaseTransition(from: DmcaStatus, to: DmcaStatus, by: CaseMover): void {
  const open = caseTransitions.filter((row) => row.from === from && row.by === by).map((row) => row.to)
  if (open.includes(to)) return
  const ways = open.length === 0 ? 'No further decision is possible.' : `It may become: ${open.join(', ')}.`
  throw new RegistryError('invalid_transition', `This case is ${from} and cannot become ${to}. ${ways}`)
}

/** Retries for a week, since nothing else restores a case. */
const retryDelaysMs = [minuteMs, 5 * minuteMs, ...Array<number>(7 * 24).fill(hourMs)]

/** Restores the content of cases whose deadline expired without a court action; each is a row of the outbox. */
export function scheduleTakedowns(context: CatalogueContext): void {
  context.outbox.handle(restoreTopic, {
    retryDelaysMs,
    hasDeadlines: true,
    handle: ({ caseId }) => restoreExpiredCase(context, String(caseId)),
  })
}

/** Does nothing if a court action was recorded meanwhile, or if another run has already restored the case. */
async function restoreExpiredCase(context: CatalogueContext, caseId: string): Promise<void> {
  await context.database.writer.write(async (trx) => {
    const row = await trx.selectFrom('dmca_cases').selectAll().where('id', '=', caseId).executeTakeFirst()
    if (row?.status !== 'counter_noticed') return
    // The job runs too early, because of another node's clock or because this clock was set back. Throw, so that it is
    // retried.
    if (context.clock.now() < row.counter_notice_until!) throw new Error('The deadline of this case has not expired.')
    await moveCase(context, trx, row, { to: 'restored', by: 'time', caller: guest })
  })
}
