import {
  type ModeratedSkill,
  type Moderation,
  RegistryError,
  toTimestamp,
  type Report,
  withoutUndefined,
} from '@skillstead/protocol'
import { sql, type SqlBool, type Kysely, type SelectQueryBuilder } from 'kysely'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { changeSkill, refuseChangedSkill } from '../catalogue/skills/change-skill.ts'
import { setModeration } from '../catalogue/skills/skill-rows.ts'
import { type Caller, requireAccount, accountId } from '../kernel/caller.ts'
import type { Operation, Input } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { readPage } from '../storage/read-page.ts'
import type { SkillRow, ReportRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { getDecidedSkill, getOwnSkill } from './find-any-skill.ts'
import { getSkill, getSkillNow } from '../catalogue/skills/find-skill.ts'
import { newId } from '../kernel/ids.ts'
import type { GovernanceContext } from './governance-context.ts'

/** An administrator's decision about a skill, and the reason shown to its owner. */
type ModerationDecision = Pick<Input<'moderateSkill'>, 'state' | 'reason'>

/**
 * PUT /skills/<name>/moderation: flags a skill, hides it, or shows it again. A new reason replaces the previous one.
 */
export const moderateSkill: Operation<'moderateSkill', CatalogueContext> = async (context, input, caller) => {
  const skill = await getDecidedSkill(context, input.name, caller)
  return readModeration(context, await changeModeration(context, caller, skill, input))
}

/**
 * Applies a decision and runs `also` in the same transaction. If the state stays the same and no reason is given, the
 * previous reason stays. Returns the current row.
 */
function changeModeration(
  context: CatalogueContext,
  caller: Caller,
  skill: SkillRow,
  { state, reason }: ModerationDecision,
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
    await setModeration(trx, before, decided)
    return true
  })
}

/** The maximum number of appeals and of cases shown, newest first. */
const shownMax = 100

/** GET /skills/<name>/moderation: for the owner and administrators, even if no one else may read the skill. */
export const getModeration: Operation<'getModeration', StorageContext> = async (context, input, caller) =>
  readModeration(context, await getDecidedSkill(context, input.name, caller))

/** The moderation state of a skill, its owner's appeals and its takedown cases, without the names of reporters. */
async function readModeration(context: StorageContext, skill: SkillRow): Promise<Moderation> {
  const db = context.database.read
  const appeals = await selectReports(db)
    .where('reports.skill_id', '=', skill.id)
    .where('reports.kind', '=', 'appeal')
    // Appeals of a former owner are not shown to the next owner.
    .where('reports.reporter_id', '=', skill.owner_id)
    .orderBy('reports.id', 'desc')
    .limit(shownMax)
    .execute()
  const cases = await db
    .selectFrom('dmca_cases')
    .select(['id', 'status', 'submitted_at'])
    .where('skill_id', '=', skill.id)
    .orderBy('id', 'desc')
    .limit(shownMax)
    .execute()
  return {
    skill: { id: skill.id, fullName: skill.full_name },
    state: skill.moderation,
    reason: skill.moderation_reason,
    decidedAt: skill.moderated_at === null ? null : toTimestamp(skill.moderated_at),
    appeals: appeals.map(toAdministratorReport),
    cases: cases.map(({ id, status, submitted_at }) => ({ id, status, submittedAt: toTimestamp(submitted_at) })),
  }
}

/** GET /moderation, for administrators: flagged and hidden skills, last decision first. */
export const listModerated: Operation<'listModerated', StorageContext> = async (context, { state, ...page }) => {
  const moderated = context.database.read
    .selectFrom('skills')
    // The condition must equal that of the partial index, so that the planner uses the index.
    .where(sql<SqlBool>`moderation <> 'shown'`)
    .$if(state !== undefined, (select) => select.where('moderation', '=', state!))
  const sorted = moderated
    .select(['full_name', 'moderation', 'moderation_reason', 'moderated_at'])
    .$narrowType<{ moderation: ModeratedSkill['state'] }>()
    .orderBy('moderated_at', 'desc')
    .orderBy('full_name')
  const { rows, paging } = await readPage(moderated, sorted, page)
  const skills = rows.map(({ full_name, moderation, moderation_reason, moderated_at }) => ({
    fullName: full_name,
    state: moderation,
    reason: moderation_reason,
    decidedAt: moderated_at === null ? null : toTimestamp(moderated_at),
  }))
  return { skills, ...paging }
}

/** POST /skills/<name>/appeal, for the owner of a flagged or hidden skill. Only one appeal may be open at a time. */
export const appealModeration: Operation<'appealModeration', StorageContext> = async (context, input, caller) => {
  const user = requireAccount(caller)
  const skill = await getOwnSkill(context, input.name, caller)
  const row = await context.database.writer.write(async (trx) => {
    await refuseNeedlessAppeal(trx, skill)
    const now = context.clock.now()
    const appeal = { kind: 'appeal' as const, skill_id: skill.id, reason: '', details: input.statement }
    const inserted = await insertReport(trx, { ...appeal, reporter_id: user.userId }, now)
    const data = { id: inserted.id }
    await recordAudit(trx, { caller, action: 'appeal.create', subject: skill.full_name, at: now, data })
    return inserted
  })
  return toAdministratorReport({ ...row, full_name: skill.full_name, username: user.username })
}

async function refuseNeedlessAppeal(trx: WriteTransaction, skill: SkillRow): Promise<void> {
  const now = await trx.selectFrom('skills').selectAll().where('id', '=', skill.id).executeTakeFirstOrThrow()
  refuseChangedSkill(skill, now)
  if (now.moderation === 'shown')
    throw new RegistryError(
      'invalid_transition',
      `${now.full_name} is neither flagged nor hidden, so there is nothing to appeal.`,
    )
  const open = await findOpenReport(trx, { kind: 'appeal', skillId: skill.id, reporterId: now.owner_id })
  if (open)
    throw new RegistryError(
      'conflict',
      `There is already an open appeal about ${now.full_name}. Wait for the decision.`,
    )
}

/** The skill's state after a report or an appeal was upheld. */
const outcomes = { report: 'hidden', appeal: 'shown' } as const satisfies Record<ReportRow['kind'], string>

/** GET /reports, for administrators: a page of reports and appeals, oldest first. */
export const listReports: Operation<'listReports', StorageContext> = async (context, input) => {
  const db = context.database.read
  const given = withoutUndefined({ 'reports.status': input.status, 'reports.kind': input.kind })
  const matching = db.selectFrom('reports').where((eb) => eb.and(given))
  const sorted = selectReports(db)
    .where((eb) => eb.and(given))
    .orderBy('reports.id')
  const { rows, paging } = await readPage(matching, sorted, input)
  return { reports: rows.map(toAdministratorReport), ...paging }
}

/** PATCH /reports/<id>, for administrators: decides a report, once. The skill changes in the same transaction. */
export const decideReport: Operation<'decideReport', CatalogueContext> = async (context, verdict, caller) => {
  const report = await getNamedReport(context, verdict.id)
  const decide = (trx: WriteTransaction) => closeReport(trx, report, verdict, caller, context.clock.now())
  if (verdict.status === 'dismissed') {
    await context.database.writer.write(decide)
  } else {
    const skills = context.database.read.selectFrom('skills').selectAll()
    const skill = await skills.where('id', '=', report.skill_id).executeTakeFirstOrThrow()
    const decision = { state: outcomes[report.kind], reason: verdict.note }
    await changeModeration(context, caller, skill, decision, decide)
  }
  return toAdministratorReport(await getNamedReport(context, verdict.id))
}

async function getNamedReport(context: StorageContext, id: string): Promise<NamedReport> {
  const report = await selectReports(context.database.read).where('reports.id', '=', id).executeTakeFirst()
  if (!report) throw new RegistryError('not_found', 'There is no report with this id.')
  return report
}

async function closeReport(
  trx: WriteTransaction,
  { kind, full_name }: NamedReport,
  { id, status, note }: Input<'decideReport'>,
  caller: Caller,
  at: number,
): Promise<void> {
  const closed = await trx
    .updateTable('reports')
    .set({ status, note, decided_at: at })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .returning('id')
    .executeTakeFirst()
  if (!closed) throw new RegistryError('invalid_transition', `This ${kind} was already decided, which is final.`)
  await recordAudit(trx, { caller, action: `${kind}.${status}`, subject: full_name, at, data: { id, note } })
}

/**
 * POST /skills/<name>/report, for callers who may see the skill. A user who reports the skill again gets the open
 * report.
 */
export const reportSkill: Operation<'reportSkill', GovernanceContext> = async (
  context,
  input,
  caller,
  options = {},
) => {
  const found = await getSkill(context, input.name, caller)
  const reporterId = accountId(caller)
  if (reporterId === null) {
    await context.addressLimits.require('report', options.address, found.id)
    await context.addressLimits.require('reports', options.address)
  }
  const { id, created_at } = await context.database.writer.write(async (trx) => {
    const skill = await getSkillNow(context, trx, found, caller)
    const open = reporterId !== null && (await findOpenReport(trx, { kind: 'report', skillId: skill.id, reporterId }))
    if (open) return open
    const { reason, details } = input
    const row = { kind: 'report' as const, skill_id: skill.id, reason, details, reporter_id: reporterId }
    return insertReport(trx, row, context.clock.now())
  })
  return { id, status: 'open' as const, createdAt: toTimestamp(created_at) }
}

/** The open appeal about a skill, or a user's open report. */
function findOpenReport(
  trx: WriteTransaction,
  of: { kind: ReportRow['kind']; skillId: string; reporterId?: string },
): Promise<ReportRow | undefined> {
  return trx
    .selectFrom('reports')
    .selectAll()
    .where('skill_id', '=', of.skillId)
    .where('kind', '=', of.kind)
    .where('status', '=', 'open')
    .$if(of.reporterId !== undefined, (select) => select.where('reporter_id', '=', of.reporterId!))
    .executeTakeFirst()
}

/** Stores a report or appeal for administrators to decide. */
async function insertReport(
  trx: WriteTransaction,
  report: Pick<ReportRow, 'kind' | 'skill_id' | 'reason' | 'details' | 'reporter_id'>,
  now: number,
): Promise<ReportRow> {
  const row: ReportRow = { ...report, id: newId(), status: 'open', note: '', created_at: now, decided_at: null }
  await trx.insertInto('reports').values(row).execute()
  return row
}

/** A report with the current name of its skill and its author. */
interface NamedReport extends ReportRow {
  readonly full_name: string
  readonly username: string | null
}

/** Reports and appeals, as a query to filter. */
function selectReports(db: Kysely<Tables>): SelectQueryBuilder<Tables, 'reports' | 'skills' | 'users', NamedReport> {
  return db
    .selectFrom('reports')
    .innerJoin('skills', 'skills.id', 'reports.skill_id')
    .leftJoin('users', 'users.id', 'reports.reporter_id')
    .selectAll('reports')
    .select(['skills.full_name', 'users.username'])
}

/** A report as administrators see it. The author of an appeal may see all fields of it. */
function toAdministratorReport(row: NamedReport): Report {
  return {
    id: row.id,
    kind: row.kind,
    skill: { fullName: row.full_name },
    reason: row.reason,
    details: row.details,
    reporter: row.username === null ? null : { username: row.username },
    status: row.status,
    note: row.note,
    createdAt: toTimestamp(row.created_at),
    decidedAt: row.decided_at === null ? null : toTimestamp(row.decided_at),
  }
}
